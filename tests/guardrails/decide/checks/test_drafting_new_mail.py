"""A draft of a new mail has no thread: whom its receivers are must be known without one, and no
policy that was for answers permits more by it."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from guardrails.contracts import Decision, Origin
from guardrails.decide import evidence
from guardrails.decide.snapshot import ListedTarget, Mode
from guardrails.execute.executor import execute
from guardrails.facts.exposure import Unasked
from guardrails.facts.facts import Facts
from guardrails.models import AssistantDraft
from integrations.contracts import Mailbox
from tests.guardrails.decide.test_evidence import as_recorded
from tests.guardrails.kinds import any_condition
from tests.guardrails.office import Office, webhook
from tests.guardrails.values import (
    ADA,
    ME,
    NOW,
    STRANGER,
    allow,
    chat,
    decide,
    directory_of,
    email,
    facts,
    inbound,
    list_target,
    policy_of,
    request,
)

database = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
BOB = "bob@company.com"
MAIL: dict[str, Any] = {"subject": "Lunch", "body": "At noon?"}
TYPED = {"kind": "recipient", "relation": ["typed", "named", "corresponded"], "novel": "forbid"}
ORDER = {"refuse": 0, "ask": 1, "allow": 2}
LISTS = [list_target("draft", "recipient", one) for one in (ADA, BOB)]
DOMAIN = list_target("draft", "recipient_domain", "client.com")


def no_mail(**changes: Any) -> Facts:
    """What is read for a new mail: the mailbox and whom its receivers are."""
    given: dict[str, Any] = {
        "mailbox": Mailbox(address=ME, shared_with=()),
        "strangers": (),
        "own_address": ME,
    }
    return Facts(**given | changes)


def drafted(
    *raw: dict[str, Any],
    to: str = ADA,
    words: str = "What is on today?",
    mode: Mode = "auto",
    origin: Origin | None = None,
    found: Facts | None = None,
    listed: tuple[ListedTarget, ...] = (),
    **mail: Any,
) -> Decision:
    return decide(
        request=request("draft", MAIL | {"to": [to]} | mail, origin or chat(words)),
        policy=policy_of(allow("draft", mode, *raw), *listed),
        facts=found or no_mail(),
        now=NOW,
    )


def ends(decision: Decision) -> tuple[str, str]:
    return decision.verdict, decision.reason


def test_without_a_thread_nobody_takes_part_so_a_receiver_must_be_listed() -> None:
    """Neither typing an address nor having written to it is enough for a plain allowed action."""
    assert ends(drafted(words=f"Write to {ADA}")) == ("refuse", "target_not_listed")
    written = no_mail(corresponded={ADA: 3})
    assert ends(drafted(words="", found=written)) == ("refuse", "target_not_listed")
    decision = drafted(words=f"Write to {ADA}", listed=(LISTS[0],))
    assert (ends(decision), decision.unasked) == (("allow", "allowed"), None)


def test_whom_the_allowed_action_lets_in_it_lets_in_here_too() -> None:
    assert ends(drafted(TYPED, words=f"Write to {ADA}")) == ("allow", "allowed")
    assert ends(drafted(TYPED, words="Write to Ada")) == ("refuse", "receiver_novel")
    in_thread = {"kind": "recipient", "relation": ["thread_participant"], "novel": "forbid"}
    assert ends(drafted(in_thread, words=f"Write to {ADA}")) == ("refuse", "target_not_listed")


def test_of_a_listed_domain_whom_nobody_asked_about_is_left_out() -> None:
    assert drafted(listed=(DOMAIN,)).unasked == Unasked(left_out=(ADA,))
    assert drafted(listed=(DOMAIN,), words=f"Write to {ADA}").unasked is None
    mark = {"kind": "unasked", "receivers": "mark"}
    assert drafted(mark, listed=(DOMAIN,)).unasked == Unasked(marked=(ADA,))


def test_a_secret_or_a_link_of_the_agents_is_asked_about() -> None:
    secret = "The verification code is 123456."
    assert ends(drafted(listed=(DOMAIN,), body=secret)) == ("ask", "draft_holds_secret")
    link = "Sign in: https://evil.example/login"
    assert ends(drafted(listed=(LISTS[0],), body=link)) == ("ask", "draft_leads_out")


@pytest.mark.parametrize(
    "about_the_mail",
    [
        {"kind": "sender_authenticated"},
        {"kind": "sender_exists"},
        {"kind": "not_sender", "domains": ["evil.example"]},
        {"kind": "subject", "words": ["lunch"]},
        {"kind": "labels", "lacks": ["label_fyi"]},
        {"kind": "thread", "min_messages": 1},
        {"kind": "age", "max_hours": 48},
        {"kind": "first_contact", "first_contact": False},
    ],
)
def test_what_an_operator_tied_to_the_mail_that_is_answered_permits_no_new_mail(
    about_the_mail: dict[str, Any],
) -> None:
    decision = drafted(about_the_mail, words=f"Write to {ADA}", listed=(LISTS[0],))
    assert ends(decision) == ("refuse", "condition_failed")


@pytest.mark.parametrize("trigger", ["webhook", "pattern"])
def test_what_arrived_sets_off_no_new_mail_to_anybody(trigger: str) -> None:
    for to in (ADA, BOB, STRANGER, ME):
        listed = list_target("draft", "recipient", to)
        decision = drafted(to=to, origin=inbound(trigger=trigger), listed=(listed,))
        assert ends(decision) == ("refuse", "outside_own_item")


some_listed = st.lists(st.sampled_from([*LISTS, DOMAIN]), unique=True)
origins = st.sampled_from(
    [
        chat(),
        chat(f"Write to {ADA}"),
        chat(f"Write to {STRANGER} and answer mail-1"),
        chat("Write to Bob", tighten=True),
        inbound(),
        inbound(trigger="pattern"),
    ]
)
known = st.sampled_from(
    [
        {},
        {"corresponded": {ADA: 2}},
        {"directory": directory_of(BOB)},
        {"strangers": (STRANGER, ADA)},
        {"mailbox": Mailbox(address=ME, shared_with=(BOB,))},
    ]
)
modes: st.SearchStrategy[Mode] = st.sampled_from(["auto", "ask", "never", "draft_only"])


@given(
    st.lists(any_condition, max_size=3),
    st.lists(st.sampled_from([ADA, BOB, STRANGER]), min_size=1, max_size=2, unique=True),
    some_listed,
    origins,
    known,
    modes,
)
def test_no_policy_permits_more_for_a_new_mail_than_for_an_answer(
    raw: list[dict[str, Any]],
    to: list[str],
    listed: list[ListedTarget],
    origin: Origin,
    more: dict[str, Any],
    mode: Mode,
) -> None:
    """Of the same text to the same people, with a mail that they take part in or without one."""
    allowed = allow("draft", mode, *raw)
    policy = policy_of(allowed, *listed)
    wish = MAIL | {"to": to}
    asked = {"policy": policy, "now": NOW}
    answered = email(**{"from": to[0], "to": (ME, *to[1:])})

    new = decide(request=request("draft", wish, origin), facts=no_mail(**more), **asked)
    reply = decide(
        request=request("draft", wish | {"reply_to_id": "mail-1"}, origin),
        facts=replace(facts(answered), **more),
        **asked,
    )

    assert ORDER[new.verdict] <= ORDER[reply.verdict]
    if origin.trigger in ("webhook", "pattern"):
        assert new.verdict == "refuse"
    names = {one.external_id for one in listed}
    opens = any(getattr(one, "opens", False) for one in allowed.conditions)
    if new.verdict != "refuse" and not opens:
        assert {one for one in to if one not in names} <= {ADA} & (
            {ADA} if DOMAIN in listed else set()
        )


@given(st.lists(any_condition, max_size=2), some_listed, origins, known)
def test_it_is_decided_again_as_it_was(
    raw: list[dict[str, Any]], listed: list[ListedTarget], origin: Origin, more: dict[str, Any]
) -> None:
    policy = policy_of(allow("draft", "auto", *raw), *listed)
    row = as_recorded(request("draft", MAIL | {"to": [ADA]}, origin), policy, no_mail(**more))
    past = evidence.past(row)
    assert past is not None

    again = evidence.decide_again(past, evidence.policy_of(policy.content()))

    assert again is not None
    assert (again.verdict, again.reason) == (past.verdict, past.reason)


@database
def test_the_provider_gets_a_new_mail_and_nobody_elses_thread(office: Office) -> None:
    office.permit("draft")
    office.list_target("draft", "recipient", ADA)
    mail = office.receive()

    result = execute(office.request("draft", MAIL | {"to": [ADA]}))

    assert (result.status, result.description) == (
        "succeeded",
        f"Draft a mail to {ADA}: “Lunch”",
    )
    [call] = office.calls()
    assert call["path"].endswith("/drafts")
    assert (call["body"]["to"], call["body"]["subject"]) == ([ADA], "Lunch")
    assert "reply_to_id" not in call["body"]
    row = AssistantDraft.objects.get()
    assert (row.reply_to_id, row.draft_id) == ("", result.result["draft_id"])
    assert row.thread_id not in ("", office.email(mail)["thread_id"])


@database
@pytest.mark.parametrize("to", [ADA, STRANGER])
def test_a_mail_gets_no_new_mail_out_of_the_provider(office: Office, to: str) -> None:
    office.permit("draft")
    office.list_target("draft", "recipient", ADA)
    mail = office.receive(id="mail-1", thread_id="t-1")

    refused = execute(office.request("draft", MAIL | {"to": [to]}, origin=webhook(mail, "t-1")))

    assert (refused.status, refused.reason) == ("refused", "outside_own_item")
    assert office.calls() == []
    assert not AssistantDraft.objects.exists()
