"""Admin of targets: one is picked from what its account has, for one action. First for which
account and action; then the fields that this takes, and no others. No step needs a script."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from unfold.decorators import action, display

from guardrails.actions import registry
from guardrails.admin.policies.account_page import address_of
from guardrails.admin.policies.draft_form import DraftForm
from guardrails.admin.policies.picker import MOST_SHOWN, Picker, offer
from guardrails.admin.policies.trial import DraftAdmin
from guardrails.admin.scope import choose_account
from guardrails.facts.text import visible
from guardrails.models import AllowedActionOption, TargetGroup
from guardrails.policies import picking
from guardrails.policies.picking import Use
from guardrails.policies.recorded_admin import author
from integrations.exceptions import ProviderError
from integrations.web.bound_admin import AutocompleteFilter

READ = "_read_lists"
HELP = {
    "recipient": "One exact address, such as ada@company.com.",
    "recipient_domain": "Every address of exactly this domain, but never as a blind copy.",
    "status": "The status by its name, such as Done.",
    "tool": "The tool as server:name, such as tracker:create_issue.",
    "label": "The label by its name.",
}


class TargetForm(DraftForm):
    """What is picked, and its group, for the use that `use` names."""

    use: Use
    target = forms.CharField(max_length=500, widget=Picker(attrs={"autocomplete": "off"}))

    class Meta:
        model = AllowedActionOption
        fields = ("group",)

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        self.choices = picking.list_choices(self.use)
        row, field = self.instance, self.fields["target"]
        if row._state.adding:
            row.account, row.source = self.use.account, self.use.account.source
            row.action_type, row.kind = self.use.action.name, self.use.kind
        else:
            field.initial = row.name if self.use.list_name else row.external_id
        field.label = f"{self.use.kind.replace('_', ' ').capitalize()}"
        field.help_text = self._help()
        if self.use.list_name:
            typed = self.data.get(self.add_prefix("target"), "")
            offer(field, self.choices, present=field.initial or "", typed=typed)
        else:
            field.widget.choices = self.choices
        if "group" in self.fields:
            groups = TargetGroup.objects.filter(account=self.use.account)
            self.fields["group"].queryset = groups  # type: ignore[attr-defined]

    def _help(self) -> str:
        if not self.use.list_name:
            return HELP.get(self.use.kind, "")
        count, age = len(self.choices), picking.describe_age(self.use.account)
        have = f"{count} {self.use.list_name}, {age}."
        return have if count <= MOST_SHOWN else f"Type a part of the name and pick it: {have}"

    def clean_target(self) -> str:
        """Resolves what was typed, and puts it into the row."""
        typed: str = self.cleaned_data["target"]
        row = self.instance
        if not row._state.adding and typed in (row.name, row.external_id):
            return typed  # as it was, even where the provider has it no more
        found = picking.resolve(self.use, typed)
        row.external_id, row.name = found.id, found.name
        return typed

    def add_error(self, field: str | None, error: Any) -> None:
        """What is wrong with the row's identity is wrong with what was picked."""
        wrong = getattr(error, "error_dict", None)
        if wrong is not None:
            named: dict[str, list[Any]] = {}
            for name, found in wrong.items():
                named.setdefault(name if name in self.fields else "target", []).extend(found)
            error = ValidationError(named)
        super().add_error(field, error)

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]  # not in stubs
        if self.errors:
            return
        row = self.instance
        others = AllowedActionOption.objects.exclude(pk=row.pk).filter(
            account=row.account,
            action_type=row.action_type,
            resource_type=row.resource_type,
            source=row.source,
            kind=row.kind,
            external_id=row.external_id,
        )
        if others.exists():
            self.add_error("target", f"“{visible(row.name)}” is listed for this already.")


@admin.register(AllowedActionOption)
class AllowedActionOptionAdmin(DraftAdmin):
    empty = (
        "A target is a label, folder, project or person that an allowed action may use. "
        "Without one, an action that needs a target is refused."
    )
    form = TargetForm
    change_form_outer_after_template = "guardrails/target_after.html"
    list_display = ("shown_name", "action_type", "kind", "identity", "account", "group")
    list_filter = (
        ("account", AutocompleteFilter),
        "action_type",
        "kind",
        ("group", AutocompleteFilter),
    )
    list_select_related = ("account", "group")
    search_fields = ("name", "external_id", "account__external_user_id")
    autocomplete_fields = ()
    readonly_fields = ("whose", "use", "identity")
    actions = ("refresh_names",)

    @display(description="Name")  # type: ignore[untyped-decorator]
    def shown_name(self, row: AllowedActionOption) -> str:
        return visible(row.name)

    @display(description="Identity")  # type: ignore[untyped-decorator]
    def identity(self, row: AllowedActionOption) -> str:
        return visible(row.external_id)

    @display(description="Account")  # type: ignore[untyped-decorator]
    def whose(self, row: AllowedActionOption) -> str:
        return str(row.account)

    @display(description="For")  # type: ignore[untyped-decorator]
    def use(self, row: AllowedActionOption) -> str:
        on = f", only on: {row.resource_type}" if row.resource_type else ""
        return f"{row.get_action_type_display()}{on}"

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Sequence[Any]:
        use = self._use(request, obj)
        has_groups = use and TargetGroup.objects.filter(account=use.account).exists()
        group = ("group",) if has_groups else ()
        if obj is None:
            return ("whose", "use", "target", *group)
        if not self.has_change_permission(request, obj):
            return ("whose", "use", "shown_name", "identity", *group)
        return ("whose", "use", "target", "identity", *group)

    def get_form(
        self, request: HttpRequest, obj: Model | None = None, change: bool = False, **given: Any
    ) -> Any:
        form = super().get_form(request, obj, change=change, **given)
        form.use = self._use(request, obj)
        return form

    def _use(self, request: HttpRequest, obj: Any = None) -> Use | None:
        """What the target is for: as the row says, else as the address does."""
        if obj is not None:
            return Use(account=obj.account, action=registry.BY_NAME[obj.action_type], kind=obj.kind)
        account = choose_account(request)["account"]
        given = (request.GET.get("action_type"), request.GET.get("kind"))
        uses = picking.list_uses(account) if account else []
        return next((one for one in uses if (one.action.name, one.kind) == given), None)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        if use := self._use(request):
            if request.method == "GET" and use.listed:
                picking.bring_up_to_date(use.account)
            title = f"{use.action.title}: pick a {use.kind.replace('_', ' ')}"
            context = {**(extra_context or {}), "title": title, "use": use}
            found: HttpResponse = super().add_view(request, form_url, context)
            return found
        context = self.admin_site.each_context(request) | choose_account(request)
        account, wanted = context["account"], request.GET.get("action_type")
        uses = picking.list_uses(account) if account else []
        context |= {
            "title": "Add a target",
            "opts": self.opts,
            "uses": [one for one in uses if one.action.name == wanted] or uses,
        }
        return TemplateResponse(request, "guardrails/choose_target.html", context)

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        if READ in request.POST:
            self._read_lists(request, object_id)
        return super().changeform_view(request, object_id, form_url, extra_context)

    def _read_lists(self, request: HttpRequest, object_id: str | None) -> None:
        """The form comes back as it was filled in, with what the provider has now."""
        row = self.get_object(request, object_id) if object_id else None
        may = self.has_change_permission(request, row) if row else self.has_add_permission(request)
        use = self._use(request, row)
        if not may or use is None:
            raise PermissionDenied
        try:
            messages.info(request, picking.read_lists(use.account))
        except ProviderError:
            messages.error(
                request, "The provider does not answer now. Pick from what is known, or try later."
            )
        given: QueryDict = request.POST.copy()
        given["_back"] = "1"
        request.POST = given  # type: ignore[assignment]

    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Back to what the account's agent may do; the next one is for the same action."""
        found: HttpResponse = super().response_add(request, obj, post_url_continue)
        if "_addanother" in request.POST:
            return redirect(request.get_full_path())
        return found if "_continue" in request.POST else redirect(address_of(obj.account))

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        found: HttpResponse = super().response_change(request, obj)
        is_over = not {"_addanother", "_continue"} & request.POST.keys()
        return redirect(address_of(obj.account)) if is_over else found

    @action(  # type: ignore[untyped-decorator]
        description="Use the provider's present names", permissions=["change"]
    )
    def refresh_names(self, request: HttpRequest, queryset: QuerySet[AllowedActionOption]) -> None:
        try:
            found = picking.refresh_names(
                queryset.select_related("account__organisation"), author=author(request)
            )
        except ProviderError:
            messages.error(request, "The provider could not be asked. Try again later.")
            return
        for old, new in found.renamed:
            messages.success(request, f"“{visible(old)}” is now called “{visible(new)}”.")
        for name in found.gone:
            messages.warning(request, f"“{visible(name)}” is gone: remove it, or it is refused.")
        if not (found.renamed or found.gone):
            messages.info(request, "Every name is up to date.")
