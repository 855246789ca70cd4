"""What is new at accounts that nobody pushes from: looked for, stored as deliveries like webhooks,
and worked through in the same way."""

import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from integrations.accounts import connectables
from integrations.contracts import AccountRef
from integrations.contracts.events import ItemEvent
from integrations.credentials import credentials
from integrations.database import clock
from integrations.exceptions import ProviderError
from integrations.models import Account, Credential, Delivery

DUE_AT_ONCE = 200  # a sweep


def claim_due(*, now: datetime) -> list[UUID]:
    """Accounts that are to be looked at now. Nobody else gets them until the next time."""
    every = timedelta(seconds=settings.MAILBOX_CHECK_SECONDS)
    due = Credential.objects.filter(
        Q(looked_at=None) | Q(looked_at__lte=now - every), state=Credential.State.GOOD
    )
    with transaction.atomic():
        rows = due.order_by("looked_at").select_for_update(skip_locked=True)[:DUE_AT_ONCE]
        ids = [row.account_id for row in rows]
        Credential.objects.filter(account_id__in=ids).update(looked_at=now)
    return ids


def look(account_id: UUID, *, enqueue: Callable[[UUID], None]) -> int:
    """Store what is new at the account as deliveries; how many. Each step is stored with the mark
    that says how far it went, so nothing is lost or stored twice. Raises ProviderError."""
    row = Account.objects.select_related("organisation").filter(id=account_id).first()
    credential = Credential.objects.filter(account_id=account_id).first()
    if row is None or credential is None:
        return 0
    account, count, began_at = row.ref(), 0, timezone.now()
    try:
        look = connectables.of(account.source).look
        for looked in look(account, seen_at=credential.seen_at):
            with transaction.atomic():
                for name, event in looked.events:
                    count += store(account, name, event, enqueue=enqueue)
                looked.keep()
    except ProviderError as error:
        credentials.note_look(account_id, began_at=began_at, failure=error.code)
        raise
    credentials.note_look(account_id, began_at=began_at)
    return count


def store(
    account: AccountRef, name: str, event: ItemEvent, *, enqueue: Callable[[UUID], None]
) -> bool:
    """Keep an event as a delivery, and queue it; whether it is new. `name` tells it from others
    about the item."""
    digest = hashlib.sha256(f"{account.id} {event.source_id} {name}".encode()).hexdigest()
    delivery, new = Delivery.objects.get_or_create(
        organisation_id=account.organisation_id,
        webhook_id=f"look-{digest[:48]}",
        defaults={
            "account_id": account.id,
            "kind": event.kind,
            "source": event.source,
            "source_id": event.source_id,
            "body": event.model_dump(mode="json", exclude_none=True),
            "lease_expires_at": clock.now(),
        },
    )
    if new:
        enqueue(delivery.id)
    return new
