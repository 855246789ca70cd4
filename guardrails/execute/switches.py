"""Kill switches: thrown at once, for everything, an organisation, an account, an action, a
connector or an effect.

An attempt is committed to the ledger first, and the switches are read after that; a switch is
committed first, and the open attempts are read after that. So either the attempt sees the
switch, or the switch sees the attempt and waits for its outcome: when `throw` says that
nothing is under way, no provider call begins until the switch is lifted.
"""

import time
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import IntegrityError, connections
from django.db.models import Q
from django.utils import timezone

from audit.ledger import selectors as ledger
from guardrails.execute import held_sends
from guardrails.facts.effects import IRREVERSIBLE
from guardrails.models import KillSwitch
from guardrails.policies import changes, stopped
from guardrails.policies.changes import Author
from integrations.database import clock
from integrations.models import Account, Delivery, Organisation

# Longer than a provider call takes with all its repeats.
UNDER_WAY = timedelta(seconds=120)
PATIENCE_SECONDS = 15.0


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What a switch stops. Empty fields mean all; without organisation, everything."""

    organisation_id: UUID | None = None
    account_id: UUID | None = None
    action_type: str = ""
    source: str = ""
    effect: str = ""


@dataclass(frozen=True, kw_only=True)
class Thrown:
    """A switch that is thrown. `under_way` counts provider calls that had begun before and
    have no outcome yet; 0 means that none begins from now on. `recalled` counts held actions
    that will not be carried out."""

    switch_id: UUID
    under_way: int
    recalled: int


def throw(
    scope: Scope, *, why: str, author: Author, patience_seconds: float = PATIENCE_SECONDS
) -> Thrown:
    """Stop what `scope` names, and wait for the calls that had begun. Throwing a thrown
    switch keeps its first reason. Raises ValidationError; RuntimeError in a transaction."""
    if any(connection.in_atomic_block for connection in connections.all(initialized_only=True)):
        raise RuntimeError("Throw a switch outside of transactions: it must hold at once.")
    row = _thrown(scope)
    if row is None:
        row = KillSwitch(**vars(scope), why=why, thrown_by=author.name)
        try:
            with changes.recording(KillSwitch, [row.pk], author=author):
                row.save(force_insert=True)
                _mark(row, paused=True)
        except (IntegrityError, ValidationError):
            first = _thrown(scope)  # somebody was quicker
            if first is None:
                raise
            row = first
    recalled = held_sends.recall_all(_held_by(row))
    under_way = _settled(scope, patience_seconds)
    return Thrown(switch_id=row.pk, under_way=under_way, recalled=recalled)


def recall_stopped() -> int:
    """Recall what thrown switches should have recalled, had their process not died; how many
    held actions those were."""
    return sum(
        held_sends.recall_all(_held_by(row)) for row in KillSwitch.objects.filter(lifted_at=None)
    )


def lift(*, switch_id: UUID, why: str, author: Author, handle: bool = False) -> bool:
    """Let what the switch stopped run again. With `handle` the mails that it kept from being looked
    at are worked through now; else they stay left alone. False when it is not thrown."""
    with changes.recording(KillSwitch, [switch_id], author=author):
        row = KillSwitch.objects.select_for_update().filter(id=switch_id, lifted_at=None).first()
        if row is None:
            return False
        row.lifted_at, row.lifted_by, row.lifted_why = timezone.now(), author.name, why
        row.save()
        _mark(row, paused=False)
        if handle:
            left = Delivery.objects.filter(id__in=stopped.list_left_alone(row.id))
            left.queue_again(from_=clock.now())
    return True


def _thrown(scope: Scope) -> KillSwitch | None:
    return KillSwitch.objects.filter(**vars(scope), lifted_at=None).first()


def _held_by(row: KillSwitch) -> Q:
    """The held actions that this switch stops."""
    if row.effect not in ("", *IRREVERSIBLE):
        return Q(pk=None)  # what is held reaches others or destroys
    found = {
        "organisation_id": row.organisation_id,
        "account_id": row.account_id,
        "action_type": row.action_type,
        "account__source": row.source,
    }
    return Q(**{name: value for name, value in found.items() if value})


def _mark(row: KillSwitch, *, paused: bool) -> None:
    """Rooms below know of switches that stop an account or an organisation as a whole."""
    if row.is_whole and row.account_id:
        Account.objects.filter(id=row.account_id).update(paused=paused)
    elif row.is_whole and row.organisation_id:
        Organisation.objects.filter(id=row.organisation_id).update(paused=paused)


def _settled(scope: Scope, patience_seconds: float) -> int:
    """Waits for the outcomes of calls that had begun; how many have none at the end."""
    began = _under_way(scope)
    deadline = time.monotonic() + patience_seconds
    waiting = began
    while waiting and time.monotonic() < deadline:
        time.sleep(0.05)
        waiting = began & _under_way(scope)
    return len(waiting)


def _under_way(scope: Scope) -> frozenset[tuple[UUID, int]]:
    return frozenset(
        (attempt.action_id, attempt.attempt_no)
        for attempt in ledger.under_way(since=timezone.now() - UNDER_WAY)
        if scope.organisation_id in (None, attempt.tenant_id)
        and scope.account_id in (None, attempt.account_id)
        and scope.action_type in ("", attempt.action_type)
        and scope.source in ("", attempt.provider)
    )
