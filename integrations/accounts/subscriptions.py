"""Accounts whose provider Remit asks to call it when something changes: what has to be done about
each, and how far that went. What is done goes through the executor
(`guardrails.execute.subscribing`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, cast
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils.dateparse import parse_datetime

from integrations.contracts import AccountRef
from integrations.models import Account, Credential, Subscription
from integrations.network.own_address import push_address
from integrations.ports.registry import BY_SOURCE

SOURCES = tuple(one.source for one in BY_SOURCE.values() if one.subscribes)
AT_ONCE = 100  # a sweep
LONGEST = timedelta(days=30)
RENEWED_BEFORE = timedelta(hours=24)  # a day's outage costs no subscription
AGAIN, SOONEST, LATER = timedelta(minutes=10), timedelta(hours=1), timedelta(days=1)
Step = Literal["open", "renew", "close"]
# How an action came to nothing that may go well soon.
PASSING = frozenset({"provider_unavailable", "facts_unavailable", "interrupted", "guard_failed"})


@dataclass(frozen=True, kw_only=True)
class Wish:
    """One step for one account, as the same action however often it is tried."""

    account: AccountRef
    step: Step
    action_id: UUID
    external_id: str


def next_step(
    *,
    is_wanted: bool,
    external_id: str,
    expires_at: datetime | None,
    is_challenged: bool,
    now: datetime,
) -> Step | None:
    """What is to be done about a subscription. Pure."""
    is_open = bool(external_id) and expires_at is not None and expires_at > now
    if not is_wanted:
        return "close" if is_open else None
    if not is_open or expires_at is None:
        return "open"
    return "renew" if is_challenged or expires_at - now <= RENEWED_BEFORE else None


def claim_due(*, now: datetime) -> list[UUID]:
    """Accounts to look after now. Nobody else gets them for ten minutes."""
    known = Q(account__subscription__isnull=False)
    paused = Q(account__paused=True) | Q(account__organisation__paused=True)
    due = Q(account__subscription__due_at__lte=now)
    at_rest = Q(account__subscription__step="", account__subscription__failure="")
    to_close = known & ~Q(account__subscription__external_id="") & (due | at_rest)
    ordinary = (~paused & (~known | due)) | (paused & to_close)
    wanted = ordinary if can_be_called() else to_close
    rows = Credential.objects.filter(
        wanted, state=Credential.State.GOOD, account__source__in=SOURCES
    )
    ids = list(rows.order_by("account_id").values_list("account_id", flat=True)[:AT_ONCE])
    with transaction.atomic():
        new = [Subscription(account_id=id, due_at=now) for id in ids]
        Subscription.objects.bulk_create(new, ignore_conflicts=True)
        Subscription.objects.filter(account_id__in=ids).update(due_at=now + AGAIN)
    return ids


def begin(account_id: UUID, *, action_id: UUID, now: datetime) -> Wish | None:
    """What is to be done about the account's now, as this action; a step that is under way goes on
    as its own. None: nothing."""
    account = Account.objects.select_related("organisation").filter(id=account_id).first()
    with transaction.atomic():
        row = Subscription.objects.select_for_update().filter(account_id=account_id).first()
        if row is None or account is None:
            return None
        ref = account.ref()
        if row.action_id is None:
            step = next_step(
                is_wanted=can_be_called() and not ref.paused,
                external_id=row.external_id,
                expires_at=row.expires_at,
                is_challenged=row.is_challenged,
                now=now,
            )
            if step is None:
                _rest(row, now=now)
                return None
            row.step, row.action_id = step, action_id
            row.save(update_fields=["step", "action_id"])
        return Wish(
            account=ref,
            step=cast(Step, row.step),
            action_id=row.action_id,
            external_id=row.external_id,
        )


def note(wish: Wish, *, status: str, reason: str, result: Mapping[str, Any], now: datetime) -> None:
    """What became of a step; once again changes nothing."""
    with transaction.atomic():
        rows = Subscription.objects.select_for_update()
        row = rows.filter(account_id=wish.account.id, action_id=wish.action_id).first()
        if row is None or status == "unknown":
            return  # it is due again soon, as the same action
        row.step, row.action_id = "", None
        if status in ("succeeded", "noop"):
            _note_done(row, wish.step, result, now=now)
            _rest(row, now=now)
            return
        row.failure, row.due_at = reason, now + (AGAIN if reason in PASSING else LATER)
        if reason not in PASSING and wish.step == "renew":
            _forget(row)  # another is opened in its place
            row.due_at = now + AGAIN
        row.save()


def can_be_called() -> bool:
    """Whether this installation has an address that providers may be given."""
    return bool(push_address(UUID(int=0)))


def _note_done(row: Subscription, step: Step, result: Mapping[str, Any], *, now: datetime) -> None:
    row.failure, row.is_challenged, row.answered_until = "", False, None
    if step == "close":
        _forget(row)
        return
    said = parse_datetime(str(result.get("expires_at", "")))
    row.external_id = str(result.get("id", ""))
    # A clock that goes wrong elsewhere keeps nothing from being renewed.
    row.expires_at = min(said, now + LONGEST) if said else None


def _forget(row: Subscription) -> None:
    row.external_id, row.expires_at, row.secret_digest = "", None, ""
    row.is_challenged, row.answered_until = False, None


def _rest(row: Subscription, *, now: datetime) -> None:
    """Until it is to be renewed."""
    to_renew = (row.expires_at or now) - RENEWED_BEFORE
    row.due_at = max(to_renew, now + SOONEST)
    row.save()
