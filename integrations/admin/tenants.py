"""Admin of tenants, accounts and tokens."""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.contrib.postgres.forms import SimpleArrayField
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget, UnfoldAdminTextInputWidget

from integrations.accounts import connectables, connecting
from integrations.admin import capabilities
from integrations.admin.connecting import (
    RIGHT,
    connect_page,
    describe_connection,
    signed_in_page,
)
from integrations.models import (
    Account,
    Delivery,
    Organisation,
    ProviderResource,
    ServiceToken,
)
from integrations.ports.registry import BY_SOURCE, PROVIDER_OF
from integrations.web.admin_pages import LINK, ReadOnlyAdmin, RowPage, once_a_row
from integrations.web.bound_admin import AutocompleteFilter, BoundAdmin
from integrations.web.staff import is_bound

ARRIVED_DAYS = 30
MOST_COUNTED = 1_000
COLOURS = {"active": "success", "paused": "danger"}
POLICY = (
    ("guardrails_allowedaction", "Allowed actions"),
    ("guardrails_allowedactionoption", "Targets"),
    ("guardrails_targetgroup", "Groups"),
    ("guardrails_learnedpattern", "Patterns"),
)


def switches(organisation: Organisation | None) -> str:
    """A link to where it is stopped and let run again: with a reason, at once."""
    address = reverse("admin:guardrails_killswitch_changelist")
    query = f"?organisation={organisation.slug}" if organisation else ""
    return format_html(LINK, f"{address}{query}", "Switches")


@admin.register(Organisation)
class OrganisationAdmin(BoundAdmin):
    empty = "An organisation has its own accounts, policy and ledger. Add the first one."
    organisation_path = "id"
    list_display = ("name", "slug", "state_label", "created_at")
    list_per_page = 50
    search_fields = ("name", "slug")
    fields = ("name", "slug", "daily_digest", "state_label", "switches", "created_at")
    readonly_fields = ("state_label", "switches", "created_at")

    @display(description="State", label=COLOURS)  # type: ignore[untyped-decorator]
    def state_label(self, organisation: Organisation) -> str:
        return "paused" if organisation.paused else "active"

    @display(description="Stop it")  # type: ignore[untyped-decorator]
    def switches(self, organisation: Organisation) -> str:
        return switches(organisation)

    def get_readonly_fields(
        self, request: HttpRequest, obj: Organisation | None = None
    ) -> tuple[str, ...]:
        # Keys and addresses in the environment are kept by slug.
        return (*self.readonly_fields, "slug") if obj else self.readonly_fields

    def get_prepopulated_fields(
        self, request: HttpRequest, obj: Organisation | None = None
    ) -> dict[str, Any]:
        return {} if obj else {"slug": ("name",)}

    def has_add_permission(self, request: HttpRequest, *about: Any) -> bool:
        # Who adds one is not its member: only those who meet every organisation would see it.
        return not is_bound(request.user) and super().has_add_permission(request, *about)

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False  # pausing stops it; its ledger must stay explainable


class AccountForm(forms.ModelForm):  # type: ignore[type-arg]  # no generic at run time
    project_keys = SimpleArrayField(
        forms.CharField(max_length=100),
        required=False,
        label="Projects",
        widget=UnfoldAdminTextInputWidget,
        help_text="Only issues of these are read, separated by commas: PROJ, OPS. Empty: all that "
        "the user sees. What is stored of others goes with the next sync.",
    )
    mime_types = SimpleArrayField(
        forms.CharField(max_length=127),
        required=False,
        label="Kinds of file",
        widget=UnfoldAdminTextInputWidget,
        help_text="Only documents of these are read, separated by commas, such as application/pdf. "
        "Empty: all. What is stored of others goes with the next sync.",
    )
    features = SimpleArrayField(
        forms.CharField(max_length=50),
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text="The features this account has opted in to, separated by commas. An allowed "
        "action with the condition “The account opted in” counts only for accounts with its "
        "feature.",
    )

    class Meta:
        model = Account
        fields = "__all__"  # noqa: DJ007  # the admin names them


@admin.register(Account)
class AccountAdmin(RowPage):
    empty = (
        "An account is the mailbox, calendar or other service of one user. Connect one: it "
        "starts read-only, with nothing allowed."
    )
    form = AccountForm
    list_before_template = "integrations/connect_link.html"
    change_form_outer_before_template = "integrations/connection.html"
    buttons = {"disconnect": ("integrations.change_account",)}
    row_related = ("organisation",)
    list_display = (
        "display_name",
        "external_user_id",
        "source",
        "address",
        "state_label",
        "policy",
    )
    list_display_links = ("display_name", "external_user_id")
    list_filter = ("source", "paused", "organisation")
    list_per_page = 50
    search_fields = ("external_user_id", "address", "display_name")
    fields = (
        "organisation",
        "external_user_id",
        "source",
        "address",
        "display_name",
        "time_zone",
        "features",
        "window_days",
        "project_keys",
        "mime_types",
        "bcc_self",
        "state_label",
        "switches",
        "policy",
        "keeper",
        "proof",
        "arrived",
        "created_at",
    )
    readonly_fields = (
        *("state_label", "switches", "policy", "keeper", "proof", "arrived"),
        "created_at",
    )

    def get_urls(self) -> list[URLPattern]:
        connect = self.admin_site.admin_view(self.connect)
        signed_in = self.admin_site.admin_view(self.signed_in)
        return [
            path("connect/", connect, name="integrations_account_connect"),
            path("connect/signed-in/", signed_in, name="integrations_account_signed_in"),
            *super().get_urls(),
        ]

    def connect(self, request: HttpRequest) -> HttpResponse:
        return connect_page(request, self.admin_site.each_context(request))

    def signed_in(self, request: HttpRequest) -> HttpResponse:
        return signed_in_page(request, self.admin_site.each_context(request))

    def disconnect(self, request: HttpRequest, key: UUID) -> HttpResponse:
        row = Account.objects.select_related("organisation").get(pk=key)
        connecting.disconnect(row.ref())
        messages.success(
            request,
            f"{row.address} is disconnected, and its password forgotten. What was read in, its "
            "limits and the ledger stay.",
        )
        return redirect("admin:integrations_account_change", key)

    def row_context(self, request: HttpRequest, row: Account) -> dict[str, Any]:
        return describe_connection(row) | {
            "may_connect": request.user.has_perm(RIGHT),
            "may_disconnect": self.may_press(request, "disconnect"),
        }

    @display(description="State", label=COLOURS)  # type: ignore[untyped-decorator]
    def state_label(self, account: Account) -> str:
        return "paused" if account.paused else "active"

    @display(description="Stop it")  # type: ignore[untyped-decorator]
    def switches(self, account: Account) -> str:
        return switches(None if account._state.adding else account.organisation)

    @display(description="Limits")  # type: ignore[untyped-decorator]
    def policy(self, account: Account) -> str:
        if account._state.adding:
            return "Save the account first. Until then, and without limits, nothing is allowed."
        links = (
            (f"{reverse(f'admin:{name}_changelist')}?account__id__exact={account.pk}", title)
            for name, title in POLICY
        )
        in_words = f"{reverse('admin:guardrails_policy_explain')}?account={account.pk}"
        joined = format_html_join(" · ", LINK, [(in_words, "In words"), *links])
        # One box: on a phone the theme would give each link a column of its own.
        return format_html("<span>{}</span>", joined)

    @display(description="Kind and provider")  # type: ignore[untyped-decorator]
    def keeper(self, account: Account) -> str:
        provider = PROVIDER_OF.get(account.source)
        return f"{account.kind.capitalize()} · {provider.label}" if provider else ""

    @display(description="What Remit can prove here")  # type: ignore[untyped-decorator]
    def proof(self, account: Account) -> str:
        known = BY_SOURCE.get(account.source)
        return " ".join(capabilities.in_words(known)) if known else "Save the account first."

    @display(description="What arrived")  # type: ignore[untyped-decorator]
    @once_a_row
    def arrived(self, account: Account) -> str:
        """What was done about the newest that arrived in the last days, by its number; all ways in
        stand at the link."""
        if account._state.adding:
            return "Save the account first."
        since = timezone.now() - timedelta(days=ARRIVED_DAYS)
        rows = Delivery.objects.filter(account=account, received_at__gte=since)
        found = rows.order_by("-received_at")[:MOST_COUNTED].count_fates()
        counts = ", ".join(
            f"{found[name]:,} {words}"
            for name, words in (
                *(("handled", "handled"), ("read", "only read"), ("left", "left alone")),
                *(("dead", "dead letters"), ("in_work", "in work")),
            )
        )
        is_cut = sum(found.values()) == MOST_COUNTED
        of = f"Of the newest {MOST_COUNTED:,}" if is_cut else f"In the last {ARRIVED_DAYS} days"
        said = f"{of}: {counts}."
        address = f"{reverse('admin:knowledge_accounting')}?days={ARRIVED_DAYS}"
        return format_html("<span>{} {}</span>", said, format_html(LINK, address, "Accounting"))

    def get_readonly_fields(
        self, request: HttpRequest, obj: Account | None = None
    ) -> tuple[str, ...]:
        # An account is one user's one source for good: items and ledger rows belong to it.
        identity = ["organisation", "external_user_id", "source"]
        if obj and obj.source in connectables.ALL:
            identity.append("address")  # mail goes out under it, at the server it belongs to
        return (*self.readonly_fields, *identity) if obj else self.readonly_fields

    def response_add(
        self, request: HttpRequest, obj: Account, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Without limits an agent may do nothing: the page that says so offers presets."""
        if "_save" not in request.POST or "_popup" in request.POST:
            found: HttpResponse = super().response_add(request, obj, post_url_continue)
            return found
        messages.success(request, f"{obj} was added. Now say what its agent may do.")
        return redirect(f"{reverse('admin:guardrails_policy_explain')}?account={obj.pk}")

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False  # pausing stops it; items, turns and limits hang on it


class TokenForm(forms.ModelForm):  # type: ignore[type-arg]  # no generic at run time
    scopes = forms.MultipleChoiceField(
        choices=ServiceToken.Scope.choices,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="What its holder may do.",
    )
    user_ids = SimpleArrayField(
        forms.CharField(max_length=200),
        required=False,
        label="Users",
        widget=UnfoldAdminTextInputWidget,
        help_text="The users it may act for, separated by commas. Empty: every user of the "
        "organisation.",
    )

    class Meta:
        model = ServiceToken
        fields = ("organisation", "name", "scopes", "user_ids", "expires_at")


@admin.register(ServiceToken)
class ServiceTokenAdmin(BoundAdmin):
    empty = (
        "A program needs a token to use the API. Give each program one of its own, with the "
        "scopes it needs."
    )
    form = TokenForm
    list_display = ("name", "organisation", "may", "users", "expires_at", "last_used_at", "state")
    list_filter = ("organisation",)
    list_per_page = 50
    list_select_related = ("organisation",)
    search_fields = ("name",)
    fields = ("organisation", "name", "scopes", "user_ids", "expires_at")
    actions = ("revoke",)

    @display(description="May")  # type: ignore[untyped-decorator]
    def may(self, token: ServiceToken) -> str:
        return ", ".join(token.scopes)

    @display(description="For users")  # type: ignore[untyped-decorator]
    def users(self, token: ServiceToken) -> str:
        return ", ".join(token.user_ids) or "every user"

    @display(  # type: ignore[untyped-decorator]
        description="State", label={"active": "success", "expired": "warning", "revoked": "danger"}
    )
    def state(self, token: ServiceToken) -> str:
        if token.revoked_at:
            return "revoked"
        return "expired" if token.expires_at and token.expires_at <= timezone.now() else "active"

    @action(description="Revoke", permissions=["change"])  # type: ignore[untyped-decorator]
    def revoke(self, request: HttpRequest, queryset: QuerySet[ServiceToken]) -> None:
        count = queryset.filter(revoked_at=None).update(revoked_at=timezone.now())
        messages.success(request, f"{count} of the chosen tokens stopped working just now.")

    def get_fields(self, request: HttpRequest, obj: ServiceToken | None = None) -> tuple[str, ...]:
        return (*self.fields, "last_used_at", "revoked_at", "created_at") if obj else self.fields

    def get_readonly_fields(
        self, request: HttpRequest, obj: ServiceToken | None = None
    ) -> tuple[str, ...]:
        return ("organisation", "last_used_at", "revoked_at", "created_at") if obj else ()

    def save_model(
        self, request: HttpRequest, obj: ServiceToken, form: TokenForm, change: bool
    ) -> None:
        if change:
            obj.save()
        else:
            _, vars(obj)["plain"] = ServiceToken.issue(id=obj.id, **form.cleaned_data)

    def response_add(
        self, request: HttpRequest, obj: ServiceToken, post_url_continue: str | None = None
    ) -> HttpResponse:
        """The one page that shows the token. It is in no message, session or redirect."""
        context = {
            **self.admin_site.each_context(request),
            "title": f"Token for {obj.name}",
            "plain": vars(obj)["plain"],
            "back": reverse("admin:integrations_servicetoken_changelist"),
        }
        return TemplateResponse(request, "admin/token_created.html", context)


@admin.register(ProviderResource)
class ProviderResourceAdmin(ReadOnlyAdmin):
    empty = "Labels, folders and projects of providers come here when they are read."
    organisation_path = "account__organisation"
    list_display = ("called", "resource_type", "external_id", "account", "created_at")
    list_filter = (("account", AutocompleteFilter), "resource_type")
    list_select_related = ("account",)
    ordering = (
        *("account__external_user_id", "account__source", "resource_type"),
        *("name", "external_id", "pk"),
    )
    search_fields = ("name", "external_id")
    search_help_text = "A part of the name, or of the id at the provider"
    fields = ("account", "resource_type", "external_id", "name", "details", "created_at")

    @display(description="Name", ordering="name")  # type: ignore[untyped-decorator]
    def called(self, resource: ProviderResource) -> str:
        return resource.name or resource.external_id

    @display(description="Metadata")  # type: ignore[untyped-decorator]
    def details(self, resource: ProviderResource) -> str:
        return json.dumps(resource.metadata, ensure_ascii=True, sort_keys=True)
