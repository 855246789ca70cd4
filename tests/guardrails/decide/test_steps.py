"""What comes next for an action, step by step and in its order."""

from datetime import timedelta
from typing import Any

import pytest

from guardrails.contracts import Decision
from guardrails.decide.checks.stopping import Stops, why_stopped
from guardrails.decide.steps import PATIENCE, Step, next_step
from tests.guardrails.values import NOW

ALLOW = Decision(verdict="allow", reason="allowed", sentence="", checks=(), policy_digest="")
ASK = ALLOW._replace(verdict="ask", reason="needs_approval")
REFUSE = ALLOW._replace(verdict="refuse", reason="target_not_listed")
AWAY = ALLOW._replace(verdict="refuse", reason="facts_unavailable")
HELD = ALLOW._replace(hold_seconds=60)
DUE = {"held_until": NOW - timedelta(minutes=1)}
NOTHING: dict[str, Any] = {
    "already_so": False,
    "digest": "d",
    "confirmed": None,
    "held_until": None,
    "now": NOW,
}


@pytest.mark.parametrize(
    ("decision", "given", "step", "reason"),
    [
        (ALLOW, {}, "perform", "allowed"),
        (ASK, {}, "ask", "needs_approval"),
        (ASK, {"confirmed": "d"}, "perform", "needs_approval"),
        (ASK, {"confirmed": "another"}, "refuse", "changed_since_asked"),
        (ALLOW, {"confirmed": "another"}, "refuse", "changed_since_asked"),
        (ALLOW, {"already_so": True}, "close", "allowed"),
        (ASK, {"already_so": True}, "close", "needs_approval"),
        (REFUSE, {"already_so": True}, "refuse", "target_not_listed"),
        (REFUSE, {"confirmed": "d"}, "refuse", "target_not_listed"),
        (HELD, {}, "hold", "allowed"),
        (HELD, {"confirmed": "d"}, "hold", "allowed"),
        (HELD, {"already_so": True}, "close", "allowed"),
        (HELD, DUE, "perform", "allowed"),
        (HELD, DUE | {"changed": True}, "ask", "changed_while_held"),
        (ASK, DUE | {"changed": True}, "ask", "changed_while_held"),
        (HELD, DUE | {"changed": True, "may_ask": False}, "refuse", "changed_while_held"),
        (HELD, DUE | {"changed": True, "confirmed": "d"}, "perform", "allowed"),
        (HELD, DUE | {"changed": True, "confirmed": "x"}, "refuse", "changed_since_asked"),
        (HELD, DUE | {"changed": True, "already_so": True}, "close", "allowed"),
        (REFUSE, DUE | {"changed": True}, "refuse", "target_not_listed"),
        (AWAY, DUE | {"changed": True}, "wait", "facts_unavailable"),
        (REFUSE, DUE, "refuse", "target_not_listed"),
        (AWAY, {}, "refuse", "facts_unavailable"),
        (AWAY, DUE, "wait", "facts_unavailable"),
        (AWAY, {"held_until": NOW - PATIENCE}, "wait", "facts_unavailable"),
        (
            AWAY,
            {"held_until": NOW - PATIENCE - timedelta(seconds=1)},
            "refuse",
            "facts_unavailable",
        ),
    ],
)
def test_every_decision_has_one_step(
    decision: Decision, given: dict[str, Any], step: Step, reason: str
) -> None:
    found = next_step(decision, **(NOTHING | given))

    assert (found[0], found[1].reason) == (step, reason)
    assert (found[1].verdict == "refuse") == (step in ("refuse", "wait"))


CALM = Stops(switched_off=False, paused=False, mode="auto")


@pytest.mark.parametrize(
    ("stops", "agent", "person"),
    [
        (CALM, "", ""),
        (CALM._replace(mode="ask"), "", ""),
        (CALM._replace(switched_off=True, paused=True), "switched_off", "switched_off"),
        (CALM._replace(paused=True), "paused", "paused"),
        (CALM._replace(mode=None), "paused", ""),
        (CALM._replace(mode="draft_only"), "paused", ""),
        (CALM._replace(mode="never"), "paused", ""),
        (CALM._replace(limits=frozenset({"ask", "auto"})), "", ""),
        (CALM._replace(limits=frozenset({"draft_only"})), "paused", ""),
        (CALM._replace(limits=frozenset({"never"})), "paused", "paused"),
    ],
)
def test_what_stops_an_action_right_before_the_call(stops: Stops, agent: str, person: str) -> None:
    assert why_stopped(stops, undoes=False) == agent
    assert why_stopped(stops, undoes=True) == person
