"""Counting what agents do, in the transaction that decides.

Decisions of one account that count wait for each other under a lock: each sees every earlier one,
and what it permits is written before the next one looks. The provider is not asked meanwhile.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from guardrails.actions.base import AnyAction, Arguments
from guardrails.contracts import ActionRequest
from guardrails.facts.counts import (
    LENGTHS,
    NEW_AFTER,
    Counts,
    Question,
    Tally,
    Use,
    tally,
)
from guardrails.facts.facts import Facts
from guardrails.models import TrialUsage, Usage
from integrations.contracts import AccountRef
from integrations.database.locks import take_lock


@contextmanager
def lock_account(account: AccountRef) -> Iterator[None]:
    """A transaction in which nobody else counts for this account."""
    with transaction.atomic():
        take_lock(f"usage {account.id}")
        yield


def use_of(
    request: ActionRequest,
    action: AnyAction,
    arguments: Arguments,
    facts: Facts,
    *,
    now: datetime,
) -> Use:
    """What this action would use up, by its arguments and facts."""
    targets = action.targets(arguments) + (action.implied(arguments, facts) or ())
    given = arguments.model_dump(mode="json")
    return Use(
        action_type=action.name,
        run=run_of(request, now),
        receivers=tuple(sorted({one.value for one in targets if one.is_receiver})),
        destructive=any(
            effect.kind == "destructive" for effect in action.effects(arguments, facts)
        ),
        hidden=action.puts_away,
        amounts={name: abs(float(given[name] or 0)) for name in action.numbers},
    )


def run_of(request: ActionRequest, now: datetime) -> str:
    """The run that an action belongs to. An outside agent has no turns, so what one token does
    in a day (UTC) is a run: each call by itself would be under no limit of a run at all."""
    origin = request.origin
    if origin.trigger == "mcp":
        return f"mcp {origin.actor} {now.astimezone(UTC):%Y-%m-%d}"
    return origin.turn_id or str(request.action_id)


def counted(
    questions: Iterable[Question],
    use: Use,
    *,
    request: ActionRequest,
    now: datetime,
    trial: UUID | None = None,
) -> Counts:
    """The answers as they are now, each with what this action would add, and as if what a `trial`
    would have used up before were used up. What this action used before, in an earlier try, does
    not count."""
    return Counts(
        tallies=tuple(
            _answer(one, use, request, now, trial)
            for one in dict.fromkeys(questions)
            if one.what != "sum" or one.field in use.amounts
        )
    )


def hidden_before(request: ActionRequest, *, now: datetime) -> int:
    """How many mails that nobody named this run has put out of sight. One query."""
    rows = Usage.objects.filter(account_id=request.account.id, run=run_of(request, now))
    return rows.filter(hidden=True, counted_at__isnull=False).count()


def note_ask(use: Use, *, request: ActionRequest, now: datetime, trial: UUID | None = None) -> None:
    """A person is asked about this action. Once, however often it is tried."""
    _note(use, request, trial, asked_at=now)


def note(use: Use, *, request: ActionRequest, now: datetime, trial: UUID | None = None) -> None:
    """This action is permitted for good, and counts from now on."""
    _note(use, request, trial, counted_at=now, new_receivers=_new(use, request, now, trial))


def give_back(action_id: UUID) -> None:
    """This action never began, and does not count."""
    Usage.objects.filter(action_id=action_id).update(counted_at=None)


def sweep(*, now: datetime) -> int:
    """Forget what no condition looks at any more; how many rows those were."""
    return Usage.objects.filter(updated_at__lte=now - NEW_AFTER - LENGTHS["day"]).delete()[0]


def _used(account_id: UUID, trial: UUID | None) -> list[QuerySet[Any]]:
    """What the account used up, and what the trial would have."""
    found: list[QuerySet[Any]] = [Usage.objects.filter(account_id=account_id)]
    if trial is not None:
        found.append(TrialUsage.objects.filter(account_id=account_id, trial=trial))
    return found


def _answer(
    question: Question, use: Use, request: ActionRequest, now: datetime, trial: UUID | None
) -> Tally:
    used = _used(request.account.id, trial)
    others = [one.exclude(action_id=request.action_id) for one in used]

    def count(**wanted: Any) -> int:
        return sum(one.filter(**wanted).count() for one in others)

    def recent(weigh: Callable[[Any], float], **wanted: Any) -> list[tuple[datetime, float]]:
        """What the window holds, newest first."""
        since = now - LENGTHS[question.per]
        rows = [row for one in others for row in one.filter(counted_at__gt=since, **wanted)]
        return sorted(((row.counted_at, weigh(row)) for row in rows), reverse=True)

    if question.what == "asks":
        asked_before = count(run=use.run, asked_at__isnull=False)
        return Tally(question=question, own=1, count=asked_before + 1)
    if question.what == "hidden":
        put_away = count(run=use.run, hidden=True, counted_at__isnull=False)
        return Tally(question=question, own=int(use.hidden), count=put_away + use.hidden)
    if question.what == "receivers":
        done = [one.filter(run=use.run, counted_at__isnull=False) for one in others]
        reached = set().union(
            *(had for one in done for had in one.values_list("receivers", flat=True))
        )
        added = len(set(use.receivers) - reached)
        return Tally(question=question, own=added, count=len(reached) + added)
    if question.what == "new_receivers":
        own: float = len(_new(use, request, now, trial))
        return tally(question, own=own, before=recent(lambda row: len(row.new_receivers)))
    if question.what == "deletes":
        before = recent(lambda row: 1, destructive=True)
        return tally(question, own=int(use.destructive), before=before)
    if question.what == "sum":
        own, field = use.amounts[question.field], question.field
        before = recent(lambda row: row.amounts.get(field, 0), action_type=use.action_type)
        return tally(question, own=own, before=before)
    return tally(question, own=1, before=recent(lambda row: 1, action_type=use.action_type))


def _new(use: Use, request: ActionRequest, now: datetime, trial: UUID | None) -> list[str]:
    """The receivers whom this account's agent has not reached for long."""
    if not use.receivers:
        return []
    known: set[str] = set()
    for rows in _used(request.account.id, trial):
        earlier = rows.filter(
            counted_at__gt=now - NEW_AFTER, receivers__overlap=list(use.receivers)
        ).exclude(action_id=request.action_id)
        known = known.union(*earlier.values_list("receivers", flat=True))
    return [one for one in use.receivers if one not in known]


def _note(use: Use, request: ActionRequest, trial: UUID | None, **fields: Any) -> None:
    defaults = {
        "account_id": request.account.id,
        "action_type": use.action_type,
        "run": use.run,
        "receivers": list(use.receivers),
        "destructive": use.destructive,
        "hidden": use.hidden,
        "amounts": use.amounts,
        **fields,
    }
    if trial is None:
        Usage.objects.update_or_create(action_id=request.action_id, defaults=defaults)
    else:
        TrialUsage.objects.update_or_create(
            action_id=request.action_id, defaults=defaults | {"trial": trial}
        )
