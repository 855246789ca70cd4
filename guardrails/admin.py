"""Admin of what agents may do: permissions, targets, patterns and skills; and the inbox of
approvals."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern
from django.utils import timezone
from django.utils.html import format_html
from unfold.admin import ModelAdmin, TabularInline
from unfold.contrib.filters.admin import AutocompleteSelectFilter
from unfold.decorators import action, display

from audit.timeline import pretty
from guardrails import (
    changes,
    conditions,
    naming,
    patterns,
    policy_pages,
    selectors,
    simulation,
    skills,
)
from guardrails.approval_admin import ApprovalAdmin, operator
from guardrails.models import (
    AllowedAction,
    AllowedActionOption,
    Approval,
    CeilingRule,
    KillSwitch,
    LearnedPattern,
    PatternAction,
    PolicyVersion,
    Skill,
    TargetGroup,
)
from guardrails.switch_admin import SwitchAdmin, author
from guardrails.text import visible
from integrations.exceptions import ProviderError
from integrations.read_only_admin import ReadOnlyAdmin

MODE_COLOURS = {"Automatic": "success", "Ask a person": "info", "Never": "danger"}
NEWLY: tuple[tuple[simulation.Verdict, str], ...] = (
    ("allow", "Newly allowed"),
    ("ask", "Newly asked about"),
    ("refuse", "Newly refused"),
)
PRE = '<pre class="whitespace-pre-wrap break-all">{}</pre>'
CEILING_COLOURS = {
    "Forbidden": "danger",
    "At most after asking a person": "info",
    "Only under these conditions": "warning",
}
PATTERN_COLOURS = {"Proposed": "info", "Approved": "success", "Suspended": "warning"}


def kinds(raw: Any) -> str:
    """Stored conditions in few words."""
    found = [getattr(one, "kind", "unknown") for one in conditions.read_all(raw)]
    return ", ".join(kind.replace("_", " ") for kind in found) or "always"


class PolicyAdmin(ModelAdmin):  # type: ignore[misc]  # the theme is untyped
    list_per_page = 50
    list_filter_submit = True
    show_full_result_count = False
    autocomplete_fields: Sequence[str] = ("account",)
    list_select_related: Sequence[str] = ("account",)

    def recording(self, ids: Sequence[UUID], request: HttpRequest) -> AbstractContextManager[None]:
        """Whatever becomes of these rows meanwhile is in the history of policy."""
        return changes.recording(self.model, ids, author=author(request))

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:
        with self.recording([obj.pk], request):
            super().save_model(request, obj, form, change)

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        with self.recording([obj.pk], request):
            super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        ids = list(queryset.values_list("pk", flat=True))
        with self.recording(ids, request):
            super().delete_queryset(request, queryset)


class DraftAdmin(PolicyAdmin):
    """Rows that can be tried on the decisions of the past before they are saved."""

    change_form_outer_after_template = "guardrails/try_first.html"

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        found = self.try_first(request, object_id) if "_try" in request.POST else None
        response: HttpResponse = found or super().changeform_view(
            request, object_id, form_url, extra_context
        )
        return response

    def try_first(self, request: HttpRequest, object_id: str | None) -> HttpResponse | None:
        """The page of what the filled-in form would change. None when it is not valid: then
        the form itself says why."""
        row = self.get_object(request, object_id) if object_id else None
        may = self.has_change_permission(request, row) if row else self.has_add_permission(request)
        if not may or bool(object_id) != bool(row):
            raise PermissionDenied
        form = self.get_form(request, row, change=row is not None)(request.POST, instance=row)
        if not form.is_valid():
            return None
        account = form.instance.account.ref()
        draft = simulation.drafted(selectors.policy_snapshot(account), form.instance)
        replay = simulation.replay(account, draft)
        context = {
            **self.admin_site.each_context(request),
            "title": "What this would change",
            "account": form.instance.account,
            "row": form.instance,
            "replay": replay,
            "groups": [(title, replay.newly(verdict)) for verdict, title in NEWLY],
        }
        return TemplateResponse(request, "guardrails/replay.html", context)


class AllowedActionForm(forms.ModelForm):  # type: ignore[type-arg]  # generic in stubs only
    class Meta:
        model = AllowedAction
        fields = (
            "account",
            "action_type",
            "resource_type",
            "enabled",
            "approval_mode",
            "conditions",
        )

    def clean_conditions(self) -> Any:
        """An emptied field means no conditions."""
        given = self.cleaned_data["conditions"]
        return [] if given is None else given


@admin.register(AllowedAction)
class AllowedActionAdmin(DraftAdmin):
    form = AllowedActionForm
    list_display = ("action_type", "account", "resource_type", "enabled", "mode", "only_if")
    list_filter = (
        ("account", AutocompleteSelectFilter),
        "action_type",
        "enabled",
        "approval_mode",
    )
    search_fields = ("account__external_user_id", "account__display_name", "action_type")

    @display(description="Mode", label=MODE_COLOURS)  # type: ignore[untyped-decorator]
    def mode(self, row: AllowedAction) -> str:
        return row.get_approval_mode_display()

    @display(description="Only if")  # type: ignore[untyped-decorator]
    def only_if(self, row: AllowedAction) -> str:
        return kinds(row.conditions)


class CeilingRuleForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = CeilingRule
        fields = ("organisation", "action_type", "at_most", "conditions", "note")

    def clean_conditions(self) -> Any:
        """An emptied field means no conditions."""
        given = self.cleaned_data["conditions"]
        return [] if given is None else given


@admin.register(CeilingRule)
class CeilingRuleAdmin(PolicyAdmin):
    form = CeilingRuleForm
    list_display = ("what", "organisation", "limit", "only_if", "note")
    list_filter = ("organisation", "at_most")
    list_select_related = ("organisation",)
    search_fields = ("action_type", "note")
    autocomplete_fields = ()

    @display(description="Action")  # type: ignore[untyped-decorator]
    def what(self, row: CeilingRule) -> str:
        return row.get_action_type_display() or "Every action"

    @display(description="At most", label=CEILING_COLOURS)  # type: ignore[untyped-decorator]
    def limit(self, row: CeilingRule) -> str:
        return row.get_at_most_display()

    @display(description="Only if")  # type: ignore[untyped-decorator]
    def only_if(self, row: CeilingRule) -> str:
        return kinds(row.conditions)


@admin.register(AllowedActionOption)
class AllowedActionOptionAdmin(DraftAdmin):
    list_display = ("shown_name", "action_type", "kind", "identity", "account", "group")
    list_filter = (
        ("account", AutocompleteSelectFilter),
        "action_type",
        "kind",
        ("group", AutocompleteSelectFilter),
    )
    list_select_related = ("account", "group")
    search_fields = ("name", "external_id", "account__external_user_id")
    autocomplete_fields = ("account", "group")
    fields = (
        "account",
        "action_type",
        "resource_type",
        "source",
        "kind",
        "external_id",
        "name",
        "group",
    )
    actions = ("refresh_names",)

    @display(description="Name")  # type: ignore[untyped-decorator]
    def shown_name(self, row: AllowedActionOption) -> str:
        return visible(row.name)

    @display(description="Identity")  # type: ignore[untyped-decorator]
    def identity(self, row: AllowedActionOption) -> str:
        return visible(row.external_id)

    @action(description="Take over the provider's present names")  # type: ignore[untyped-decorator]
    def refresh_names(self, request: HttpRequest, queryset: QuerySet[AllowedActionOption]) -> None:
        try:
            found = naming.refresh_names(
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


@admin.register(TargetGroup)
class TargetGroupAdmin(PolicyAdmin):
    list_display = ("name", "account", "cardinality")
    list_filter = (("account", AutocompleteSelectFilter), "cardinality")
    search_fields = ("name", "account__external_user_id")
    fields = ("account", "name", "cardinality")


class PatternActionInline(TabularInline):  # type: ignore[misc]
    model = PatternAction
    extra = 0
    fields = ("order", "action_type", "arguments")


@admin.register(LearnedPattern)
class LearnedPatternAdmin(PolicyAdmin):
    list_display = ("name", "account", "standing", "matcher", "hits", "last_hit_at")
    list_filter = (("account", AutocompleteSelectFilter), "state")
    search_fields = ("name", "sender_address", "sender_domain", "list_id")
    inlines = (PatternActionInline,)
    actions = ("approve", "suspend")
    fields = (
        "account",
        "name",
        "sender_address",
        "sender_domain",
        "list_id",
        "subject",
        "content_type",
        "reason",
        "standing",
        "approved_by",
        "approved_at",
        "hits",
        "last_hit_at",
    )
    readonly_fields = ("standing", "approved_by", "approved_at", "hits", "last_hit_at")

    @display(description="State", label=PATTERN_COLOURS)  # type: ignore[untyped-decorator]
    def standing(self, row: LearnedPattern) -> str:
        return row.get_state_display()

    @display(description="Matches")  # type: ignore[untyped-decorator]
    def matcher(self, row: LearnedPattern) -> str:
        parts = (row.sender_address, row.sender_domain, row.list_id, row.subject)
        return visible(" · ".join(part for part in parts if part))

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        changed = form.has_changed() or any(formset.has_changed() for formset in formsets)
        with self.recording([form.instance.pk], request):
            super().save_related(request, form, formsets, change)
            reopened = change and changed and patterns.reopen(pattern_id=form.instance.pk)
        if reopened:
            messages.warning(request, "The pattern changed, so somebody must approve it again.")

    @action(description="Approve: let these patterns act")  # type: ignore[untyped-decorator]
    def approve(self, request: HttpRequest, queryset: QuerySet[LearnedPattern]) -> None:
        by, now = operator(request), timezone.now()
        ids = list(queryset.values_list("pk", flat=True))
        with self.recording(ids, request):
            count = sum(patterns.approve(pattern_id=key, by=by, now=now) for key in ids)
        messages.success(request, f"{count} patterns act from now on.")

    @action(description="Suspend: stop these patterns")  # type: ignore[untyped-decorator]
    def suspend(self, request: HttpRequest, queryset: QuerySet[LearnedPattern]) -> None:
        ids = list(queryset.values_list("pk", flat=True))
        with self.recording(ids, request):
            count = sum(patterns.suspend(pattern_id=key) for key in ids)
        messages.success(request, f"{count} patterns are suspended.")


class SkillForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Skill
        fields = ("organisation", "account", "name", "description", "content", "enabled")

    def _post_clean(self) -> None:
        # A version is never changed: what was edited becomes the next one.
        if self.instance.pk and {"description", "content"} & set(self.changed_data):
            self.instance = skills.next_version(self.instance)
        super()._post_clean()  # type: ignore[misc]  # Django's hook for the instance


@admin.register(Skill)
class SkillAdmin(PolicyAdmin):
    form = SkillForm
    list_display = ("name", "version", "enabled", "account", "use_count", "last_used_at")
    list_filter = (("account", AutocompleteSelectFilter), "enabled")
    search_fields = ("name", "description")
    fields = (
        "organisation",
        "account",
        "name",
        "description",
        "content",
        "enabled",
        "version",
        "use_count",
        "last_used_at",
    )

    def get_readonly_fields(
        self, request: HttpRequest, obj: Skill | None = None
    ) -> tuple[str, ...]:
        counted = ("version", "use_count", "last_used_at")
        return (*counted, "organisation", "account", "name") if obj else counted

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False  # old versions are kept; switch a skill off instead


admin.site.register(Approval, ApprovalAdmin)
admin.site.register(KillSwitch, SwitchAdmin)


@admin.register(PolicyVersion)
class PolicyVersionAdmin(ReadOnlyAdmin):
    """Policies by the digest that decisions name; and the pages about policy as a whole."""

    list_display = ("digest", "created_at")
    ordering = ("-created_at",)
    search_fields = ("digest",)
    search_help_text = "The whole digest, as a decision names it"
    fields = ("digest", "created_at", "policy")

    def get_urls(self) -> list[URLPattern]:
        return [*policy_pages.urls(self.admin_site), *super().get_urls()]

    @display(description="Policy")  # type: ignore[untyped-decorator]
    def policy(self, row: PolicyVersion) -> str:
        return format_html(PRE, pretty(row.content))
