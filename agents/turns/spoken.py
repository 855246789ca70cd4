"""A chat message that confirms what waits: read by code before any model sees it."""

from collections.abc import Sequence
from typing import Any

from agents.answer import records
from agents.contracts import Person
from agents.models import Message, Turn
from guardrails.approve import in_words, words
from integrations.web.languages import speaking


def hear(turn: Turn) -> in_words.Heard | None:
    """What the turn's own message confirms in words. None where it is no confirmation: it decides
    with buttons, answers a question of the agent's, or is about something else."""
    message = _message(turn)
    if turn.decisions or message is None or "answers" in message.metadata:
        return None
    if words.read(message.content) is None:
        return None  # as most are: nothing else is looked up
    earlier = Turn.objects.filter(conversation=turn.conversation_id).exclude(id=turn.id)
    ids = [str(id) for id in earlier.order_by("-created_at").values_list("id", flat=True)[:100]]
    said = Message.objects.filter(
        conversation=turn.conversation_id,
        role=Message.Role.ASSISTANT,
        turn__created_at__lt=turn.created_at,
    )
    last = said.order_by("-created_at").first()
    if last is None:
        return None
    heard = in_words.hear(
        message.content,
        organisation_id=turn.organisation_id,
        external_user_id=turn.external_user_id,
        turn_ids=ids,
        said_at=message.created_at,
        answered_at=last.created_at,
        asked="?" in last.content,
    )
    if heard is None or message.metadata.get("may_decide"):
        return heard
    # Who brought the message may chat and not decide: the buttons are elsewhere.
    return in_words.Heard(confirmed=(), waiting=(*heard.confirmed, *heard.waiting))


def to_decisions(turn: Turn, heard: in_words.Heard) -> list[dict[str, Any]]:
    """The confirmation as the turn keeps decisions, with the message that it stands in."""
    message = _message(turn)
    return [
        {
            "id": str(one.id),
            "decision": "confirmed",
            "digest": one.digest,
            "said_in": str(message.id) if message else "",
        }
        for one in heard.confirmed
    ]


def point_at_buttons(turn: Turn, person: Person, waiting: Sequence[in_words.Listed]) -> str:
    """The answer to a confirmation that does not count. It is too short to tell its language by
    its little words, but its grammar does, unless the user named one."""
    message = _message(turn)
    meant = words.read(message.content) if message else None
    spoken = meant.languages if meant else ()
    fits = person.preferences.language or turn.language in spoken or not spoken
    with speaking(turn.language if fits else spoken[0]):
        return records.render_buttons(
            [
                records.describe(
                    {
                        "type": one.action_type,
                        "description": one.description,
                        "params": one.arguments,
                    }
                )
                for one in waiting
            ]
        )


def _message(turn: Turn) -> Message | None:
    return Message.objects.filter(turn=turn.id, role=Message.Role.USER).first()
