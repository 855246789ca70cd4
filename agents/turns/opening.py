"""From a user's message to a turn that waits to be run."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils import timezone

from agents.context import people
from agents.journal import history, leases
from agents.journal.steps import ASK_USER
from agents.models import Conversation, Message, ToolCall, Turn
from audit.ledger.ids import uuid7
from integrations.database import notices
from integrations.llm import telemetry
from knowledge.text.languages import language_of

# What a text is recognised as, as a tag.
LANGUAGES = {"english": "en", "german": "de", "french": "fr", "spanish": "es", "italian": "it"}
WAITING = "turns_waiting"  # the channel that announces queued turns


class TurnRunning(Exception):
    """The conversation's last message is still being worked on."""


class UnknownOption(Exception):
    """No question is open that offers so many options."""


class UnknownUser(Exception):
    """The organisation has no account of this user."""


def start_turn(
    *,
    organisation_id: UUID,
    external_user_id: str,
    conversation_id: UUID | None,
    message: str,
    decisions: Sequence[Mapping[str, Any]],
    principal: str,
    queued: bool = False,
    pasted: Sequence[Sequence[int]] = (),
    option: int | None = None,
    may_decide: bool = False,
) -> UUID:
    """Store the message and its turn. Nothing else happens here. One that is `queued` waits for
    the process that runs turns (`agents.turns.runner`); any other is run by the caller, and waits
    for that process once the caller died.

    `conversation_id` is the session's id or the one that a frontend gave it; where this user has
    none under it, one begins. An open question of the conversation is answered by this message, or
    by the `option` at this place of what it offered. `pasted` are spans of characters that the user
    did not type. Unless the caller `may_decide`, the words of the message confirm nothing that
    waits. Raises UnknownUser, UnknownOption or TurnRunning; then nothing is stored.
    """
    person = people.load_person(organisation_id=organisation_id, external_user_id=external_user_id)
    if person is None:
        raise UnknownUser
    turn_id = uuid7()
    accepting = telemetry.span("accept", "message", of=turn_id, begins=True, turn_id=str(turn_id))
    try:
        with accepting, transaction.atomic():
            conversation = _conversation(
                organisation_id, external_user_id, conversation_id, message
            )
            question = _open_question(conversation)
            if option is not None:
                message = _offered(question, option)
            answers = question is not None and bool(message)
            turn = Turn.objects.create(
                id=turn_id,
                organisation_id=organisation_id,
                external_user_id=external_user_id,
                kind=Turn.Kind.CHAT,
                conversation=conversation,
                principal=principal,
                language=person.preferences.language or _language(conversation, message),
                lease_expires_at=Now() if queued else leases.lease_end(),
                decisions=[dict(decision) for decision in decisions],
                # The request goes on, with what was found before the question.
                context=question.turn.context if question and answers else [],
            )
            Message.objects.create(
                conversation=conversation,
                turn=turn,
                role=Message.Role.USER,
                content=message,
                metadata={
                    **({"answers": str(question.id)} if question and answers else {}),
                    **({"may_decide": True} if may_decide else {}),
                    **({"option": option} if option is not None else {}),
                    **({"pasted": [list(span) for span in pasted]} if pasted else {}),
                },
            )
            if question and answers:
                ToolCall.objects.filter(id=question.id, result__isnull=True).update(
                    result={"success": True, "data": {"answer": message}},
                    finished_at=timezone.now(),
                )
            if queued:
                notices.notify(WAITING)
    except IntegrityError as error:
        # The second case: two first messages of a session at once.
        if any(
            name in str(error)
            for name in ("turn_one_open_a_conversation", "conversation_given_once")
        ):
            raise TurnRunning from error
        raise
    return turn.id


def _conversation(
    organisation_id: UUID, external_user_id: str, session_id: UUID | None, message: str
) -> Conversation:
    found = session_id and (
        Conversation.objects.select_for_update()
        .filter(
            Conversation.named(session_id),
            organisation_id=organisation_id,
            external_user_id=external_user_id,
        )
        .first()
    )
    if found:
        found.save(update_fields=["updated_at"])
        return found
    return Conversation.objects.create(
        organisation_id=organisation_id,
        external_user_id=external_user_id,
        given_id=session_id,
        title=message.strip()[:120],
    )


def _language(conversation: Conversation, message: str) -> str:
    """The language of the message, else that of the user's last one here."""
    if found := LANGUAGES.get(language_of(message)):
        return found
    last = Turn.objects.filter(conversation=conversation).order_by("-created_at", "-id")
    return last.values_list("language", flat=True).first() or "en"


def _offered(question: ToolCall | None, option: int) -> str:
    """The text of an option. Raises UnknownOption."""
    offered = history.list_offered(str(question.id)) if question else ()
    if not 0 <= option < len(offered):
        raise UnknownOption
    return offered[option]


def _open_question(conversation: Conversation) -> ToolCall | None:
    last = Turn.objects.filter(conversation=conversation).order_by("-created_at", "-id").first()
    if last is None or last.ending != Turn.Ending.QUESTION:
        return None
    calls = last.calls.select_related("turn")
    return calls.filter(name=ASK_USER, result__isnull=True).first()
