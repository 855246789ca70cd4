"""Each condition says yes for one reason, and no for every other and for want of facts."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from guardrails.actions import registry
from guardrails.actions.mail.messages import receivers
from guardrails.contracts import Trigger
from guardrails.decide.conditions import vocabulary as conditions
from guardrails.decide.conditions.base import Context
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import Phrase
from guardrails.facts.targets import Role, Target
from integrations.contracts import Authentication
from integrations.contracts.people import Correspondence
from tests.guardrails.kinds import STRATEGIES
from tests.guardrails.lines import HOLE, on_cards
from tests.guardrails.values import NOW, email, facts

TRANSLATED = on_cards()


def to(*addresses: str, role: Role = "to") -> tuple[Target, ...]:
    return receivers(role, addresses)


def anything() -> Context:
    return Context(
        action=registry.BY_NAME["send_email"],
        targets=to("a@b.com"),
        trigger="chat",
        facts=facts(),
        now=NOW,
    )


def is_met(
    raw: dict[str, Any],
    found: Facts | None = None,
    *,
    receivers: tuple[str, ...] = (),
    hidden: tuple[str, ...] = (),
    trigger: Trigger = "chat",
    now: datetime = NOW,
    features: tuple[str, ...] = (),
    action: str = "send_email",
) -> bool:
    found = found or facts()
    context = Context(
        action=registry.BY_NAME[action],
        targets=to(*receivers) + to(*hidden, role="bcc"),
        trigger=trigger,
        facts=found,
        strangers=None if found.strangers is None else frozenset(found.strangers),
        now=now,
        features=frozenset(features),
    )
    return conditions.parse(raw).evaluate(context).passed


def met(*strangers: str, sent_readable: bool = True) -> Facts:
    known = Correspondence(
        address="ada@client.com", received=2, sent=0, sent_readable=sent_readable
    )
    return facts(correspondence=known, strangers=strangers)


@pytest.mark.parametrize(
    ("found", "first", "known"),
    [
        (met("ada@client.com"), True, False),
        (met("eve@evil.example"), False, True),
        (met(), False, True),
        (met(sent_readable=False), False, False),
        (facts(strangers=None), False, False),
        (facts(correspondence=None), False, False),
        (facts(email(**{"from": "Ada <ada@client.com>"})), False, False),
        (facts(own_address=""), False, False),
        (Facts(), False, False),
    ],
)
def test_first_contact_in_doubt_holds_for_neither(found: Facts, first: bool, known: bool) -> None:
    assert is_met({"kind": "first_contact"}, found) is first
    assert is_met({"kind": "first_contact", "first_contact": False}, found) is known


def test_thread_counts_the_mails_it_has() -> None:
    three = facts(thread=(email(), email(id="mail-2"), email(id="mail-3")))
    assert is_met({"kind": "thread", "min_messages": 3}, three)
    assert not is_met({"kind": "thread", "min_messages": 4}, three)
    assert not is_met({"kind": "thread"}, facts())
    assert not is_met({"kind": "thread", "min_messages": 1}, facts(thread=None))


@pytest.mark.parametrize(
    ("sender", "expected"),
    [
        ("ada@client.com", True),
        ("ada@CLIENT.com", True),
        ("any@company.com", True),
        ("Ada@client.com", False),
        ("bob@client.com", False),
        ("boss@company.com.evil.com", False),
        ("any@mail.company.com", False),
        ("any@notcompany.com", False),
        ('"any@company.com" <mallory@evil.example>', False),
        ("any@xn--company.com", False),
        ("", False),
    ],
)
def test_sender_is_compared_whole(sender: str, expected: bool) -> None:
    raw = {"kind": "sender", "addresses": ["ada@client.com"], "domains": ["company.com"]}
    assert is_met(raw, facts(email(**{"from": sender}))) is expected


@pytest.mark.parametrize(
    ("sender", "expected"),
    [
        ("ada@client.com", False),
        ("Ada@CLIENT.com", False),
        ("any@company.com", False),
        ("any@mail.company.com", False),
        ("", False),
        ("Ada <ada@other.com>", False),
        ("bob@client.com", True),
        ("any@notcompany.com", True),
    ],
)
def test_whom_a_rule_leaves_out_is_left_out_in_any_case_and_below(
    sender: str, expected: bool
) -> None:
    raw = {"kind": "not_sender", "addresses": ["ada@client.com"], "domains": ["company.com"]}
    assert is_met(raw, facts(email(**{"from": sender}))) is expected


def test_only_and_all_but_the_same_senders_contradict_each_other() -> None:
    but = conditions.parse(
        {"kind": "not_sender", "addresses": ["ada@client.com"], "domains": ["a.com"]}
    )
    inside = conditions.parse(
        {"kind": "sender", "addresses": ["ada@client.com"], "domains": ["x.a.com"]}
    )
    partly = conditions.parse({"kind": "sender", "addresses": ["ada@client.com", "bob@client.com"]})
    narrower = conditions.parse({"kind": "not_sender", "domains": ["x.a.com"]})

    assert but.excludes(inside)
    assert not but.excludes(partly)
    assert but.implies(narrower)
    assert not narrower.implies(but)


@pytest.mark.parametrize(("dmarc", "expected"), [("pass", True), ("fail", False), ("none", False)])
def test_only_a_passed_check_authenticates(dmarc: str, expected: bool) -> None:
    mail = email(authentication=Authentication(spf="pass", dkim="pass", dmarc=dmarc))
    assert is_met({"kind": "sender_authenticated"}, facts(mail)) is expected
    assert not is_met({"kind": "sender_authenticated"}, Facts())


def test_every_receiver_must_be_in_a_permitted_domain() -> None:
    raw = {"kind": "recipient_domain", "domains": ["company.com"]}
    assert is_met(raw, receivers=("a@company.com", "b@company.com"))
    assert not is_met(raw, receivers=("a@company.com", "b@evil.example"))
    assert not is_met(raw, receivers=("a@mail.company.com",))
    assert not is_met(raw, receivers=())


def test_receivers_are_counted() -> None:
    assert is_met({"kind": "max_recipients", "max": 2}, receivers=("a@b.com", "c@b.com"))
    assert not is_met({"kind": "max_recipients", "max": 1}, receivers=("a@b.com", "c@b.com"))
    assert not is_met({"kind": "max_recipients", "max": 5}, receivers=())


def test_a_blind_copy_is_forbidden_or_limits_nothing() -> None:
    assert is_met({"kind": "bcc"}, receivers=("a@b.com",))
    assert not is_met({"kind": "bcc"}, receivers=("a@b.com",), hidden=("c@b.com",))
    assert not is_met({"kind": "bcc"})
    assert is_met({"kind": "bcc", "bcc": "allow"}, hidden=("c@b.com",))


def test_a_feature_must_be_ticked_at_the_account() -> None:
    raw = {"kind": "opt_in", "feature": "auto-drafts"}
    assert is_met(raw, features=("other", "auto-drafts"))
    assert not is_met(raw, features=("auto", "drafts", "auto-drafts-2"))
    assert not is_met(raw)


def test_triggers_are_named() -> None:
    raw = {"kind": "trigger", "any_of": ["chat", "operator"]}
    assert is_met(raw, trigger="chat")
    assert not is_met(raw, trigger="webhook")


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        (datetime(2026, 3, 2, 8, 0, tzinfo=UTC), True),  # 09:00 in winter
        (datetime(2026, 3, 2, 7, 59, tzinfo=UTC), False),
        (datetime(2026, 3, 2, 16, 0, tzinfo=UTC), False),  # 17:00 is the end
        (datetime(2026, 3, 1, 10, 0, tzinfo=UTC), False),  # a Sunday
        (datetime(2026, 3, 30, 7, 0, tzinfo=UTC), True),  # the day after the clocks went on
        (datetime(2026, 3, 27, 7, 0, tzinfo=UTC), False),
        (datetime(2026, 10, 26, 7, 30, tzinfo=UTC), False),  # the day after they went back
        (datetime(2026, 10, 23, 7, 30, tzinfo=UTC), True),
    ],
)
def test_business_hours_follow_the_wall_clock(moment: datetime, expected: bool) -> None:
    assert is_met({"kind": "business_hours", "zone": "Europe/Stockholm"}, now=moment) is expected


@pytest.mark.parametrize(
    ("raw", "named"),
    [
        ({"kind": "no_such_thing"}, "no_such_thing"),
        ({"kind": ["sender"]}, "not a condition"),
        ({}, "None"),
        ("sender", "object"),
        (None, "object"),
        ({"kind": "sender"}, "at least one"),
        ({"kind": "sender", "domains": "company.com"}, "domains"),
        ({"kind": "sender", "domains": ["*.company.com"]}, "domains"),
        ({"kind": "sender", "addresses": ["Ada <ada@company.com>"]}, "addresses"),
        ({"kind": "thread", "min_messages": "2"}, "min_messages"),
        ({"kind": "thread", "min_messages": 0}, "min_messages"),
        ({"kind": "thread", "minimum": 2}, "minimum"),
        ({"kind": "max_recipients"}, "max"),
        ({"kind": "bcc", "bcc": "deny"}, "bcc"),
        ({"kind": "opt_in"}, "feature"),
        ({"kind": "opt_in", "feature": "Auto drafts"}, "feature"),
        ({"kind": "max_recipients", "max": True}, "max"),
        ({"kind": "recipient_domain", "domains": []}, "domains"),
        ({"kind": "trigger", "any_of": ["email"]}, "any_of"),
        ({"kind": "business_hours"}, "zone"),
        ({"kind": "business_hours", "zone": "Mars/Olympus"}, "zone"),
        ({"kind": "business_hours", "zone": "../../etc/passwd"}, "zone"),
        ({"kind": "business_hours", "zone": "UTC", "start": "9:00"}, "start"),
        ({"kind": "business_hours", "zone": "UTC", "start": "18:00"}, "before end"),
        ({"kind": "business_hours", "zone": "UTC", "days": ["monday"]}, "days"),
    ],
)
def test_what_is_not_understood_is_refused_in_words_and_never_holds(raw: Any, named: str) -> None:
    with pytest.raises(ValueError, match=named.replace(".", r"\.")):
        conditions.parse(raw)
    assert not conditions.read(raw).evaluate(anything()).passed


def test_stored_conditions_that_are_no_list_never_hold() -> None:
    for raw in ({}, {"kind": "thread"}, "x", None, 7):
        (only,) = conditions.read_all(raw)
        assert not only.evaluate(anything()).passed


def templates(made: Mapping[str, Any]) -> Iterator[str]:
    """What a line is made of, as it is looked up in a catalogue; an argument's name apart."""
    yield made["template"]
    for name, value in made["values"].items():
        if name != "field" and not isinstance(value, str):
            yield from templates(value)


@pytest.mark.parametrize("kind", STRATEGIES)
@settings(max_examples=20)
@given(data=st.data())
def test_each_is_said_in_lines_that_have_a_translation(kind: str, data: st.DataObject) -> None:
    said = conditions.parse(data.draw(STRATEGIES[kind])).sentence

    assert isinstance(said, Phrase), said
    lines = [one for one in templates(said.plain()) if re.search("[a-z]", HOLE.sub("", one))]
    assert set(lines) <= TRANSLATED
