"""What was said and done in a conversation so far."""

from uuid import UUID

from agents import journal
from agents.contracts import StepRecord, TurnRecord
from agents.models import Message, Turn

HISTORY_TURNS = 30


def load(turn: Turn) -> tuple[list[TurnRecord], list[StepRecord]]:
    """The conversation up to this turn, oldest first, and the steps this turn has already
    taken. Four queries, whatever the length of the conversation."""
    newest = list(
        Turn.objects.filter(conversation=turn.conversation_id).order_by("-created_at", "-id")[
            :HISTORY_TURNS
        ]
    )
    turns = list(reversed(newest))
    ids = [row.id for row in turns]
    said: dict[tuple[UUID, str], Message] = {
        (m.turn_id, m.role): m for m in Message.objects.filter(turn_id__in=ids)
    }
    steps = journal.steps_of(ids)
    records = []
    for row in turns:
        user = said.get((row.id, Message.Role.USER))
        assistant = said.get((row.id, Message.Role.ASSISTANT))
        own = steps.get((row.id, None), [])
        spoken = bool(own) and (not own[-1].calls or row.ending == Turn.Ending.QUESTION)
        records.append(
            TurnRecord(
                user_text=_wire_text(user),
                decisions=tuple(row.decisions),
                steps=tuple(own),
                reply=assistant.content if assistant and not spoken else None,
            )
        )
    return records, list(steps.get((turn.id, None), []))


def _wire_text(message: Message | None) -> str | None:
    if message is None:
        return ""
    if "answers" in message.metadata:
        return None  # stands in the transcript as the result of the question's call
    return message.content or "(The user decided about pending actions.)"


def user_words(turn: Turn) -> str:
    """What the user typed in this request: this message and, where it answers a question,
    the messages that led to the question."""
    words: list[str] = []
    messages = Message.objects.filter(
        conversation=turn.conversation_id, role=Message.Role.USER
    ).order_by("-created_at")[:HISTORY_TURNS]
    for message in messages:
        words.append(message.content)
        if "answers" not in message.metadata:
            break
    return "\n".join(reversed(words))
