"""Held actions: what is carried out when, and the button that recalls it."""

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import Case, When
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from unfold.decorators import display

from audit.ledger.people_admin import PeopleAdmin
from audit.ledger.timeline import moment
from guardrails.actions import registry
from guardrails.admin.base import WaitingRowAdmin
from guardrails.execute import held_sends
from guardrails.facts.text import about_of, heading_of, visible
from guardrails.models import HeldSend
from integrations.web.admin_pages import RowPage, operator

COLOURS = {
    "Held": "info",
    "Released": "success",
    "Recalled": "warning",
    "Released, but refused": "warning",
    "Released, but failed": "danger",
}


@admin.register(HeldSend)
class HeldSendAdmin(PeopleAdmin, RowPage, WaitingRowAdmin):
    """What is held comes first, what is due soonest on top. Nothing can be edited."""

    empty = "What others would receive waits here for a moment, so that it can still be stopped."

    list_display = ("until_when", "headline", "about", "status", "account", "decided_by")
    list_display_links = ("until_when", "headline")
    people = {"decided_by": "Decided by"}
    list_filter = ("state", "action_type", "organisation")
    list_select_related = ("account",)
    ordering = (
        Case(When(state="held", then=0), default=1).asc(),
        Case(When(state="held", then="until")).asc(),
        "-held_at",
    )
    search_fields = ("id", "action_id", "external_user_id", "turn_id")
    waits = HeldSend.State.HELD
    search_help_text = (
        "A person, words of what is held, or the whole id of a held send, action, user or turn"
    )
    fields = ("account", "status", "until_when", "decided_by", "outcome", "in_ledger")
    readonly_fields = ("status", "until_when", "in_ledger")
    change_form_outer_before_template = "guardrails/held_send.html"
    buttons = {"recall": ("guardrails.change_heldsend",)}

    @display(description="Held until")  # type: ignore[untyped-decorator]
    def until_when(self, row: HeldSend) -> str:
        return moment(row.until)

    @display(description="State", label=COLOURS)  # type: ignore[untyped-decorator]
    def status(self, row: HeldSend) -> str:
        return row.get_state_display()

    def row_context(self, request: HttpRequest, row: HeldSend) -> dict[str, Any]:
        return _page(row) | {"may_recall": self.may_press(request, "recall")}

    def recall(self, request: HttpRequest, key: UUID) -> HttpResponse:
        """An operator's recall."""
        row = HeldSend.objects.get(id=key)
        try:
            held_sends.recall(
                organisation_id=row.organisation_id, held_send_id=row.id, by=operator(request)
            )
        except held_sends.TooLate as late:
            messages.warning(request, f"Too late to recall. {late}")
        else:
            messages.success(request, f"Recalled: {visible(row.description)}")
        return redirect("admin:guardrails_heldsend_change", row.pk)


def _page(row: HeldSend) -> dict[str, Any]:
    """The page's values: everything that would be sent, hidden characters shown."""
    action = registry.BY_NAME.get(row.action_type)
    order = list(action.arguments.model_fields) if action else []
    names = sorted(row.arguments, key=[*order, *row.arguments].index)
    return {
        "held_send": row,
        "headline": visible(heading_of(row.description)),
        "about": visible(about_of(row.description)),
        "title_of_action": action.title if action else row.action_type,
        "values": [
            (name.replace("_", " "), visible(_text(row.arguments[name])))
            for name in names
            if row.arguments[name] not in (None, "", [])
        ],
        "until": moment(row.until),
        "is_held": row.state == HeldSend.State.HELD,
    }


def _text(value: object) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)
