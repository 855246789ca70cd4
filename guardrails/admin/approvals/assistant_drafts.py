"""The assistant's drafts: what became of each, and how near the user's own mail came to it."""

from django.contrib import admin
from unfold.decorators import display

from audit.ledger.timeline import moment
from guardrails.admin.base import ActionRowAdmin
from guardrails.facts.text import visible
from guardrails.models import AssistantDraft

COLOURS = {
    "Waits for the user": "info",
    "Sent by the user": "success",
    "Edited by the user": "success",
    "Gone": "warning",
}


@admin.register(AssistantDraft)
class AssistantDraftAdmin(ActionRowAdmin):
    empty = (
        "Each draft that an agent wrote into a mailbox comes here: whether it waits, was "
        "changed, sent, replaced or removed."
    )
    organisation_path = "account__organisation"
    list_display = ("when", "account", "receiver", "status", "how_near")
    list_filter = ("state",)
    list_select_related = ("account",)
    search_fields = ("action_id", "thread_id", "draft_id")
    search_help_text = "The whole id of the action, the thread or the draft"
    fields = (
        *("account", "when", "receiver", "status", "how_near", "thread_id", "reply_to_id"),
        *("draft_id", "answer_id", "in_ledger"),
    )
    readonly_fields = ("when", "receiver", "status", "how_near", "in_ledger")

    @display(description="Written", ordering="written_at")  # type: ignore[untyped-decorator]
    def when(self, row: AssistantDraft) -> str:
        return moment(row.written_at)

    @display(description="For")  # type: ignore[untyped-decorator]
    def receiver(self, row: AssistantDraft) -> str:
        return ", ".join(map(visible, row.receivers))

    @display(description="What became of it", label=COLOURS)  # type: ignore[untyped-decorator]
    def status(self, row: AssistantDraft) -> str:
        return row.get_state_display()

    @display(description="As in the mail that was sent", ordering="nearness")  # type: ignore[untyped-decorator]
    def how_near(self, row: AssistantDraft) -> str:
        return "-" if row.nearness is None else f"{row.nearness:.0%}"
