"""Budgets of models: looked at before each call, and what the call used is written down after it,
at once or with what it led to (`gathered`).

A call is not counted before it is written down, so calls that begin at the same moment may
together go over a budget, each by no more than itself.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import F, QuerySet, Sum
from django.utils import timezone

from integrations.database.together import Read
from integrations.llm.completions import ModelError, Payer, Usage
from integrations.llm.profiles import profile
from integrations.models import ModelCall

PRUNED_AT_ONCE = 1000
WINDOW = timedelta(hours=24)
SENTENCE = (
    "I stopped because the budget for the assistant is used up for now. It frees up as the last "
    "24 hours pass, and an administrator can raise it."
)


# Before and after every call of a model: written out, they cost a fifth of what composing does.
_FITTING = """
SELECT account_id, external_user_id, max_tokens, max_cost FROM integrations_budget
WHERE organisation_id = %s
    AND ((account_id IS NULL AND external_user_id IN ('', %s)) OR account_id = %s)
"""
_COLUMNS = """organisation_id, external_user_id, account_id, run_id, purpose, model, prompt_tokens,
    cached_tokens, answer_tokens, cost, latency_ms, error_code, at"""
# For a statement that stores what the calls led to, too.
_RECORD = f"""
INSERT INTO integrations_modelcall ({_COLUMNS})
SELECT {_COLUMNS} FROM jsonb_populate_recordset(NULL::integrations_modelcall, {{calls}}::jsonb)
"""  # noqa: S608  # only constants
RECORD = _RECORD.format(calls="%(model_calls)s")
RECORD_IN_PLACE = _RECORD.format(calls="%s")  # where the values have no names
_USED_BY_RUN = """
SELECT coalesce(sum(prompt_tokens), 0), coalesce(sum(cached_tokens), 0),
    coalesce(sum(answer_tokens), 0), coalesce(sum(cost), 0)
FROM integrations_modelcall WHERE run_id = %s
"""


class Budget(NamedTuple):
    """One budget that fits, as it is asked for."""

    account_id: UUID | None
    external_user_id: str
    max_tokens: int | None
    max_cost: Decimal | None


def usage(model: str, *, prompt_tokens: int, answer_tokens: int, cached_tokens: int = 0) -> Usage:
    """What a call of a model used, with what it cost by the model's profile."""
    prompt, answer = max(prompt_tokens, 0), max(answer_tokens, 0)
    cached = min(max(cached_tokens, 0), prompt)
    cost = profile(model).cost(prompt_tokens=prompt, cached_tokens=cached, answer_tokens=answer)
    return Usage(prompt_tokens=prompt, cached_tokens=cached, answer_tokens=answer, cost=cost)


def read_budgets(payer: Payer) -> Read[list[Budget]]:
    """Those that fit the payer."""
    given = [payer.organisation_id, payer.external_user_id, payer.account_id]
    return Read(_FITTING, given, lambda rows: [Budget(*row) for row in rows])


def exhausted(payer: Payer, *, now: datetime, budgets: Sequence[Budget] | None = None) -> bool:
    """Whether a budget that fits the payer has no room left. One query without budgets; none where
    `budgets` were read just now."""
    if gathering := _gathered.get():
        gathering.write()
    if budgets is None:
        budgets = read_budgets(payer).run()
    own = any(budget.external_user_id for budget in budgets)
    return any(
        _is_used_up(budget, payer, now=now)
        for budget in budgets
        if budget.account_id or budget.external_user_id or not own
    )


def _is_used_up(budget: Budget, payer: Payer, *, now: datetime) -> bool:
    calls = ModelCall.objects.filter(organisation_id=payer.organisation_id, at__gt=now - WINDOW)
    if budget.account_id:
        used = _sum(calls.filter(account_id=budget.account_id))
    else:
        used = _sum(calls.filter(external_user_id=payer.external_user_id))
    return (budget.max_tokens is not None and used.tokens >= budget.max_tokens) or (
        budget.max_cost is not None and used.cost >= budget.max_cost
    )


class Calls:
    """Calls of models that are not written down yet."""

    def __init__(self) -> None:
        self._rows: list[dict[str, Any]] = []

    def add(self, row: dict[str, Any]) -> None:
        self._rows.append(row)

    def values(self) -> dict[str, str]:
        """What a statement with RECORD in it is given."""
        return {"model_calls": self.dump()}

    def dump(self) -> str:
        """What RECORD_IN_PLACE is given."""
        return json.dumps(self._rows, default=str)

    def forget(self) -> None:
        """They are written down now."""
        self._rows.clear()

    def write(self) -> None:
        if not self._rows:
            return
        with connection.cursor() as cursor:
            cursor.execute(RECORD, self.values())
        self.forget()


_gathered: ContextVar[Calls | None] = ContextVar("calls", default=None)


@contextmanager
def gathered() -> Iterator[Calls]:
    """Calls of models in this thread are written down together: with what they led to, by a
    statement that has RECORD in it, or else when this ends, whatever happened."""
    calls = Calls()
    token = _gathered.set(calls)
    try:
        yield calls
    finally:
        _gathered.reset(token)
        calls.write()


def record(
    payer: Payer, usage: Usage, *, model: str, purpose: str, latency_ms: int, error_code: str = ""
) -> None:
    """Write one call down, whether it was answered or not: at once, where none are `gathered`."""
    gathering = _gathered.get()
    calls = gathering or Calls()
    calls.add(
        {
            "organisation_id": payer.organisation_id,
            "external_user_id": payer.external_user_id,
            "account_id": payer.account_id,
            "run_id": payer.run_id,
            "purpose": purpose[:64],
            "model": model[:100],
            "prompt_tokens": usage.prompt_tokens,
            "cached_tokens": usage.cached_tokens,
            "answer_tokens": usage.answer_tokens,
            "cost": usage.cost,
            "latency_ms": latency_ms,
            "error_code": error_code[:64],
            "at": timezone.now(),
        }
    )
    if gathering is None:
        calls.write()
    add(usage.cost)


@contextmanager
def counted(
    payer: Payer | None, *, model: str, purpose: str
) -> Iterator[Callable[[Usage, str], None]]:
    """A call, written down for its payer whatever becomes of it; what is yielded takes its use and
    which model answered."""
    started, used, answered, code = time.monotonic(), Usage(), model, "failed"

    def count(usage: Usage, by: str) -> None:
        nonlocal used, answered
        used, answered = usage, by

    try:
        yield count
        code = ""
    except ModelError as error:
        code = error.code
        raise
    finally:
        latency = int((time.monotonic() - started) * 1000)
        if payer:
            record(
                payer, used, model=answered, purpose=purpose, latency_ms=latency, error_code=code
            )


class Meter:
    """US dollars that calls of models cost while it runs."""

    cost = Decimal(0)


_running: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def meter() -> Iterator[Meter]:
    """What calls of models cost in this thread meanwhile. Nothing is passed on to a meter that
    runs around it, which may `add` it."""
    found = Meter()
    token = _running.set(found)
    try:
        yield found
    finally:
        _running.reset(token)


def add(cost: Decimal) -> None:
    """Count this for the meter that runs in this thread, if there is one."""
    if running := _running.get():
        running.cost += cost


def prune(*, now: datetime) -> int:
    """Delete the oldest calls that are older than MODEL_CALL_DAYS; how many. Runs every minute."""
    if not settings.MODEL_CALL_DAYS:
        return 0
    old = ModelCall.objects.filter(at__lt=now - timedelta(days=settings.MODEL_CALL_DAYS))
    chosen = list(old.order_by("at").values_list("id", flat=True)[:PRUNED_AT_ONCE])
    return ModelCall.objects.filter(id__in=chosen).delete()[0] if chosen else 0


def used_by_run(run_id: UUID) -> Usage:
    """What a turn has used so far, its specialists and its tools included."""
    with connection.cursor() as cursor:
        cursor.execute(_USED_BY_RUN, [run_id])
        prompt, cached, answer, cost = cursor.fetchone()
    return Usage(prompt_tokens=prompt, cached_tokens=cached, answer_tokens=answer, cost=cost)


def _sum(calls: "QuerySet[ModelCall]") -> Usage:
    found = calls.order_by().aggregate(
        prompt_tokens=Sum("prompt_tokens", default=0),
        cached_tokens=Sum("cached_tokens", default=0),
        answer_tokens=Sum("answer_tokens", default=0),
        cost=Sum(F("cost"), default=Decimal(0)),
    )
    return Usage(**found)
