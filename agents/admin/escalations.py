"""Conversations that wait for a person: who takes one, and what they answer."""

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import Case, When
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from unfold.decorators import display

from agents.answer import escalations
from agents.models import Escalation
from agents.office import turn_page
from audit.ledger import timeline
from audit.ledger.people_admin import PeopleAdmin
from integrations.web.admin_pages import ReadOnlyAdmin, RowPage

NEWEST = 30
COLOURS = {"Waiting": "warning", "Taken": "info", "Done": "success"}


@admin.register(Escalation)
class EscalationAdmin(PeopleAdmin, RowPage, ReadOnlyAdmin):
    """What waits comes first, the longest wait on top."""

    empty = "What the agent could not settle by itself is handed to a person here."

    list_display = ("since", "external_user_id", "why", "state_label", "taken_by", "done_by")
    list_display_links = ("since", "why")
    people = {"taken_by": "Taken by", "done_by": "Done by"}
    list_filter = ("state", "organisation")
    ordering = (
        Case(When(state="done", then=1), default=0).asc(),
        Case(When(state="done", then=None), default="created_at").asc(),
        "-done_at",
    )
    search_fields = ("id", "external_user_id", "conversation", "turn")
    search_help_text = "The whole id of the user, the conversation or the turn"
    fields = (
        "organisation",
        "state_label",
        "taken_by",
        "taken_when",
        "done_by",
        "done_when",
        "note",
    )
    readonly_fields = ("state_label", "taken_when", "done_when")
    change_form_outer_before_template = "agents/escalation.html"
    buttons = {
        "take": ("agents.change_escalation",),
        "finish": ("agents.change_escalation",),
    }

    @display(description="Since", ordering="created_at")  # type: ignore[untyped-decorator]
    def since(self, row: Escalation) -> str:
        return timeline.moment(row.created_at)

    @display(description="Why")  # type: ignore[untyped-decorator]
    def why(self, row: Escalation) -> str:
        return timeline.reveal(row.reason[:160])

    @display(description="State", label=COLOURS)  # type: ignore[untyped-decorator]
    def state_label(self, row: Escalation) -> str:
        return row.get_state_display()

    @display(description="Taken")  # type: ignore[untyped-decorator]
    def taken_when(self, row: Escalation) -> str:
        return timeline.moment(row.taken_at) if row.taken_at else "not yet"

    @display(description="Done")  # type: ignore[untyped-decorator]
    def done_when(self, row: Escalation) -> str:
        return timeline.moment(row.done_at) if row.done_at else "not yet"

    def principal(self, row: Escalation, name: str) -> str:
        """Only staff take one, and its row has their user names."""
        return f"operator:{found}" if (found := getattr(row, name)) else ""

    def row_context(self, request: HttpRequest, row: Escalation) -> dict[str, Any]:
        called = {name: self.call_each(row)[name] for name in self.people}
        return _page(row) | called | {"may_answer": self.may_press(request, "finish")}

    def take(self, request: HttpRequest, key: UUID) -> HttpResponse:
        try:
            escalations.take_escalation(key, by=_name(request), now=timezone.now())
        except escalations.Done:
            messages.warning(request, "Somebody has finished it already.")
        else:
            messages.success(request, "It is yours now.")
        return redirect("admin:agents_escalation_change", key)

    def finish(self, request: HttpRequest, key: UUID) -> HttpResponse:
        answer = request.POST.get("answer", "")
        try:
            escalations.finish_escalation(
                key,
                by=_name(request),
                answer=answer,
                note=request.POST.get("note", ""),
                now=timezone.now(),
            )
        except ValueError as error:
            messages.error(request, str(error))
        except escalations.Done:
            messages.warning(request, "Somebody has finished it already. Nothing was sent.")
        else:
            sent = "Your answer is in the user's conversation." if answer.strip() else "Done."
            messages.success(request, sent)
        return redirect("admin:agents_escalation_change", key)


def _name(request: HttpRequest) -> str:
    return request.user.get_username()


def _page(row: Escalation) -> dict[str, Any]:
    """The page's values; what users and models wrote is plain text, hidden characters shown."""
    return {
        "escalation": row,
        "why": timeline.reveal(row.reason),
        "tried": timeline.reveal(row.tried),
        "waits_since": timeline.moment(row.created_at),
        "is_open": row.state != Escalation.State.DONE,
        "said": turn_page.said(row.conversation, newest=NEWEST),
        "actions_done": turn_page.actions(row.turn),
        "turn_link": turn_page.turn_link(row.turn_id),
        "conversation_link": reverse(
            "admin:agents_conversation_change", args=[row.conversation_id]
        ),
    }
