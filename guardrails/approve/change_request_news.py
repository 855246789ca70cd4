"""News of change requests: to the organisation's people that one waits, and to its frontend that
one was decided."""

import logging
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import F, Q
from django.utils import timezone

from guardrails.models import ChangeRequest
from integrations.exceptions import ProviderError
from integrations.network import callbacks, outgoing

log = logging.getLogger(__name__)
State = ChangeRequest.State
NOTIFIED_FOR = timedelta(days=1)  # older news is sent to nobody
NOTIFIED_AT_ONCE = 100


def notify(request_id: str) -> None:
    """The same news goes out once; what fails is tried again for a day."""
    rows = ChangeRequest.objects.select_related("organisation").filter(id=UUID(request_id))
    row = rows.exclude(last_news=F("state")).first()
    if row is None:
        return
    try:
        if row.state == State.OPEN:
            _tell_people(row)
        else:
            _tell_frontend(row)
    except ProviderError as error:
        log.warning(
            "change_request.not_announced", extra={"request": request_id, "code": error.code}
        )
        if error.retryable:
            return
    ChangeRequest.objects.filter(id=row.id).update(last_news=row.state)


def notify_again(*, now: datetime) -> None:
    """Send the news that could not be sent before. Runs every minute."""
    since = now - NOTIFIED_FOR
    rows = ChangeRequest.objects.exclude(last_news=F("state")).filter(
        Q(state=State.OPEN, created_at__gte=since) | Q(decided_at__gte=since)
    )
    for id in rows.order_by("created_at").values_list("id", flat=True)[:NOTIFIED_AT_ONCE]:
        notify(str(id))


def _tell_frontend(row: ChangeRequest) -> None:
    slug = row.organisation.slug
    if slug in settings.SYNC_CALLBACKS:
        callbacks.send(
            slug=slug,
            id=f"change_request_{row.id}_{row.state}",
            kind=f"change_request.{row.state}",
            data={
                "change_request_id": str(row.id),
                "user_id": row.external_user_id,
                "turn_id": row.turn_id,
            },
            now=timezone.now(),
        )


def _tell_people(row: ChangeRequest) -> None:
    """Not what was refused: a mail travels where admin pages do not."""
    address = settings.ESCALATION_MAIL.get(row.organisation.slug)
    if address:
        outgoing.send_mail(
            address,
            subject="A user asks for a change of policy",
            text="The guardrails refused an action, and the user asks you to permit it.\n\n"
            f"User: {row.external_user_id}\nSince: {row.created_at:%Y-%m-%d %H:%M} UTC\n"
            f"Number: {row.id}\n\nIn the admin it is under Inbox, Change requests.\n",
        )
