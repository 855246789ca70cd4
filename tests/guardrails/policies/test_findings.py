"""What contradicts itself, never counts or limits nothing is found; what is sound is not."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from guardrails.decide.snapshot import AllowedAction, Limit, ListedTarget, Mode, PolicySnapshot
from guardrails.policies.findings import findings
from tests.guardrails.decide.test_policy_ceiling import limit, limits
from tests.guardrails.decide.test_policy_properties import (
    ARGUMENTS,
    TARGETS,
    action_types,
    origins,
    policies,
)
from tests.guardrails.kinds import any_condition
from tests.guardrails.values import (
    ADA,
    NOW,
    allow,
    decide,
    facts,
    list_target,
    policy_of,
    request,
)

DOMAIN = {"kind": "recipient_domain", "domains": ["client.com"]}
OTHER_DOMAIN = {"kind": "recipient_domain", "domains": ["other.com"]}
LISTED = list_target("send_email", "recipient", ADA)


def told(*rows: AllowedAction | ListedTarget, ceiling: tuple[Limit, ...] = ()) -> list[str]:
    policy = replace(policy_of(*rows), ceiling=ceiling)
    return [f"{one.severity} {one.sentence}" for one in findings(policy, "gmail")]


def conditions_told(action_type: str, *raw: dict[str, Any]) -> list[str]:
    listed = [LISTED] if action_type == "send_email" else []
    return told(allow(action_type, "auto", *raw), *listed)


def test_a_sound_policy_has_no_findings() -> None:
    rows = (
        allow("send_email", "ask", DOMAIN, {"kind": "max_recipients", "max": 3}),
        allow("archive", "auto", {"kind": "sender_authenticated"}),
        allow("classify", "never"),
        LISTED,
    )
    assert told(*rows, ceiling=(limit("ask", action_type="send_email"),)) == []
    assert told() == []


@pytest.mark.parametrize(
    ("action_type", "one", "other"),
    [
        ("send_email", DOMAIN, OTHER_DOMAIN),
        ("archive", {"kind": "first_contact"}, {"kind": "first_contact", "first_contact": False}),
        (
            "archive",
            {"kind": "first_contact"},
            {"kind": "sender_relation", "any_of": ["corresponded", "self"]},
        ),
        (
            "archive",
            {"kind": "sender", "addresses": ["a@b.com"]},
            {"kind": "sender", "domains": ["c.com"]},
        ),
        (
            "archive",
            {"kind": "trigger", "any_of": ["chat"]},
            {"kind": "trigger", "any_of": ["webhook"]},
        ),
        ("archive", {"kind": "labels", "carries": ["X"]}, {"kind": "labels", "lacks": ["X", "Y"]}),
        ("archive", {"kind": "subject", "equals": ["a"]}, {"kind": "subject", "equals": ["b"]}),
        ("archive", {"kind": "subject", "equals": ["a b"]}, {"kind": "subject", "words": ["c"]}),
        ("archive", {"kind": "age", "min_hours": 5}, {"kind": "age", "max_hours": 4}),
        (
            "send_email",
            {"kind": "number", "field": "to", "min": 5},
            {"kind": "number", "field": "to", "max": 4},
        ),
        (
            "archive",
            {"kind": "business_hours", "zone": "UTC", "end": "12:00"},
            {"kind": "business_hours", "zone": "UTC", "start": "12:00"},
        ),
        (
            "archive",
            {"kind": "business_hours", "zone": "UTC", "days": ["mon"]},
            {"kind": "business_hours", "zone": "UTC", "days": ["sun"]},
        ),
    ],
)
def test_conditions_that_exclude_each_other(
    action_type: str, one: dict[str, Any], other: dict[str, Any]
) -> None:
    for pair in ((one, other), (other, one)):
        found = conditions_told(action_type, *pair)[0]
        assert found.startswith("error “")
        assert found.endswith("exclude each other, so it refuses everything.")


@pytest.mark.parametrize(
    ("action_type", "one", "other"),
    [
        (
            "archive",
            {"kind": "sender", "domains": ["b.com"]},
            {"kind": "sender", "addresses": ["a@b.com"]},
        ),
        (
            "archive",
            {"kind": "trigger", "any_of": ["chat", "webhook"]},
            {"kind": "trigger", "any_of": ["chat"]},
        ),
        ("archive", {"kind": "thread", "min_messages": 2}, {"kind": "thread", "min_messages": 3}),
        ("archive", {"kind": "sender_exists"}, {"kind": "sender_relation", "any_of": ["self"]}),
        (
            "archive",
            {"kind": "sender_authenticated"},
            {"kind": "sender_relation", "any_of": ["self"]},
        ),
        ("send_email", {"kind": "max_recipients", "max": 3}, {"kind": "max_recipients", "max": 2}),
        ("send_email", {"kind": "max_chars", "max": 3}, {"kind": "max_chars", "max": 2}),
        ("send_email", {"kind": "links"}, {"kind": "links", "links": "none"}),
        ("send_email", {"kind": "secrets", "forbid": ["iban"]}, {"kind": "secrets"}),
        (
            "send_email",
            {"kind": "rate", "max": 9, "per": "hour"},
            {"kind": "rate", "max": 2, "per": "hour"},
        ),
        (
            "archive",
            {"kind": "age", "max_hours": 9},
            {"kind": "age", "min_hours": 1, "max_hours": 9},
        ),
        (
            "archive",
            {"kind": "business_hours", "zone": "UTC"},
            {"kind": "business_hours", "zone": "UTC", "start": "10:00", "days": ["mon"]},
        ),
    ],
)
def test_a_condition_that_another_one_implies_has_no_effect(
    action_type: str, one: dict[str, Any], other: dict[str, Any]
) -> None:
    for pair in ((one, other), (other, one)):
        (found,) = conditions_told(action_type, *pair)
        assert found.startswith("warning “")
        assert " has no effect beside “" in found


def test_what_differs_is_no_repetition() -> None:
    for other in (
        {"kind": "rate", "max": 2, "per": "day"},
        {"kind": "business_hours", "zone": "Asia/Tokyo"},
        {"kind": "trigger", "any_of": ["chat"]},
    ):
        first = {"kind": "rate", "max": 9, "per": "hour"}
        zone = {"kind": "business_hours", "zone": "UTC"}
        assert conditions_told("archive", first, zone, other) == []


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (
            [{"kind": "first_contact"}, {"kind": "thread"}],
            "warning “the sender is a stranger: the user never wrote to them” and “the mail's "
            "thread has at least 2 mails” hold together only where a stranger joins a thread of "
            "others.",
        ),
        (
            [{"kind": "sender_authenticated"}] * 2,
            "warning “the mail provably comes from its sender's domain (DMARC)” is there twice.",
        ),
        (
            [
                {
                    "kind": "trigger",
                    "any_of": ["chat", "webhook", "pattern", "schedule", "operator", "mcp"],
                }
            ],
            "warning “a person in the chat, an inbound item, a learned pattern, a schedule, an "
            "operator or another agent over MCP set it off” always holds, so it limits nothing.",
        ),
        (
            [{"kind": "notice", "min_hours": 24}],
            "error “the event starts at least 24 hours from now” can never hold: it is about "
            "when an event starts.",
        ),
        ([{"kind": "invented"}], "error A condition cannot be read, so it refuses everything."),
    ],
)
def test_conditions_by_themselves(raw: list[dict[str, Any]], sentence: str) -> None:
    assert conditions_told("archive", *raw) == [sentence]


def test_no_mail_sets_off_what_is_for_people_s_requests() -> None:
    raw = {"kind": "trigger", "any_of": ["webhook", "pattern"]}
    forward = list_target("forward_email", "recipient", ADA)
    assert told(allow("forward_email", "auto", raw, {"kind": "named"}), forward) == [
        "error “an inbound item or a learned pattern set it off” can never hold: no mail sets "
        "this action off."
    ]
    assert told(allow("archive", "auto", raw)) == []


def test_a_general_allowed_action_that_a_special_one_beats() -> None:
    special = allow("archive", "never", id="special", resource_type="email")
    assert told(allow("archive"), special) == [
        "warning It never counts: the allowed action for “email” alone beats it."
    ]


def test_what_the_ceiling_leaves_nothing_of() -> None:
    assert told(allow("archive"), ceiling=(limit("never"),)) == [
        "error It grants nothing: the organisation's ceiling forbids this action."
    ]
    assert told(allow("archive"), ceiling=(limit("ask", action_type="archive"),)) == [
        "warning It is not automatic: the organisation's ceiling has a person asked each time."
    ]
    assert told(allow("archive", "ask"), ceiling=(limit("ask"),)) == []
    ceiling = (limit("auto", OTHER_DOMAIN, action_type="send_email"),)
    assert told(allow("send_email", "auto", DOMAIN), LISTED, ceiling=ceiling) == [
        "error It grants nothing: “every receiver is at client.com” and the ceiling's “every "
        "receiver is at other.com” exclude each other.",
        "warning It is never reached: only if every receiver is at other.com.",
    ]


def test_a_ceiling_limit_that_another_one_makes_needless() -> None:
    both = (limit("ask", id="1", action_type="archive"), limit("never", id="2"))
    assert told(ceiling=both) == ["warning It has no effect: another limit forbids it anyway."]
    assert told(ceiling=(limit("never", id="1"), limit("never", id="2"))) == [
        "warning It has no effect: another limit forbids it anyway."
    ]
    assert told(ceiling=(limit("never", id="1", action_type="archive"), limit("ask", id="2"))) == []


def test_targets_that_nothing_uses_and_allowed_actions_without_targets() -> None:
    label = list_target("classify", "label", "label_fyi")
    assert told(label) == ["warning It has no effect: the action is not permitted."]
    assert told(label, allow("classify", "never")) == [
        "warning It has no effect: the policy says never."
    ]
    assert told(allow("classify")) == ["error It permits nothing: no label is listed."]
    assert told(label, allow("classify")) == []
    assert told(LISTED, allow("send_email", "auto", OTHER_DOMAIN)) == [
        "warning It is never reached: only if every receiver is at other.com."
    ]


def test_what_opens_has_an_effect_except_in_the_ceiling() -> None:
    text = {"kind": "text", "written_by": "anyone"}
    opening = {"kind": "recipient", "relation": ["corresponded"]}
    assert told(allow("send_email", "auto", opening, text, agent_text=False)) == []
    assert told(ceiling=(limit("ask", text, action_type="send_email"),)) == [
        "warning “text, times and numbers are the user's or the agent's own” always holds, so it "
        "limits nothing."
    ]


def test_a_group_of_one() -> None:
    alone = list_target("classify", "label", "label_fyi", group_id="g", single=True)
    other = list_target("classify", "label", "label_to_reply", group_id="g", single=True)
    sentence = "warning It is alone in its one-at-a-time group, so setting it takes nothing off."
    assert told(allow("classify"), alone) == [sentence]
    assert told(allow("classify"), alone, other) == []
    assert told(allow("classify"), alone._replace(single=False)) == []


def test_findings_name_their_rows() -> None:
    (found,) = findings(policy_of(allow("classify", "ask")), "gmail")
    assert (found.about, found.action_type, found.ids) == (
        "Label a mail · ask a person",
        "classify",
        ("rule-classify",),
    )
    assert str(found) == "Label a mail · ask a person: It permits nothing: no label is listed."


@example(
    # A mail is put away without a word, so no word can be the user's.
    "archive",
    policy_of(allow("archive", "auto", {"kind": "text", "written_by": "user"})),
    [],
    request("archive", ARGUMENTS["archive"]).origin,
    facts(),
)
@given(
    action_types,
    policies(),
    st.lists(limits, max_size=2, unique_by=lambda one: one.id),
    origins,
    st.sampled_from([facts(), facts(correspondence=None)]),
)
def test_an_allowed_action_with_an_error_of_its_own_allows_nothing(
    action_type: str, policy: PolicySnapshot, some: list[Limit], origin: Any, read: Any
) -> None:
    policy = replace(policy, ceiling=tuple(some))
    wish = request(action_type, ARGUMENTS[action_type], origin)
    decision = decide(request=wish, policy=policy, facts=read, now=NOW)
    wrong = {
        key
        for one in findings(policy, wish.account.source)
        if one.severity == "error"
        for key in one.ids
    }
    assert decision.rule_id not in wrong or decision.verdict == "refuse"


@given(policies(), st.lists(limits, max_size=2, unique_by=lambda one: one.id), st.data())
def test_the_order_of_rows_means_nothing_to_findings(
    policy: PolicySnapshot, some: list[Limit], data: st.DataObject
) -> None:
    policy = replace(policy, ceiling=tuple(some))
    shuffled = replace(
        policy,
        allowed_actions=tuple(data.draw(st.permutations(policy.allowed_actions))),
        listed_targets=tuple(data.draw(st.permutations(policy.listed_targets))),
        ceiling=tuple(data.draw(st.permutations(policy.ceiling))),
    )
    assert findings(shuffled, "gmail") == findings(policy, "gmail")


@given(st.lists(any_condition, max_size=4), action_types)
def test_what_has_no_effect_can_be_left_out(raw: list[dict[str, Any]], action_type: str) -> None:
    """A condition that is said to have no effect never decides anything."""
    wish = request(action_type, ARGUMENTS[action_type])
    one_allowed_action = allow(action_type, "auto", *raw)
    policy = policy_of(one_allowed_action, *TARGETS)
    needless = [
        one
        for one in one_allowed_action.conditions
        if f"“{one.sentence}” always holds, so it limits nothing."
        in [found.sentence for found in findings(policy, wish.account.source)]
    ]
    kept = tuple(one for one in one_allowed_action.conditions if one not in needless)
    without = policy_of(replace(one_allowed_action, conditions=kept), *TARGETS)
    before = decide(request=wish, policy=policy, facts=facts(), now=NOW)
    assert decide(request=wish, policy=without, facts=facts(), now=NOW).verdict == before.verdict


def test_what_leans_on_receivers_alone_is_named() -> None:
    place, named = {"kind": "place", "places": ["drive_clients"]}, {"kind": "named"}
    target = list_target("share_document", "recipient", "ada@client.com", source="gdrive")

    def leaning(*raw: dict[str, Any], mode: Mode = "auto") -> list[str]:
        policy = policy_of(allow("share_document", mode, *raw), target)
        return [one.sentence for one in findings(policy, "gdrive") if "about receivers" in str(one)]

    assert len(leaning()) == 1
    assert len(leaning({"kind": "max_recipients", "max": 1})) == 1
    assert leaning(place) == leaning(named) == leaning(mode="ask") == []
