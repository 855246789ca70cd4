"""What was said and done in a conversation so far."""

import json
from dataclasses import replace
from datetime import date, datetime
from typing import NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from agents.contracts import StepRecord, TurnRecord
from agents.journal import journal, whom
from agents.models import Message, ToolCall, Turn
from guardrails.words.own import own_words
from integrations.mail.text import normalised

HISTORY_TURNS = 30  # at least so many are read whole, where there are so many
MOST_TURNS = 500  # of older ones what was said


class UserWords(NamedTuple):
    """A user's request: all of it, what of it may count as typed, and when it was said: None
    where nobody can tell."""

    request: str
    text: str
    said_at: datetime | None


def load_history(turn: Turn) -> tuple[list[TurnRecord], list[StepRecord]]:
    """The conversation up to this turn, oldest first, and the steps this turn has already
    taken. Five queries, whatever the length of the conversation.

    Where the turns begin that are read whole moves by HISTORY_TURNS at once, so that what a prompt
    makes of them is the same from turn to turn."""
    conversation = Turn.objects.filter(conversation=turn.conversation_id)
    total = conversation.count()
    newest = conversation.only("id", "ending", "decisions").order_by("-created_at", "-id")
    turns = list(reversed(newest[:MOST_TURNS]))
    ids = [row.id for row in turns]
    start = max(0, total // HISTORY_TURNS - 1) * HISTORY_TURNS - (total - len(turns))
    first, whole = ids[max(0, start)], set(ids[max(0, start) :])
    said: dict[tuple[UUID, str], Message] = {
        (m.turn_id, m.role): m for m in Message.objects.filter(turn_id__in=ids)
    }
    steps = journal.load_steps([*whole])
    records = []
    for row in turns:
        user = said.get((row.id, Message.Role.USER))
        assistant = said.get((row.id, Message.Role.ASSISTANT))
        person = said.get((row.id, Message.Role.PERSON))
        own = steps.get((row.id, None), [])
        spoken = bool(own) and (not own[-1].calls or row.ending == Turn.Ending.QUESTION)
        if spoken and assistant and not own[-1].calls:
            # What the user read, not what the model would have said.
            own = [*own[:-1], replace(own[-1], text=assistant.content)]
        records.append(
            TurnRecord(
                user_text=_wire_text(user, may_answer=row.id in whole and row.id != first),
                decisions=tuple(row.decisions),
                steps=tuple(own),
                reply=assistant.content if assistant and not spoken else None,
                person=person.content if person else "",
                id=row.id,
                is_whole=row.id in whole,
            )
        )
    return records, list(steps.get((turn.id, None), []))


def _wire_text(message: Message | None, *, may_answer: bool) -> str | None:
    if message is None:
        return ""
    if may_answer and "answers" in message.metadata:
        return None  # stands in the transcript as the result of the question's call
    return message.content or "(The user decided about pending actions.)"


def load_user_words(turn: Turn, *, zone: str = "UTC") -> UserWords:
    """What the user typed in this request: this turn's message and, where it answers a
    question, the messages that led to the question. An answer that is one of the options the
    agent offered is the agent's text, not the user's; one that Remit offered, asking whom a name
    means, is the address in it. What a frontend marked as pasted is nobody knows whose. What was
    typed over several days of this zone was said at no one time: "tomorrow" could be any of
    them."""
    request: list[str] = []
    words: list[str] = []
    chosen: list[str] = []  # before all else: no word of the user's says whose they are
    days: set[date] = set()
    said_at: datetime | None = None
    messages = Message.objects.filter(
        conversation=turn.conversation_id,
        role=Message.Role.USER,
        turn__conversation=turn.conversation_id,  # whichever table is read first
        turn__created_at__lte=turn.created_at,
    ).order_by("-created_at")[:HISTORY_TURNS]
    for message in messages:
        said_at = message.created_at
        days.add(said_at.astimezone(ZoneInfo(zone)).date())
        question = message.metadata.get("answers")
        pasted = message.metadata.get("pasted")
        offered = "" if pasted or not question else whom.address_of(question, message.content)
        if offered:
            request.append(message.content)
            chosen.append(offered)
        elif not (question and _is_offered(message, question)):
            request.append(message.content)
            words.append(_typed(message))
        if not question:
            break
    return UserWords(
        request="\n".join(reversed(request)),
        text="\n".join([*chosen, *reversed(words)]),
        said_at=said_at if len(days) == 1 else None,
    )


def _typed(message: Message) -> str:
    """The message, without what was pasted into it where its frontend said so."""
    pasted = message.metadata.get("pasted")
    return own_words(message.content, pasted) if pasted else message.content


def _is_offered(message: Message, question: str) -> bool:
    """Whether this answer is one of the options, by its place or as it reads: another mark or
    blank makes no words of the user's own."""
    if "option" in message.metadata:
        return True
    said = _letters(message.content)
    return said in {_letters(one) for one in list_offered(question)}


def _letters(text: str) -> str:
    plain = normalised("NFKC", text).casefold()
    return "".join(one for one in plain if one.isalnum())


def list_offered(question: str) -> tuple[str, ...]:
    """The options of a question (the id of its call), as the agent wrote them. Empty where it
    offered none."""
    call = ToolCall.objects.filter(id=question).first()
    try:
        asked = json.loads(call.arguments) if call else {}
    except ValueError:
        asked = {}
    options = asked.get("options", []) if isinstance(asked, dict) else []
    return tuple(str(one).strip() for one in options) if isinstance(options, list) else ()
