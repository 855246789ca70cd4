"""The organisation's ceiling and the switches in the pure decision."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from guardrails.actions import registry
from guardrails.contracts import Decision, Origin
from guardrails.decide.conditions import vocabulary as conditions
from guardrails.decide.evidence import policy_of as read_snapshot
from guardrails.decide.policy import needs
from guardrails.decide.snapshot import Limit, Mode, PolicySnapshot, Switch
from tests.guardrails.decide.test_policy_properties import (
    ARGUMENTS,
    CONDITIONS,
    ORDER,
    action_types,
    modes,
    origins,
    policies,
)
from tests.guardrails.values import (
    NOW,
    allow,
    chat,
    decide,
    facts,
    list_target,
    policy_of,
    request,
)

ARCHIVE = {"email_id": "mail-1"}


def limit(mode: Mode, *raw: dict[str, Any], action_type: str = "", id: str = "limit") -> Limit:
    return Limit(
        id=id, action_type=action_type, mode=mode, conditions=conditions.read_all(list(raw))
    )


def decided(action_type: str, policy: PolicySnapshot, origin: Origin | None = None) -> Decision:
    wish = request(action_type, ARGUMENTS[action_type], origin or chat())
    return decide(request=wish, policy=policy, facts=facts(), now=NOW)


def under(*limits: Limit) -> PolicySnapshot:
    return replace(policy_of(allow("archive")), ceiling=limits)


limits = st.builds(
    lambda action, mode, raw, number: limit(mode, *raw, action_type=action, id=f"limit-{number}"),
    st.sampled_from(["", *sorted(ARGUMENTS)]),
    modes,
    st.lists(CONDITIONS, max_size=2),
    st.integers(0, 9),
)


@given(action_types, policies(), origins, st.lists(limits, max_size=3), limits)
def test_a_ceiling_never_widens(
    action_type: str, policy: PolicySnapshot, origin: Origin, some: list[Limit], another: Limit
) -> None:
    few = replace(policy, ceiling=tuple(some))
    more = replace(policy, ceiling=(*some, another))

    verdicts = [decided(action_type, one, origin).verdict for one in (policy, few, more)]

    assert sorted(verdicts, key=ORDER.__getitem__, reverse=True) == verdicts


@given(action_types, policies(), origins, st.lists(limits, max_size=3), st.data())
def test_the_order_of_limits_means_nothing(
    action_type: str,
    policy: PolicySnapshot,
    origin: Origin,
    some: list[Limit],
    data: st.DataObject,
) -> None:
    one = replace(policy, ceiling=tuple(some))
    other = replace(policy, ceiling=tuple(data.draw(st.permutations(some))))
    assert decided(action_type, one, origin).verdict == decided(action_type, other, origin).verdict
    assert one.digest == other.digest


@pytest.mark.parametrize("action_type", ["", "archive"])
def test_what_the_organisation_forbids_no_account_permits(action_type: str) -> None:
    decision = decided("archive", under(limit("never", action_type=action_type)))
    assert (decision.verdict, decision.reason) == ("refuse", "forbidden_by_ceiling")


def test_a_limit_of_another_action_means_nothing() -> None:
    assert decided("archive", under(limit("never", action_type="draft"))).verdict == "allow"


def test_at_most_ask_makes_an_automatic_allowed_action_ask() -> None:
    decision = decided("archive", under(limit("ask")))
    assert (decision.verdict, decision.reason) == ("ask", "needs_approval")
    assert decision.sentence.endswith("The organisation's ceiling says so.")


def test_the_conditions_of_a_limit_must_hold_besides() -> None:
    night = limit(
        "auto", {"kind": "business_hours", "zone": "UTC", "start": "18:00", "end": "20:00"}
    )
    day = limit("auto", {"kind": "business_hours", "zone": "UTC"})
    assert decided("archive", under(night)).reason == "above_ceiling"
    assert decided("archive", under(day)).verdict == "allow"


def test_a_condition_nobody_understands_holds_for_nobody() -> None:
    assert decided("archive", under(limit("auto", {"kind": "invented"}))).reason == "above_ceiling"


def test_the_facts_that_a_limit_needs_are_read() -> None:
    policy = under(limit("auto", {"kind": "thread"}, action_type="archive"))
    assert needs(registry.BY_NAME["archive"], policy) == {"alert", "email", "thread"}


@pytest.mark.parametrize(
    ("switch", "stopped"),
    [
        (Switch(id="1"), True),
        (Switch(id="1", action_type="archive"), True),
        (Switch(id="1", source="gmail"), True),
        (Switch(id="1", action_type="draft"), False),
        (Switch(id="1", source="jira"), False),
        (Switch(id="1", action_type="archive", source="jira"), False),
    ],
)
def test_a_switch_stops_what_it_names(switch: Switch, stopped: bool) -> None:
    decision = decided("archive", replace(policy_of(allow("archive")), switches=(switch,)))
    assert (decision.reason == "switched_off") == stopped


def test_a_switch_is_the_first_thing_and_says_why() -> None:
    switch = Switch(id="1", why="A phishing\u200b wave")
    decision = decided("send_email", replace(policy_of(paused=True), switches=(switch,)))
    assert decision.sentence == (
        "An operator stopped this with a switch. “A phishing⟨U+200B⟩ wave”"
    )
    assert [check.name for check in decision.checks] == ["switches"]


def test_ceiling_and_switches_are_part_of_the_digest() -> None:
    plain = policy_of(allow("archive"))
    stopped = replace(plain, switches=(Switch(id="1"),))
    assert len({plain.digest, stopped.digest, under(limit("ask")).digest}) == 3


SEND = {"to": ["ada@client.com"], "subject": "Hello", "body": "Hello."}


def sending(mode: Mode = "auto", *limits: Limit, hold_seconds: int = 0) -> Decision:
    policy = replace(
        policy_of(
            allow("send_email", mode, hold_seconds=hold_seconds),
            list_target("send_email", "recipient", "ada@client.com"),
        ),
        ceiling=limits,
    )
    return decide(request=request("send_email", SEND), policy=policy, facts=facts(), now=NOW)


@pytest.mark.parametrize(
    "decision",
    [sending("draft_only"), sending("auto", limit("draft_only", action_type="send_email"))],
    ids=["allowed_action", "ceiling"],
)
def test_what_may_only_be_drafted_is_refused_and_says_what_to_do(decision: Decision) -> None:
    assert (decision.verdict, decision.reason) == ("refuse", "draft_only")
    assert decision.sentence.startswith(
        "Nothing may be sent. A mail may be drafted, and the user sends it."
    )


def test_never_is_stricter_than_draft_only() -> None:
    decision = sending("draft_only", limit("never"))
    assert decision.reason == "forbidden_by_ceiling"


def test_the_strictest_hold_is_the_longest() -> None:
    held = replace(limit("ask"), hold_seconds=90), replace(limit("auto"), hold_seconds=3600)
    decision = sending("auto", *held, hold_seconds=60)
    assert (decision.verdict, decision.hold_seconds) == ("ask", 3600)
    assert decision.sentence.endswith(" It is held for 1 hour first.")
    assert sending(hold_seconds=90).sentence.endswith(" It is held for 90 seconds first.")
    assert sending().hold_seconds == 0


def test_a_policy_without_holds_keeps_the_digest_it_had_before_there_were_any() -> None:
    content = under(limit("ask")).content()
    assert not any("hold_seconds" in row for row in (*content["rules"], *content["ceiling"]))
    again = read_snapshot(content)
    assert again.allowed_actions[0].hold_seconds == 0
    held = policy_of(allow("archive", hold_seconds=5))
    assert held.digest != policy_of(allow("archive")).digest
    assert read_snapshot(held.content()).digest == held.digest
