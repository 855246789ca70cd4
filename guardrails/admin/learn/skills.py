"""Admin of skills. A version is never changed: what was edited becomes the next one."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from unfold.decorators import display

from guardrails.admin.base import PolicyAdmin
from guardrails.admin.learn import skill_page
from guardrails.learn import skills
from guardrails.models import Skill
from guardrails.policies.recorded_admin import author
from integrations.web.admin_pages import RowPage, operator
from integrations.web.bound_admin import AutocompleteFilter

STATE_COLOURS = {"Proposed": "info", "Published": "success", "Rejected": "warning"}


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
class SkillAdmin(RowPage, PolicyAdmin):
    empty = "A skill is a page of advice that the agent reads for one kind of work."
    organisation_path = "organisation"
    form = SkillForm
    list_display = (
        "name",
        "version",
        "status",
        "enabled",
        "owner",
        "use_count",
        "last_used_at",
    )
    list_filter = (("account", AutocompleteFilter), "state", "enabled")
    search_fields = ("name", "description")
    change_form_outer_before_template = "guardrails/skill.html"
    buttons = {"decide": ("guardrails.change_skill",)}
    fields = ("organisation", "account", "name", "description", "content", "enabled")

    @display(description="State", label=STATE_COLOURS)  # type: ignore[untyped-decorator]
    def status(self, row: Skill) -> str:
        return row.get_state_display()

    @display(description="Whose", ordering="account")  # type: ignore[untyped-decorator]
    def owner(self, row: Skill) -> str:
        return str(row.account) if row.account else "shared"

    def get_readonly_fields(
        self, request: HttpRequest, obj: Skill | None = None
    ) -> tuple[str, ...]:
        return ("organisation", "account", "name") if obj else ()

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False  # old versions are kept; switch a skill off instead

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if not obj._state.adding:
            super().save_model(request, obj, form, change)
            return
        stored = skills.publish(
            organisation_id=obj.organisation_id,
            account_id=obj.account_id,
            name=obj.name,
            description=obj.description,
            content=obj.content,
            enabled=obj.enabled,
            author=author(request),
        )
        obj.pk, obj.version = stored.pk, stored.version

    def row_context(self, request: HttpRequest, row: Skill) -> dict[str, Any]:
        may_decide = self.may_press(request, "decide")
        return skill_page.context(row, request.GET) | {"may_decide": may_decide}

    def decide(self, request: HttpRequest, key: UUID) -> HttpResponse:
        """An operator's word about a proposed version."""
        row = Skill.objects.get(pk=key)
        approved = request.POST.get("word") == "approve"
        with self.recording([row.pk], request):
            decide = skills.approve if approved else skills.reject
            done = decide(skill_id=row.pk, by=operator(request))
        if done:
            word = "Agents may load this version" if approved else "This version is rejected"
            messages.success(request, f"{word}.")
        else:
            messages.warning(
                request, "Nothing changed: it was decided already, or a newer version is out."
            )
        return redirect("admin:guardrails_skill_change", row.pk)
