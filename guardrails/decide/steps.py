"""What comes next for an action, by its decision and by what its rows in the ledger say. Pure."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal, NamedTuple
from uuid import UUID

from audit.contracts import Recorded
from guardrails.contracts import Decision
from guardrails.facts.reasons import sentence

# wait: it goes on being held. close: there is nothing to do.
Step = Literal["refuse", "wait", "close", "ask", "hold", "perform"]
# Why an attempt was closed although its action goes on.
INTERRUPTED = "interrupted"
CHANGED = "changed_while_held"
# What passes: the provider is away, the ledger is not sealed.
PASSING = frozenset({"facts_unavailable", "not_sealed"})
# How long these may last when a held send's time has come, before that refuses it for good.
PATIENCE = timedelta(hours=24)


def next_step(
    decision: Decision,
    *,
    already_so: bool,
    digest: str,
    confirmed: str | None,
    held_until: datetime | None,
    now: datetime,
    changed: bool = False,
    may_ask: bool = True,
    lacks_people: bool = False,
) -> tuple[Step, Decision]:
    """The step, and the decision it rests on. `digest` is what is to be done now, `confirmed`
    what a person said yes to (None: nobody did), `held_until` when its time had come. `changed`
    says that the object is no longer as it was when that was decided, `may_ask` that what set
    this off can make Remit ask a person, and `lacks_people` that fewer said yes than have to."""
    passes = held_until is not None and decision.reason in PASSING
    if held_until is not None and passes and now <= held_until + PATIENCE:
        return "wait", decision
    if decision.verdict == "refuse":
        return "refuse", decision
    if already_so:
        return "close", decision
    if confirmed is None and changed:
        if not may_ask:
            return "refuse", refused(decision, CHANGED)
        return "ask", decision._replace(verdict="ask", reason=CHANGED, sentence=sentence(CHANGED))
    if confirmed is None and decision.verdict == "ask":
        return "ask", decision
    if confirmed is not None and confirmed != digest:
        return "refuse", refused(decision, "changed_since_asked")
    if confirmed is not None and lacks_people:
        return "refuse", refused(decision, "second_yes_missing")
    return "hold" if decision.hold_seconds and held_until is None else "perform", decision


def refused(decision: Decision, reason: str) -> Decision:
    """The same decision, turned into a refusal for a reason outside the policy."""
    return decision._replace(verdict="refuse", reason=reason, sentence=sentence(reason))


class Ended(NamedTuple):
    last: Recorded


class Open(NamedTuple):
    """An attempt without an outcome: the provider may have acted."""

    attempt: Recorded


# reused: another request has this id. asked: a person is, or was, asked about it.
Progress = Ended | Open | Literal["reused", "asked", "new"]


def how_far(
    rows: Sequence[Recorded],
    *,
    account_id: UUID,
    action_type: str,
    fingerprint: str,
    confirmed: bool,
) -> Progress:
    """How far an action got, by its rows in the ledger. The rest names the request, whose word
    a person gave if it is `confirmed`."""
    if not all(
        row.account_id == account_id
        and row.action_type == action_type
        and row.payload.get("request", fingerprint) == fingerprint
        for row in rows
        if row.decision_reason != "action_id_reused"  # remarks about requests like this one
    ):
        return "reused"
    last = last_word(rows)
    if last is not None and is_final(last):
        return Ended(last)
    if last is not None and last.phase == "attempt":
        return Open(last)
    asked = any(row.status == "waiting" and row.decision_reason != "held" for row in rows)
    return "asked" if asked and not confirmed else "new"


def was_held(rows: Sequence[Recorded]) -> bool:
    return any(row.decision_reason == "held" for row in rows)


def last_word(phases: Sequence[Recorded]) -> Recorded | None:
    """The phase that says how far the action got; None when nothing was tried yet."""
    return next(
        (
            phase
            for phase in reversed(phases)
            if phase.phase in ("attempt", "outcome", "blocked") or phase.status == "denied"
        ),
        None,
    )


def is_final(phase: Recorded) -> bool:
    return phase.phase != "attempt" and phase.decision_reason != INTERRUPTED


def why_not_undoable(last: Recorded | None) -> str:
    """Why an action cannot be undone, by its last word; empty: it can."""
    if last is None or last.phase != "outcome" or last.status != "succeeded":
        return "nothing_to_undo"
    return "" if last.payload.get("inverse") else "cannot_be_undone"
