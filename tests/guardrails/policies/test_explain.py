"""A policy in words: never better than the truth."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from guardrails.contracts import Origin
from guardrails.decide.conditions import vocabulary as conditions
from guardrails.decide.snapshot import Limit, Mode, PolicySnapshot, Switch
from guardrails.policies import explain
from guardrails.policies.explain import Effective, may_ever
from tests.guardrails.decide.test_policy_ceiling import limit, limits
from tests.guardrails.decide.test_policy_properties import (
    ARGUMENTS,
    ORDER,
    action_types,
    origins,
    policies,
)
from tests.guardrails.values import (
    ADA,
    NOW,
    STRANGER,
    allow,
    decide,
    facts,
    list_target,
    policy_of,
    request,
)

SEND = {"to": [ADA], "subject": "Hello", "body": "Text."}


def effective(policy: PolicySnapshot, action_type: str, source: str = "gmail") -> Effective:
    return next(one for one in explain.effective(policy, source) if one.action_type == action_type)


def reach(policy: PolicySnapshot, value: str, action_type: str = "send_email") -> dict[str, Any]:
    return {
        one.role: (one.verdict, one.sentence)
        for one in may_ever(policy, "gmail", value, now=NOW)
        if one.action_type == action_type
    }


@given(action_types, policies(), st.lists(limits, max_size=2), origins)
def test_what_is_said_is_never_stricter_than_what_is_decided(
    action_type: str, policy: PolicySnapshot, some: list[Any], origin: Origin
) -> None:
    policy = replace(policy, ceiling=tuple(some))
    wish = request(action_type, ARGUMENTS[action_type], origin)
    decision = decide(request=wish, policy=policy, facts=facts(), now=NOW)
    said = effective(policy, action_type, wish.account.source)
    assert ORDER[decision.verdict] <= ORDER[said.verdict]


@given(policies(), st.lists(limits, max_size=2), origins, st.sampled_from(["send_email", "draft"]))
def test_whom_it_may_never_mail_it_never_mails(
    policy: PolicySnapshot, some: list[Any], origin: Origin, action_type: str
) -> None:
    policy = replace(policy, ceiling=tuple(some))
    wish = request(action_type, ARGUMENTS[action_type], origin)
    decision = decide(request=wish, policy=policy, facts=facts(), now=NOW)
    assert ORDER[decision.verdict] <= ORDER[reach(policy, ADA, action_type)["to"][0]]


@pytest.mark.parametrize(
    ("policy", "verdict", "strictest"),
    [
        (policy_of(), "refuse", "No operator has permitted it."),
        (
            policy_of(allow("archive", enabled=False)),
            "refuse",
            "The action is switched off.",
        ),
        (policy_of(allow("archive", "never")), "refuse", "The policy says never."),
        (policy_of(allow("archive", "ask")), "ask", "The allowed action says so."),
        (policy_of(allow("archive")), "allow", "The allowed action says so."),
        (
            policy_of(allow("archive"), paused=True),
            "refuse",
            "The account or its organisation is paused.",
        ),
        (
            replace(policy_of(allow("archive")), ceiling=(limit("never"),)),
            "refuse",
            "The organisation's ceiling forbids it.",
        ),
        (
            replace(policy_of(allow("archive", "ask")), ceiling=(limit("ask"),)),
            "ask",
            "The organisation's ceiling asks.",
        ),
        (
            replace(policy_of(allow("archive")), switches=(Switch(id="1", why="A wave"),)),
            "refuse",
            "A switch: “A wave”.",
        ),
        (
            policy_of(allow("archive", "auto", {"kind": "invented"})),
            "refuse",
            "A condition cannot be read, so it refuses everything.",
        ),
        (
            policy_of(allow("archive", "auto", {"kind": "notice", "min_hours": 2})),
            "refuse",
            "“the event starts at least 2 hours from now” can never hold: it is about when an "
            "event starts.",
        ),
        (
            replace(
                policy_of(allow("archive", "auto", {"kind": "sender", "domains": ["a.com"]})),
                ceiling=(limit("auto", {"kind": "sender", "domains": ["b.com"]}),),
            ),
            "refuse",
            "“the mail is from somebody at a.com” and “the mail is from somebody at b.com” "
            "exclude each other, so it refuses everything.",
        ),
    ],
)
def test_the_strictest_contributor_is_named(
    policy: PolicySnapshot, verdict: str, strictest: str
) -> None:
    said = effective(policy, "archive")
    assert (said.verdict, said.strictest) == (verdict, strictest)


def test_an_action_without_any_target_is_refused() -> None:
    assert (
        effective(policy_of(allow("send_email")), "send_email").strictest == "No target is listed."
    )


def test_conditions_are_put_in_words() -> None:
    policy = policy_of(
        allow("archive", "auto", {"kind": "sender", "domains": ["company.com", "x.com"]})
    )
    policy = replace(policy, ceiling=(limit("auto", {"kind": "business_hours", "zone": "UTC"}),))
    assert effective(policy, "archive").sentence == (
        "Done without asking, only if the mail is from somebody at company.com or x.com; "
        "it is Mon to Fri, 09:00 to 17:00 in UTC."
    )


def test_a_condition_that_cannot_be_read_is_named_as_such() -> None:
    (unreadable,) = conditions.read_all([{"kind": "invented"}])
    assert explain.in_words(unreadable) == "a condition that cannot be read holds"


def test_a_listed_address_may_be_mailed_and_copied_blind() -> None:
    policy = policy_of(allow("send_email"), list_target("send_email", "recipient", ADA))
    found = reach(policy, ADA)
    assert {role: verdict for role, (verdict, _) in found.items()} == {
        "to": "allow",
        "cc": "allow",
        "bcc": "allow",
    }
    assert reach(policy, STRANGER)["to"] == ("refuse", "Refused. It is not listed.")


def test_a_listed_domain_never_means_a_blind_copy() -> None:
    policy = policy_of(
        allow("send_email"), list_target("send_email", "recipient_domain", "client.com")
    )
    found = reach(policy, ADA)
    assert found["to"][0] == "allow"
    assert "unless the user types" in found["to"][1]
    assert found["bcc"] == ("refuse", "Refused. It is not listed.")


def test_a_condition_about_receivers_can_rule_one_out() -> None:
    only_company = {"kind": "recipient_domain", "domains": ["company.com"]}
    policy = policy_of(
        allow("send_email", "auto", only_company),
        list_target("send_email", "recipient", ADA),
    )
    assert reach(policy, ADA)["to"][0] == "refuse"


def test_a_draft_may_address_the_participants_of_its_thread() -> None:
    assert reach(policy_of(allow("draft", agent_text=False)), ADA, "draft")["to"] == (
        "allow",
        "Only inside a thread in which it takes part. Done without asking.",
    )


def test_ids_are_looked_for_among_labels_and_not_among_people() -> None:
    policy = policy_of(allow("classify"), list_target("classify", "label", "label_fyi"))
    assert reach(policy, "label_fyi", "classify")["label"][0] == "allow"
    assert reach(policy, "FYI", "classify")["label"][0] == "refuse"
    assert reach(policy, "Ada <ada@client.com>") == {}


def test_who_belongs_and_what_is_cancelled_unasked_is_said() -> None:
    belongs = {"kind": "recipient", "relation": ["belongs"], "novel": "forbid"}
    removing = {"kind": "removing", "unasked": "own"}
    policy = policy_of(allow("cancel_calendar_event", "auto", belongs, removing))
    [found] = [
        one
        for one in explain.effective(policy, "calendar")
        if one.action_type == "cancel_calendar_event"
    ]
    assert found.sentence == (
        "Done without asking, only if every receiver is somebody whom the organisation let into "
        "the user's own event, document or thread; it is the user's own, named, at most "
        "colleagues' too and can be taken back, or a person is asked."
    )


def test_a_held_send_is_named() -> None:
    policy = replace(
        policy_of(allow("archive", hold_seconds=60)),
        ceiling=(Limit(id="1", action_type="", mode="auto", hold_seconds=300),),
    )
    archive = next(one for one in explain.effective(policy, "gmail") if one.verdict == "allow")
    assert archive.sentence == (
        "Done without asking. Held for 5 minutes first, "
        "where it reaches others or destroys something."
    )


@pytest.mark.parametrize("whose", ["allowed_action", "ceiling"])
def test_draft_only_is_a_refusal_that_says_so(whose: str) -> None:
    mode: Mode = "draft_only" if whose == "allowed_action" else "auto"
    draft_only = (Limit(id="1", action_type="send_email", mode="draft_only"),)
    policy = policy_of(
        allow("send_email", mode),
        list_target("send_email", "recipient", "ada@client.com"),
    )
    policy = replace(policy, ceiling=draft_only if whose == "ceiling" else ())
    send = next(
        one for one in explain.effective(policy, "gmail") if one.action_type == "send_email"
    )
    assert send.verdict == "refuse"
    assert "drafts only" in send.strictest
