"""Why nothing was done about what came, in words."""

from django.utils.translation import gettext

from agents.models import Turn
from integrations.models import Delivery
from knowledge.ingest.reading import SENTENCES

LEFT_ALONE = {
    "unknown_account": "No account of this user is known here.",
    "unchanged": "Nothing in it was new.",
    "left_out": "Its account is narrowed to other projects or kinds of file.",
    "stale": "A newer version was here already.",
    "absent": "It was deleted, and had never been seen here.",
    "own_mail": "The user wrote it.",
    "from_remit": "Remit itself wrote it.",
    "own_action": "It tells of an action of the assistant's own.",
    "stopped": "A switch was thrown, so no agent looked at it.",
    "duplicate_item": "An agent had looked at it before.",
    "deleted": "It was deleted before an agent could look at it.",
}
READ = {
    "created": "It was read in, so that agents can find it.",
    "updated": "Its new version was read in.",
    "deleted": "What was known of it was forgotten.",
}


def why_nothing(row: Delivery, turn: Turn | None) -> str:
    """Why nothing was done about it."""
    if row.state in (Delivery.State.QUEUED, Delivery.State.RUNNING):
        return "It waits for what does not answer." if row.waiting_since else "It is being read."
    if row.state == Delivery.State.DEAD:
        known = SENTENCES.get(row.reason)
        return known or f"It was set aside: {row.reason.replace('_', ' ')}."
    if turn is not None:
        return ending_of(turn)
    return LEFT_ALONE.get(row.reason) or READ.get(row.kind, row.reason.replace("_", " "))


def ending_of(turn: Turn) -> str:
    """What became of a turn that asked for no action."""
    if turn.state == Turn.State.FAILED or turn.ending == Turn.Ending.ERROR:
        why = turn.error_code.replace("_", " ") or gettext("something broke")
        return gettext("It ended early: %(why)s.") % {"why": why}
    if turn.state != Turn.State.FINISHED:
        return gettext("An agent is at work on it.")
    if turn.ending in (
        *(Turn.Ending.LIMIT, Turn.Ending.STOPPED),
        *(Turn.Ending.ESCALATED, Turn.Ending.TIDIED),
    ):
        return f"{gettext(turn.get_ending_display())}."
    if turn.kind in (Turn.Kind.INBOUND, Turn.Kind.AGAIN):
        return gettext("An agent looked at it, and saw nothing to do.")
    if turn.ending == Turn.Ending.QUESTION:
        return gettext("The agent asked the user back.")
    return gettext("It was answered in words.")
