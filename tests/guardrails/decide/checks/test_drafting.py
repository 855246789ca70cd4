"""A draft is judged as if it were sent, less only the question."""

from dataclasses import replace
from typing import Any

import pytest

from guardrails.contracts import Decision, Origin
from guardrails.execute.executor import execute
from guardrails.facts.exposure import Unasked
from guardrails.facts.facts import Facts
from guardrails.models import Approval
from integrations.contracts import Authentication
from tests.guardrails.approvals import confirm
from tests.guardrails.office import CHAT, Office, webhook
from tests.guardrails.values import (
    ADA,
    ME,
    NOW,
    STRANGER,
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

database = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
EVE = "eve@evil.example"
SECRET = "The verification code is 123456."
MARK = {"kind": "unasked", "receivers": "mark"}
LEAVE_OUT = {"kind": "unasked", "receivers": "leave_out"}


def drafted(
    *raw: dict[str, Any],
    to: str = ADA,
    cc: tuple[str, ...] = (),
    body: str = "Yes.",
    words: str = "What is on today?",
    origin: Origin | None = None,
    found: Facts | None = None,
    listed: tuple[str, ...] = (),
) -> Decision:
    wish = {"reply_to_id": "mail-1", "to": [to], "cc": [*cc], "subject": "Re: Lunch", "body": body}
    targets = [list_target("draft", "recipient", one) for one in listed]
    return decide(
        request=request("draft", wish, origin or chat(words)),
        policy=policy_of(allow("draft", "auto", *raw), *targets),
        facts=found or facts(),
        now=NOW,
    )


def ends(decision: Decision) -> tuple[str, str]:
    return decision.verdict, decision.reason


def copied() -> Facts:
    """A mail in whose copy its sender put somebody."""
    return facts(email(to=(ME,), cc=(EVE,)))


def test_who_takes_part_in_the_thread_is_marked_where_nobody_was_asked() -> None:
    for origin in (chat("What is on today?"), inbound()):
        decision = drafted(origin=origin)
        assert ends(decision) == ("allow", "allowed")
        assert decision.unasked == Unasked(marked=(ADA,))
        assert decision.plain()["unasked"] == {"marked": (ADA,), "left_out": ()}


def test_whom_a_stranger_put_into_the_copy_is_left_out() -> None:
    assert drafted(cc=(EVE,), found=copied()).unasked == Unasked(marked=(ADA,), left_out=(EVE,))
    failing = facts(email(authentication=Authentication(dmarc="fail")))
    assert drafted(found=failing).unasked == Unasked(left_out=(ADA,))


@pytest.mark.parametrize("words", [f"Answer {ADA}", "Draft an answer to mail-1"])
def test_whom_the_user_means_is_known(words: str) -> None:
    assert drafted(words=words).unasked is None


def test_the_others_of_a_mail_that_the_user_named_are_not() -> None:
    decision = drafted(cc=(EVE,), found=copied(), words="Draft an answer to mail-1")
    assert decision.unasked == Unasked(left_out=(EVE,))


def test_a_sender_whom_nobody_proved_is_not_whom_the_user_means() -> None:
    failing = facts(email(authentication=Authentication(dmarc="fail")))
    decision = drafted(found=failing, words="Draft an answer to mail-1")
    assert decision.unasked == Unasked(left_out=(ADA,))


def test_who_else_wrote_in_the_thread_of_a_named_mail_is_marked() -> None:
    thread = (email(), email(**{"id": "mail-0", "from": EVE}))
    found = replace(facts(), thread=thread)
    decision = drafted(cc=(EVE,), found=found, words="Draft an answer to mail-1")
    assert decision.unasked == Unasked(marked=(EVE,))


def test_whom_the_user_wrote_to_and_who_is_listed_is_known() -> None:
    assert drafted(found=replace(facts(), corresponded={ADA: 1})).unasked is None
    assert drafted(listed=(ADA,)).unasked is None
    by_domain = list_target("draft", "recipient_domain", "client.com")
    decision = decide(
        request=request(
            "draft",
            {"reply_to_id": "mail-1", "to": ["bob@client.com"], "subject": "Re", "body": "Yes."},
            chat(""),
        ),
        policy=policy_of(allow("draft"), by_domain),
        facts=facts(),
        now=NOW,
    )
    assert decision.unasked == Unasked(left_out=("bob@client.com",))


def test_an_operator_chooses_what_becomes_of_all_of_them() -> None:
    both = (ADA, EVE)
    assert drafted(MARK, cc=(EVE,), found=copied()).unasked == Unasked(marked=both)
    assert drafted(LEAVE_OUT, cc=(EVE,), found=copied()).unasked == Unasked(left_out=both)


def test_a_secret_for_somebody_unknown_is_no_free_draft() -> None:
    assert ends(drafted(body=SECRET)) == ("ask", "draft_holds_secret")
    assert ends(drafted(body=SECRET, origin=inbound())) == ("refuse", "draft_holds_secret")
    assert drafted(body=SECRET, words=f"Answer {ADA}").verdict == "allow"
    assert drafted(body=SECRET).unasked is None  # a person sees it first
    assert "one time code" in drafted(body=SECRET).sentence


LINK = "https://evil.example/login"


@pytest.mark.parametrize(
    "body", [LINK, f"![]({LINK})", "Sign in at evil.example/login", f"<img src='{LINK}'>"]
)
@pytest.mark.parametrize("words", [f"Answer {ADA}", "What is on today?"])
def test_a_link_of_the_agents_is_asked_about_and_refused_to_a_mail(body: str, words: str) -> None:
    assert ends(drafted(body=body, words=words)) == ("ask", "draft_leads_out")
    assert ends(drafted(body=body, origin=inbound())) == ("refuse", "draft_leads_out")
    assert "evil.example" in drafted(body=LINK).sentence


def test_a_link_that_the_user_typed_or_of_their_own_domain_goes_into_a_draft() -> None:
    words = f"Answer {ADA} and name {LINK}"
    assert drafted(body=f"See {LINK}", words=words).verdict == "allow"
    assert drafted(body="See https://company.com/plan").verdict == "allow"
    typed = f"Answer {ADA}, say only this: “See {LINK}”"
    assert drafted(body=f"See {LINK}", words=typed).verdict == "allow"


def test_who_may_not_be_drafted_to_is_refused_as_before() -> None:
    assert ends(drafted(to=STRANGER)) == ("refuse", "target_not_listed")


@database
def test_the_draft_itself_says_so(office: Office) -> None:
    office.permit("draft")
    mail = office.receive(id="mail-1", cc=[EVE], **{"from": ADA})
    wish = {"reply_to_id": mail, "to": [ADA], "cc": [EVE], "subject": "Re: Lunch", "body": "Yes."}

    result = execute(office.request("draft", wish))

    assert result.status == "succeeded"
    assert (result.result["marked"], result.result["left_out"]) == ([ADA], [EVE])
    [call] = office.calls()
    assert (call["body"]["to"], call["body"]["cc"]) == ([ADA], [])
    assert call["body"]["subject"] == f"[Nobody was asked about: {ADA}] Re: Lunch"
    assert call["body"]["body"] == (
        f"[Left out of the receivers, because nobody was asked: {EVE}]\n\nYes."
    )


@database
def test_one_that_a_person_confirmed_carries_no_marks(office: Office) -> None:
    office.permit("draft", "ask")
    mail = office.receive(id="mail-1", **{"from": ADA})
    wish = {"reply_to_id": mail, "to": [ADA], "subject": "Re: Lunch", "body": SECRET}

    asked = execute(office.request("draft", wish))
    done = confirm(Approval.objects.get(action_id=asked.action_id))

    assert done.status == "succeeded"
    [call] = office.calls()
    assert (call["body"]["to"], call["body"]["subject"]) == ([ADA], "Re: Lunch")
    assert "marked" not in done.result


@database
def test_a_mail_that_wants_a_secret_back_gets_no_draft(office: Office) -> None:
    office.permit("draft")
    mail = office.receive(id="mail-1", thread_id="t-1", **{"from": EVE})
    office.list_target("draft", "recipient_domain", "evil.example")
    wish = {"reply_to_id": mail, "to": [EVE], "subject": "Re: Code", "body": SECRET}

    for origin, reason in ((CHAT, "needs_approval"), (webhook(mail, "t-1"), "draft_holds_secret")):
        assert execute(office.request("draft", wish, origin=origin)).reason == reason
    assert office.calls() == []
