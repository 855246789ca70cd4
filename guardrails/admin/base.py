"""What admins of rows of policy have in common, and those of rows about one action."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe
from unfold.decorators import display

from guardrails.admin.findings import tell
from guardrails.decide.conditions import vocabulary as conditions
from guardrails.facts.text import about_of, heading_of, visible
from guardrails.models.directory import of_people
from guardrails.policies.recorded_admin import RecordedAdmin
from integrations.models import Account
from integrations.web import staff
from integrations.web.admin_pages import ReadOnlyAdmin
from integrations.web.words import named


class PolicyAdmin(RecordedAdmin):
    organisation_path: str | None = "account__organisation"
    list_per_page = 50
    list_filter_submit = True
    show_full_result_count = False
    autocomplete_fields: Sequence[str] = ("account",)
    list_select_related: Sequence[str] = ("account",)

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Sequence[Any]:
        """Who may only look sees conditions in words, not as they are stored."""
        found: Sequence[Any] = super().get_fields(request, obj)
        if obj is None or self.has_change_permission(request, obj):
            return found
        return [self.in_words if name == "conditions" else name for name in found]

    @display(description="Only if")  # type: ignore[untyped-decorator]
    def in_words(self, row: Any) -> str:
        """One line for each condition."""
        sentences = [visible(one.sentence) for one in conditions.read_all(row.conditions)]
        lines = ((f"{one[0].upper()}{one[1:]}.",) for one in sentences)
        return format_html_join(mark_safe("<br>"), "{}", lines) or "always"

    @display(description="Only if")  # type: ignore[untyped-decorator]
    def only_if(self, row: Any) -> str:
        """The kinds of its conditions."""
        found = [getattr(one, "kind", "unknown") for one in conditions.read_all(row.conditions)]
        return ", ".join(kind.replace("_", " ") for kind in found) or "always"

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        tell(request, obj)


class ActionRowAdmin(ReadOnlyAdmin):
    """Rows about one action each: what it is, and where the ledger has it."""

    @display(description="Action")  # type: ignore[untyped-decorator]
    def headline(self, row: Any) -> str:
        return visible(heading_of(row.description))

    @display(description="Somebody's words")  # type: ignore[untyped-decorator]
    def about(self, row: Any) -> str:
        return visible(about_of(row.description)) or "-"

    @display(description="In the ledger")  # type: ignore[untyped-decorator]
    def in_ledger(self, row: Any) -> str:
        address = reverse("admin:audit_executedagentaction_changelist")
        return format_html('<a href="{}?q={}">{}</a>', address, row.action_id, row.action_id)


class WaitingRowAdmin(ActionRowAdmin):
    """Rows that a person decides. A search finds whole values of `search_fields`, rows of a
    person's accounts, and of those in the state `waits`, few among many, what has all the words."""

    waits: str

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        if not search_term.strip():
            return found, may_repeat
        theirs = Account.objects.filter(of_people(search_term, staff.met(request.user)))
        has_words = named(search_term, "description") & Q(state=self.waits)
        return found | queryset.filter(has_words | Q(account__in=theirs)), may_repeat
