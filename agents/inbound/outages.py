"""Deliveries that wait for what is away: a provider, a model, a budget's room.

An account whose delivery met that has a row (`Outage`). While it has, its deliveries stay where
they are, and the oldest alone tries, after growing pauses; once a try ends in any way, all go on,
in the order in which they came. This goes on for a day; then what came before it is dead.

What fails for ever may be the delivery, not what it asks. So every few tries of the oldest another
one is tried too: if that ends, the oldest waits alone from then on, and nobody behind it.
"""

import logging
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from agents.inbound import inbound
from integrations.models import Delivery, Outage
from integrations.network.retries import PATIENCE, is_given_up, pause

log = logging.getLogger(__name__)
TAKEN_BACK = 500  # a sweep
OTHER_AFTER = 5  # tries of the oldest

# Deliveries of an account that waits.
HELD = Exists(Outage.objects.filter(account_id=OuterRef("account_id")))
# Those that a worker had, or that were postponed: the others wait in the queue.
AWAY = Q(state=Delivery.State.RUNNING) | Q(state=Delivery.State.QUEUED) & ~Q(reason="")
UNFINISHED = Q(state__in=[Delivery.State.QUEUED, Delivery.State.RUNNING])


def begin(account_id: UUID, code: str, *, asked: float | None, now: datetime) -> None:
    """Have the account's deliveries wait, or wait on: the next try comes after a longer pause."""
    outage, new = Outage.objects.get_or_create(
        account_id=account_id, defaults={"code": code, "since": now, "due_at": now}
    )
    due_at = now + pause(now - outage.since, asked=asked)
    Outage.objects.filter(account_id=account_id).update(code=code, due_at=due_at)
    if new:
        log.warning("outage.begun", extra={"account": str(account_id), "code": code})
    elif is_given_up(now - outage.since, code):
        _give_up(account_id, code, received_before=now - PATIENCE, now=now)


def end(account_id: UUID, *, now: datetime) -> None:
    """Let the account's deliveries go on."""
    if Outage.objects.filter(account_id=account_id).delete()[0]:
        waiting = Delivery.objects.filter(
            account_id=account_id, state=Delivery.State.QUEUED, is_alone=False
        )
        free = waiting.update(reason="", waiting_since=None, lease_expires_at=now)
        log.warning("outage.ended", extra={"account": str(account_id), "deliveries": free})


def find_probe(delivery_id: UUID, *, now: datetime) -> UUID | None:
    """The delivery to try with, where that of this id waits and a try is due: the oldest of the
    account, unless one is under way."""
    due = Outage.objects.filter(account__deliveries=delivery_id, due_at__lte=now)
    account_id = due.values_list("account_id", flat=True).first()
    return None if account_id is None else _oldest(account_id, now=now)


def find_other(delivery_id: UUID) -> UUID | None:
    """Another one to try with, where this one was tried often."""
    delivery = Delivery.objects.get(id=delivery_id)
    if delivery.account_id is None or delivery.is_alone or delivery.attempts % OTHER_AFTER:
        return None
    others = Delivery.objects.filter(
        account_id=delivery.account_id,
        kind=delivery.kind,
        state=Delivery.State.QUEUED,
        is_alone=False,
    )
    found = others.exclude(id=delivery.id).order_by("attempts", "received_at")
    return found.values_list("id", flat=True).first()


def set_alone(delivery_id: UUID, alone: bool) -> None:
    """Whether it fails while others do not. Then it waits for itself, and nobody behind it."""
    Delivery.objects.filter(id=delivery_id).update(is_alone=alone)


def take_back(*, now: datetime) -> int:
    """Queue deliveries whose lease or wait has run out, oldest first; how many."""
    with transaction.atomic():
        rows = Delivery.objects.select_for_update(skip_locked=True, of=("self",)).filter(
            AWAY, ~HELD, lease_expires_at__lt=now
        )
        ids = list(rows.order_by("received_at").values_list("id", flat=True)[:TAKEN_BACK])
        return Delivery.objects.filter(id__in=ids).update(
            state=Delivery.State.QUEUED, reason="", lease_expires_at=now
        )


def list_probes(*, now: datetime) -> list[UUID]:
    """A delivery of each account that waits for what is away and is due to be tried."""
    due = Outage.objects.filter(due_at__lte=now).order_by("due_at")
    accounts = list(due.values_list("account_id", flat=True)[:TAKEN_BACK])
    probes = (_oldest(account_id, now=now) for account_id in accounts)
    return [probe for probe in probes if probe]


def _oldest(account_id: UUID, *, now: datetime) -> UUID | None:
    rows = Delivery.objects.filter(UNFINISHED, account_id=account_id)
    if rows.filter(state=Delivery.State.RUNNING, lease_expires_at__gte=now).exists():
        return None
    found = rows.order_by("is_alone", "received_at").only("id").first()
    if found is None:
        end(account_id, now=now)
        return None
    return found.id


def _give_up(account_id: UUID, code: str, *, received_before: datetime, now: datetime) -> None:
    waiting = Delivery.objects.filter(
        account_id=account_id, state=Delivery.State.QUEUED, received_at__lt=received_before
    )
    ids = list(waiting.values_list("id", flat=True))
    Delivery.objects.filter(id__in=ids, state=Delivery.State.QUEUED).update(
        state=Delivery.State.DEAD, reason=code, lease_expires_at=None, finished_at=now
    )
    inbound.give_up(ids, code)
    log.warning("outage.given_up", extra={"account": str(account_id), "deliveries": len(ids)})
