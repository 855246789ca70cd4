"""A mailing list is many readers whom nobody knows, even where the user named it."""

from typing import Any

import pytest

from guardrails.contracts import Decision, Origin
from guardrails.decide.evidence import collect, decide_on
from guardrails.facts.facts import Facts
from tests.guardrails.values import (
    ADA,
    ME,
    NOW,
    allow,
    chat,
    decide,
    email,
    facts,
    inbound,
    list_target,
    policy_of,
    request,
)

DEV = "dev@python.example"
TYPED = {"kind": "recipient", "relation": ["typed", "corresponded", "thread_participant"]}
WHY = f"“{DEV}” is a mailing list: nobody knows who reads it (to)."
POSTED = email(to=(DEV,), list_post=DEV)
WROTE = email(id="mail-0", labels=("SENT",), to=(DEV,), **{"from": ME})
LISTED = list_target("send_email", "recipient", DEV)
BY_DOMAIN = list_target("send_email", "recipient_domain", "python.example")


def answered(
    to: str,
    *raw: dict[str, Any],
    found: Facts,
    rows: tuple[Any, ...] = (),
    origin: Origin | None = None,
    action_type: str = "send_email",
    cc: tuple[str, ...] = (),
) -> Decision:
    arguments = {
        "to": [to],
        "cc": [*cc],
        "subject": "Re: Lunch",
        "body": "Yes.",
        "reply_to_id": "mail-1",
    }
    wish = request(action_type, arguments, origin or chat(f"Answer {to}."))
    policy = policy_of(allow(action_type, "auto", *raw), *rows)
    return decide(request=wish, policy=policy, facts=found, now=NOW)


@pytest.mark.parametrize(
    "found",
    [
        facts(POSTED),
        facts(email(to=(DEV,), precedence="list")),
        facts(email(), thread=(email(), POSTED)),
        facts(groups=(DEV,)),
        facts(groups=("Dev@Python.example",)),
    ],
    ids=["List-Post", "Precedence", "the thread", "the provider", "capitals"],
)
@pytest.mark.parametrize("rows", [(), (LISTED,), (BY_DOMAIN,)], ids=["typed", "listed", "domain"])
def test_a_person_is_asked_even_where_a_list_was_named(found: Facts, rows: tuple[Any, ...]) -> None:
    decision = answered(DEV, TYPED, found=found, rows=rows)

    assert (decision.verdict, decision.sentence) == (
        "ask",
        f"A person must confirm this first. {WHY}",
    )


def test_its_author_alone_is_one_reader() -> None:
    assert answered(ADA, TYPED, found=facts(POSTED)).verdict == "allow"


def test_a_host_of_lists_needs_no_other_sign() -> None:
    assert answered("x@lists.debian.org", TYPED, found=facts()).verdict == "ask"


@pytest.mark.parametrize(
    ("rows", "verdict"), [((LISTED,), "allow"), ((BY_DOMAIN,), "ask"), ((), "ask")]
)
def test_an_operator_can_let_a_list_in_by_its_own_address(
    rows: tuple[Any, ...], verdict: str
) -> None:
    listed = {"kind": "mailing_list", "mailing_list": "listed"}

    assert answered(DEV, TYPED, listed, found=facts(POSTED), rows=rows).verdict == verdict


def test_lists_can_be_forbidden() -> None:
    for raw in ({"kind": "mailing_list"}, {"kind": "group_address"}):
        refused = answered(DEV, TYPED, raw, found=facts(POSTED), rows=(LISTED,))
        assert (refused.verdict, refused.reason) == ("refuse", "condition_failed")
        assert answered(ADA, TYPED, raw, found=facts(POSTED)).verdict == "allow"


@pytest.mark.parametrize("trigger", ["webhook", "pattern"])
@pytest.mark.parametrize("action_type", ["send_email", "draft"])
def test_a_mail_writes_to_no_list_though_the_user_did(trigger: str, action_type: str) -> None:
    found = facts(POSTED, thread=(WROTE, POSTED))
    rows = (list_target(action_type, "recipient", DEV), list_target(action_type, "recipient", ADA))

    def answer(to: str, thread: Facts) -> Decision:
        origin = inbound(trigger=trigger)
        return answered(to, found=thread, rows=rows, origin=origin, action_type=action_type)

    refused = answer(DEV, found)
    assert (refused.verdict, refused.reason) == ("refuse", "list_not_from_mail")
    assert answer(ADA, found).verdict == "allow"
    # Without a sign of a list it is somebody the user wrote to.
    assert answer(DEV, facts(thread=(WROTE, email()))).verdict == "allow"


@pytest.mark.parametrize("action_type", ["send_email", "draft"])
def test_a_mail_writes_to_the_user_only_beside_others(action_type: str) -> None:
    own = email(id="mail-0", labels=("SENT",), to=(ADA,), **{"from": ME})
    found = facts(POSTED, thread=(own, POSTED))
    rows = (list_target(action_type, "recipient", ME), list_target(action_type, "recipient", ADA))

    def answer(to: str, *cc: str, origin: Origin) -> Decision:
        return answered(to, found=found, rows=rows, origin=origin, action_type=action_type, cc=cc)

    refused = answer(ME, origin=inbound())
    assert (refused.verdict, refused.reason) == ("refuse", "receiver_oneself")
    assert answer(ADA, ME, origin=inbound()).reason != "receiver_oneself"
    assert answer(ME, origin=chat(f"Write to {ME}.")).verdict == "allow"


def test_taking_part_in_a_thread_makes_a_list_nobody_known() -> None:
    taking_part = {"kind": "recipient", "relation": ["thread_participant"]}
    found = facts(POSTED, thread=(WROTE, POSTED))

    refused = answered(DEV, taking_part, found=found, origin=chat("Answer mail-1."))

    assert (refused.verdict, refused.reason) == ("refuse", "receiver_novel")


def test_a_replay_says_the_same() -> None:
    arguments = {"to": [DEV], "subject": "Hello", "body": "Yes."}
    wish = request("send_email", arguments, chat(f"Write to {DEV}."))
    policy = policy_of(allow("send_email", "auto", TYPED))
    found = Facts(own_address=ME, groups=(DEV,))
    decision = decide(request=wish, policy=policy, facts=found, now=NOW)
    kept = collect(request=wish, policy=policy, facts=found, now=NOW, decision=decision)

    again = decide_on(
        request=wish,
        facts=Facts(**{**kept["facts"], "groups": tuple(kept["facts"]["groups"])}),
        needs=frozenset(kept["needs"]),
        now=NOW,
        reason=decision.reason,
        under=policy,
    )

    assert again is not None
    assert (again.verdict, again.sentence) == (decision.verdict, decision.sentence)
    assert decision.verdict == "ask"
