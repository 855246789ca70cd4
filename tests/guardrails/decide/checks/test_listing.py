"""Whom an action may reach: listed by an operator, or let in by how they stand to the user."""

from typing import Any

import pytest

from guardrails.contracts import Decision, Origin
from guardrails.decide.snapshot import Limit, ListedTarget, PolicySnapshot
from guardrails.execute.executor import execute
from guardrails.facts.facts import Facts
from guardrails.facts.people import Directory
from tests.guardrails.office import CHAT, Office, minutes_ago, phases
from tests.guardrails.values import (
    ADA,
    ME,
    NOW,
    STRANGER,
    allow,
    chat,
    decide,
    directory_of,
    facts,
    inbound,
    list_target,
    policy_of,
    request,
)

database = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
TEXT = {"subject": "Hello", "body": "Text."}
COLLEAGUE = "bob@company.com"
ANYONE_KNOWN = ["typed", "corresponded", "thread_participant", "listed"]
ALLOWED, ASKED = ("allow", "allowed"), ("ask", "needs_approval")
NOVEL, UNLISTED = ("refuse", "receiver_novel"), ("refuse", "target_not_listed")
FAILED = ("refuse", "condition_failed")


def decided(
    to: list[str],
    *listed_targets: ListedTarget,
    relation: list[str],
    novel: str = "forbid",
    words: str = "",
    origin: Origin | None = None,
    found: Facts | None = None,
    **more: Any,
) -> Decision:
    raw = {"kind": "recipient", "relation": relation, "novel": novel}
    return decide(
        request=request("send_email", {"to": to, **TEXT, **more}, origin or chat(words)),
        policy=policy_of(allow("send_email", "auto", raw), *listed_targets),
        facts=found or facts(),
        now=NOW,
    )


def outcome(to: str, *listed_targets: ListedTarget, **more: Any) -> tuple[str, str]:
    decision = decided([to], *listed_targets, **more)
    return decision.verdict, decision.reason


def test_each_relation_lets_in_its_own_and_nobody_else() -> None:
    written = facts(corresponded={ADA: 2, STRANGER: 0})
    assert outcome(ADA, relation=["typed"], words=f"write {ADA}") == ALLOWED
    assert outcome(ADA, relation=["typed"], found=written) == UNLISTED
    assert outcome(ADA, relation=["corresponded"], found=written) == ALLOWED
    assert outcome(ADA, relation=["corresponded"], words=f"write {ADA}") == UNLISTED
    assert outcome(STRANGER, relation=["corresponded"], found=written) == NOVEL
    assert outcome(STRANGER, relation=ANYONE_KNOWN, found=written) == NOVEL


def test_listed_receivers_need_the_relation_too() -> None:
    listed = list_target("send_email", "recipient", ADA)
    assert outcome(ADA, listed, relation=["listed"]) == ALLOWED
    assert outcome(ADA, listed, relation=["typed"]) == FAILED
    assert outcome(ADA, listed, relation=["typed"], words=f"write {ADA}") == ALLOWED
    domain = list_target("send_email", "recipient_domain", "client.com")
    assert outcome(ADA, domain, relation=["listed"]) == ASKED


def test_the_own_domain_alone_lets_nobody_in() -> None:
    assert outcome(COLLEAGUE, relation=["own_domain"]) == NOVEL
    assert outcome(COLLEAGUE, relation=["own_domain"], words=f"to {COLLEAGUE}") == ALLOWED
    written = facts(corresponded={COLLEAGUE: 1, ADA: 1})
    assert outcome(COLLEAGUE, relation=["own_domain"], found=written) == ALLOWED
    assert outcome(ADA, relation=["own_domain"], found=written) == UNLISTED


def test_a_colleague_is_let_in_only_where_the_allowed_action_names_the_directory() -> None:
    read = facts(directory=directory_of(COLLEAGUE))
    assert outcome(COLLEAGUE, relation=["directory"], found=read) == ALLOWED
    assert (
        outcome(COLLEAGUE, relation=["directory"], found=facts(directory=directory_of())) == NOVEL
    )
    assert outcome(COLLEAGUE, relation=["directory"], found=facts(directory=None)) == NOVEL
    assert outcome(ADA, relation=["directory"], found=read) == NOVEL
    assert outcome("Bob@company.com", relation=["directory"], found=read) == NOVEL
    assert outcome(ADA, cc=[COLLEAGUE], relation=["directory"], found=read) == NOVEL
    assert outcome(COLLEAGUE, relation=["own_domain"], found=read) == NOVEL
    assert outcome(COLLEAGUE, relation=["listed", "typed"], found=read) == NOVEL
    typed = {"words": f"to {COLLEAGUE}", "found": facts(directory=directory_of())}
    assert outcome(COLLEAGUE, relation=["directory"], **typed) == UNLISTED


def test_a_directory_that_only_the_ceiling_names_lets_nobody_in() -> None:
    def verdict(directory: Directory | None, *raw: dict[str, Any]) -> str:
        domain = list_target("send_email", "recipient_domain", "company.com")
        named = allow("x", "auto", {"kind": "recipient", "relation": ["directory"]}).conditions
        limit = Limit(id="1", action_type="", mode="auto", conditions=named)
        policy = policy_of(allow("send_email", "auto", *raw), domain)
        return decide(
            request=request("send_email", {"to": [COLLEAGUE], **TEXT}),
            policy=PolicySnapshot(**(vars(policy) | {"ceiling": (limit,)})),
            facts=facts(directory=directory),
            now=NOW,
        ).verdict

    # The domain is listed, not the address: a person is asked, as without the ceiling.
    assert verdict(directory_of(COLLEAGUE)) == "ask"
    assert verdict(directory_of()) == "refuse"
    assert verdict(None) == "refuse"
    assert (
        verdict(directory_of(COLLEAGUE), {"kind": "recipient", "relation": ["own_domain"]}) == "ask"
    )
    assert (
        verdict(directory_of(COLLEAGUE), {"kind": "recipient", "relation": ["directory"]})
        == "allow"
    )


def test_a_novel_receiver_is_asked_about_only_where_the_operator_says_so() -> None:
    assert outcome(STRANGER, relation=["typed"]) == NOVEL
    assert outcome(STRANGER, relation=["typed"], novel="ask") == ASKED
    # Who is known, but otherwise than permitted, is treated no worse.
    written = facts(corresponded={ADA: 2})
    assert outcome(ADA, relation=["typed"], novel="ask", found=written) == ASKED
    listed = list_target("send_email", "recipient", ADA)
    assert outcome(ADA, listed, relation=["typed"], novel="ask") == ASKED


@pytest.mark.parametrize(
    "other", ["Ada@client.com", "ada+x@client.com", "a.da@client.com", "ada@client.com.br"]
)
def test_a_variant_of_a_known_address_is_another_address(other: str) -> None:
    written = facts(corresponded={ADA: 5})
    words = f"write {ADA}"
    assert outcome(other, relation=ANYONE_KNOWN, words=words, found=written) == NOVEL
    assert outcome(other, relation=ANYONE_KNOWN, words=f"write {other}") == ALLOWED


def test_every_receiver_needs_a_relation_and_a_blind_copy_must_be_listed() -> None:
    words = f"write {ADA} and {COLLEAGUE}"
    known: dict[str, Any] = {"relation": ANYONE_KNOWN, "words": words}
    assert outcome(ADA, cc=[COLLEAGUE], **known) == ALLOWED
    assert outcome(ADA, cc=[STRANGER], **known) == NOVEL
    assert outcome(ADA, bcc=[COLLEAGUE], **known) == UNLISTED
    listed = list_target("send_email", "recipient", COLLEAGUE)
    assert outcome(ADA, listed, bcc=[COLLEAGUE], **known) == ALLOWED


def test_a_mail_reaches_only_proved_participants_whatever_it_says() -> None:
    reply: dict[str, Any] = {"reply_to_id": "mail-1", "relation": ANYONE_KNOWN}
    origin = inbound(user_words=f"write {ADA} and {STRANGER}")
    written = facts(corresponded={STRANGER: 9})
    assert outcome(ADA, origin=origin, **reply) == ALLOWED
    refused = ("refuse", "receiver_not_in_thread")
    assert outcome(STRANGER, origin=origin, found=written, **reply) == refused


def test_what_a_schedule_sets_off_has_neither_words_nor_a_thread() -> None:
    origin = Origin(trigger="schedule", user_words=f"write {ADA} about mail-1")
    assert outcome(ADA, origin=origin, relation=["typed"], reply_to_id="mail-1") == NOVEL
    written = facts(corresponded={ADA: 1})
    assert outcome(ADA, origin=origin, relation=["corresponded"], found=written) == ALLOWED


def test_the_ceiling_opens_nothing() -> None:
    conditions = allow("x", "auto", {"kind": "recipient", "relation": ["typed"]}).conditions
    limit = Limit(id="1", action_type="", mode="auto", conditions=conditions)
    policy = policy_of(allow("send_email"))
    decision = decide(
        request=request("send_email", {"to": [ADA], **TEXT}, chat(f"write {ADA}")),
        policy=PolicySnapshot(**(vars(policy) | {"ceiling": (limit,)})),
        facts=facts(),
        now=NOW,
    )
    assert (decision.verdict, decision.reason) == UNLISTED


def test_a_private_draft_may_answer_its_thread_and_not_a_novel_receiver() -> None:
    raw = {"kind": "recipient", "relation": ["thread_participant", "typed"], "novel": "ask"}

    def draft(to: str, words: str = "") -> tuple[str, str]:
        decision = decide(
            request=request("draft", {"to": [to], "reply_to_id": "mail-1", **TEXT}, chat(words)),
            policy=policy_of(allow("draft", "auto", raw)),
            facts=facts(),
            now=NOW,
        )
        return decision.verdict, decision.reason

    assert draft(ADA) == ALLOWED
    assert draft(STRANGER, f"draft to {STRANGER}") == ALLOWED
    assert draft(STRANGER) == ASKED


@database
def test_whom_the_user_wrote_to_is_reached_unlisted_and_a_stranger_is_not(office: Office) -> None:
    known = {"kind": "recipient", "relation": ["typed", "corresponded"]}
    office.permit("send_email", conditions=[known])
    sent = {"from": office.mailbox.address, "to": [ADA], "labels": ["SENT"]}
    office.receive(**sent, date=minutes_ago(60))
    office.receive(**{"from": STRANGER}, date=minutes_ago(30))

    refused = execute(office.request("send_email", {"to": [STRANGER], **TEXT}, origin=CHAT))

    assert phases(refused) == [("blocked", "blocked", "receiver_novel")]
    assert office.calls() == []
    done = execute(office.request("send_email", {"to": [ADA], **TEXT}, origin=CHAT))
    assert done.status == "succeeded"
    assert [call["body"]["to"] for call in office.calls()] == [[ADA]]


def test_the_own_address_needs_no_domain() -> None:
    strange = facts(own_address="Maya")
    assert outcome(COLLEAGUE, relation=["own_domain"], words=COLLEAGUE, found=strange) == UNLISTED
    assert outcome(ME, relation=["typed"], words=ME, found=strange) == ALLOWED
