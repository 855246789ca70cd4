"""What an agent hands to a person: queued once for each conversation, taken, answered, announced.

A person's answer is a message of the conversation. It does not count as the user's own words: it
permits nothing that the user has not asked for.
"""

import logging
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django_q.tasks import async_task

from agents.models import Conversation, Escalation, Message, Turn
from integrations.exceptions import ProviderError
from integrations.network import callbacks, outgoing

log = logging.getLogger(__name__)
State = Escalation.State
UNFINISHED = (State.OPEN, State.TAKEN)
NOTIFIED_FOR = timedelta(days=1)  # older news is sent to nobody
NOTIFIED_AT_ONCE = 100
MAX_ANSWER, MAX_NOTE = 4_000, 2_000


class Done(Exception):
    """Somebody has finished it already."""


def hand_over(*, turn_id: UUID, call_id: UUID, reason: str, tried: str) -> Escalation:
    """Queue the turn's conversation for a person, and let people know. A conversation that
    waits there already stays as it is."""
    turn = Turn.objects.get(id=turn_id)
    if turn.conversation_id is None:
        raise LookupError("a turn without a conversation cannot be handed to a person")
    waiting = Escalation.objects.filter(conversation=turn.conversation_id, state__in=UNFINISHED)
    found = Escalation.objects.filter(call_id=call_id).first() or waiting.first()
    if found is not None:
        return found
    try:
        with transaction.atomic():
            escalation = Escalation.objects.create(
                organisation_id=turn.organisation_id,
                external_user_id=turn.external_user_id,
                conversation_id=turn.conversation_id,
                turn=turn,
                call_id=call_id,
                reason=reason,
                tried=tried,
            )
            async_task(notify, str(escalation.id))
    except IntegrityError:
        return waiting.get()  # another process was faster
    return escalation


def take_escalation(escalation_id: UUID, *, by: str, now: datetime) -> None:
    """A person says that they see to it; also one that a colleague had taken. Raises Done."""
    rows = Escalation.objects.filter(id=escalation_id, state__in=UNFINISHED)
    if not rows.update(state=State.TAKEN, taken_by=by, taken_at=now):
        raise Done


def finish_escalation(
    escalation_id: UUID, *, by: str, answer: str, note: str, now: datetime
) -> None:
    """Done: with an answer, which the user gets as a message, or with a note alone.

    Raises ValueError with a sentence when there is neither, or too much; Done.
    """
    answer, note = answer.strip(), note.strip()
    if not (answer or note):
        raise ValueError("Write an answer for the user, or a note for your colleagues.")
    if len(answer) > MAX_ANSWER or len(note) > MAX_NOTE:
        raise ValueError(f"At most {MAX_ANSWER} characters of answer and {MAX_NOTE} of note.")
    with transaction.atomic():
        rows = Escalation.objects.filter(id=escalation_id, state__in=UNFINISHED)
        if not rows.update(state=State.DONE, done_by=by, done_at=now, note=note):
            raise Done
        row = Escalation.objects.get(id=escalation_id)
        if answer:
            Message.objects.create(
                conversation_id=row.conversation_id,
                turn_id=row.turn_id,
                role=Message.Role.PERSON,
                content=answer,
                metadata={"by": by},
            )
            Conversation.objects.filter(id=row.conversation_id).update(updated_at=now)
        async_task(notify, str(row.id))


def list_open(organisation_id: UUID) -> QuerySet[Escalation]:
    """What nobody has finished."""
    return Escalation.objects.filter(organisation_id=organisation_id, state__in=UNFINISHED)


def waits_in_conversation() -> Exists:
    """Whether a conversation, the outer query's row, waits for a person."""
    return Exists(Escalation.objects.filter(conversation=OuterRef("pk"), state__in=UNFINISHED))


def notify(escalation_id: str) -> None:
    """Tell the organisation's people, by mail, and its frontend that something waits, or the
    frontend that it is done. The same news goes out once; what fails is tried again for a day.
    """
    row = Escalation.objects.select_related("organisation").filter(id=UUID(escalation_id)).first()
    if row is None or row.last_news == _news(row):
        return
    try:
        _tell_frontend(row)
        _tell_people(row)
    except ProviderError as error:
        log.warning(
            "escalation.not_announced", extra={"escalation": escalation_id, "code": error.code}
        )
        if error.retryable:
            return
    Escalation.objects.filter(id=row.id).update(last_news=_news(row))


def notify_again(*, now: datetime) -> None:
    """Send the news that could not be sent before. Runs every minute."""
    since = now - NOTIFIED_FOR
    rows = Escalation.objects.filter(
        Q(state__in=UNFINISHED, last_news="", created_at__gte=since)
        | Q(state=State.DONE, done_at__gte=since) & ~Q(last_news=State.DONE)
    )
    for id in rows.order_by("created_at").values_list("id", flat=True)[:NOTIFIED_AT_ONCE]:
        notify(str(id))


def _tell_frontend(row: Escalation) -> None:
    slug, news = row.organisation.slug, _news(row)
    if slug in settings.SYNC_CALLBACKS:
        callbacks.send(
            slug=slug,
            id=f"escalation_{row.id}_{news}",
            kind="conversation.answered" if news == State.DONE else "conversation.escalated",
            data={"session_id": str(row.conversation.session_id), "user_id": row.external_user_id},
            now=timezone.now(),
        )


def _tell_people(row: Escalation) -> None:
    """Neither the user's words nor the agent's: a mail travels where admin pages do not."""
    address = settings.ESCALATION_MAIL.get(row.organisation.slug)
    if address and _news(row) == State.OPEN:
        outgoing.send_mail(
            address,
            subject="A conversation waits for a person",
            text="The assistant has handed a conversation to you.\n\n"
            f"User: {row.external_user_id}\nSince: {row.created_at:%Y-%m-%d %H:%M} UTC\n"
            f"Number: {row.id}\n\nIn the admin it is under Inbox, Handed to a person.\n",
        )


def _news(row: Escalation) -> str:
    return State.DONE if row.state == State.DONE else State.OPEN
