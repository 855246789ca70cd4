"""What a thread says to a decision is bounded, and decides as its mails do."""

from dataclasses import replace
from typing import Any

from hypothesis import given, strategies as st

from guardrails.contracts import Origin
from guardrails.decide import evidence
from guardrails.decide.snapshot import PolicySnapshot
from guardrails.facts.facts import Facts
from guardrails.facts.mailing_lists import posted_to
from guardrails.facts.targets import plain_addresses
from guardrails.facts.threads import MOST_ADDERS, SENT, Participant, summarise
from integrations.contracts import Authentication, Email
from tests.guardrails.decide.test_evidence import as_recorded
from tests.guardrails.decide.test_policy_properties import ARGUMENTS, ORDER, origins, policies
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
    policy_of,
    request,
)

BOB, TEAM = "bob@company.com", "team@client.com"
LONG = {"to": (ME, ADA), "authentication": Authentication(dmarc="pass")}
people = st.sampled_from([ADA, BOB, ME, STRANGER, TEAM, "ADA@client.com", "no address", ""])
mails = st.builds(
    lambda **given: email(**{"from": given.pop("sender"), **given}),
    id=st.uuids().map(str),
    sender=people,
    to=st.lists(people, max_size=3).map(tuple),
    cc=st.lists(people, max_size=2).map(tuple),
    labels=st.lists(st.sampled_from([SENT, "INBOX", "label_fyi"]), max_size=2).map(tuple),
    list_post=st.sampled_from([None, TEAM, ADA]),
    precedence=st.sampled_from(["", "list"]),
    authentication=st.sampled_from(["pass", "fail", "none"]).map(
        lambda dmarc: Authentication(dmarc=dmarc)
    ),
)
threads = st.lists(mails, max_size=6).map(tuple)
wishes = st.sampled_from(
    [
        ("draft", {"to": [ADA], "cc": [BOB], **ARGUMENTS["draft"]}),
        ("send_email", {**ARGUMENTS["send_email"], "to": [BOB, "ADA@client.com"]}),
        ("send_email", {**ARGUMENTS["send_email"], "to": [TEAM]}),
        ("classify", ARGUMENTS["classify"]),
        ("archive", ARGUMENTS["archive"]),
    ]
)
KNOWN = {"kind": "recipient", "relation": ["thread_participant", "belongs"], "novel": "ask"}
by_thread = st.sampled_from(
    [
        policy_of(allow("draft"), allow("send_email", "auto", {**KNOWN, "novel": novel}))
        for novel in ("ask", "forbid")
    ]
)
words = st.sampled_from([chat("answer mail-1"), chat(f"answer mail-1 and tell {ADA}")])


def addressed(arguments: dict[str, Any]) -> list[str]:
    return [*arguments.get("to", ()), *arguments.get("cc", ()), ADA]  # ADA sent the mail at hand


def with_summary(found: Facts, arguments: dict[str, Any]) -> Facts:
    """As the guard decides: on the summary alone."""
    summary = found.summarised_thread.about(addressed(arguments), own_address=ME)
    return replace(found, thread=None, thread_summary=summary)


@given(threads)
def test_the_whole_thread_says_what_its_mails_say(thread: tuple[Email, ...]) -> None:
    found = facts(thread=thread)
    sent = [mail for mail in thread if SENT in mail.labels]
    proved = [
        mail for mail in thread if SENT not in mail.labels and mail.authentication.dmarc == "pass"
    ]

    assert found.participants == plain_addresses(
        text for mail in thread for text in (mail.sender, *mail.to, *mail.cc)
    )
    assert found.sent_to == plain_addresses(text for mail in sent for text in (*mail.to, *mail.cc))
    assert found.authenticated_participants == found.sent_to | plain_addresses(
        mail.sender for mail in proved
    )
    assert found.lists == frozenset[str]().union(*map(posted_to, thread))
    assert found.thread_labels == {"INBOX", "UNREAD"}.union(*(mail.labels for mail in thread))
    for one in summarise(thread).people:
        assert set(one.let_in_by) == plain_addresses(
            mail.sender
            for mail in proved
            if one.address in plain_addresses((mail.sender, *mail.to, *mail.cc))
        )


@given(wishes, by_thread | policies(), origins | words, threads, st.booleans())
def test_it_decides_alike_in_full_in_short_and_from_rows_of_either_form(
    wish: tuple[str, dict[str, Any]],
    policy: PolicySnapshot,
    origin: Origin,
    thread: tuple[Email, ...],
    is_inside: bool,
) -> None:
    asked = request(*wish, origin)
    directory = directory_of(BOB, domains=("client.com",) if is_inside else ())
    full = facts(thread=thread, directory=directory, let_in_by_agent=(), meant_by="your words")
    short = with_summary(full, wish[1])

    decision = decide(request=asked, policy=policy, facts=full, now=NOW)

    assert decide(request=asked, policy=policy, facts=short, now=NOW) == decision
    row = as_recorded(asked, policy, short)
    older = {
        **row.payload["decided_on"]["facts"],
        "thread": [mail.model_dump(mode="json", exclude=evidence.MAIL_TEXT) for mail in thread],
    }
    del older["thread_summary"]
    whole = dict(row.payload["decided_on"])
    for kept in (whole, {**whole, "facts": older}):
        past = evidence.past(replace(row, payload={**row.payload, "decided_on": kept}))
        assert past is not None
        again = evidence.decide_again(past, policy)
        assert again is not None
        assert (again.verdict, again.reason) == (decision.verdict, decision.reason)
        assert again.provenance == decision.provenance


@given(
    policies(),
    st.lists(
        st.sampled_from([f"n{at:02}@other.example" for at in range(30)] + [BOB, ME]),
        min_size=MOST_ADDERS,
        unique=True,
    ),
)
def test_leaving_out_who_let_somebody_in_never_widens(
    policy: PolicySnapshot, senders: list[str]
) -> None:
    wish = request("send_email", ARGUMENTS["send_email"], chat("answer mail-1"))
    thread = tuple(
        email(**{"from": one}, id=f"mail-{at}", **LONG) for at, one in enumerate(senders)
    )
    full = facts(thread=thread, directory=directory_of(*senders[-2:]), let_in_by_agent=())
    short = with_summary(full, ARGUMENTS["send_email"])

    before = decide(request=wish, policy=policy, facts=full, now=NOW)
    after = decide(request=wish, policy=policy, facts=short, now=NOW)

    assert ORDER[after.verdict] <= ORDER[before.verdict]


def test_of_those_who_let_somebody_in_the_user_and_colleagues_are_left_in_first() -> None:
    senders = [f"n{at:02}@other.example" for at in range(40)] + [BOB, ME]
    thread = [email(**{"from": one}, id=f"mail-{at}", **LONG) for at, one in enumerate(senders)]

    summary = summarise(thread).about([ADA], own_address=ME)

    assert summary.mails == 42
    assert summary.people == (
        Participant(
            address=ADA,
            named_in="mail-0",
            let_in_by=(ME, BOB, *senders[: MOST_ADDERS - 2]),
            adders=42,
        ),
        Participant(
            address=ME,
            named_in="mail-0",
            proved_in="mail-41",
            let_in_by=(ME, BOB, *senders[: MOST_ADDERS - 2]),
            adders=42,
        ),
    )


def test_a_receiver_whom_only_those_left_out_let_in_is_refused() -> None:
    condition = {"kind": "recipient", "relation": ["belongs"], "novel": "forbid"}
    policy = policy_of(allow("send_email", "auto", condition))
    wish = request("send_email", ARGUMENTS["send_email"], chat("answer mail-1"))

    def decided(others: int) -> tuple[str, str]:
        senders = [f"n{at:02}@other.example" for at in range(others)] + ["zoe@partner.example"]
        thread = tuple(
            email(**{"from": one}, id=f"mail-{at}", **LONG) for at, one in enumerate(senders)
        )
        inside = directory_of("zoe@partner.example")
        found = facts(thread=thread, directory=inside, let_in_by_agent=(), meant_by="mail-1")
        short = with_summary(found, ARGUMENTS["send_email"])
        decision = decide(request=wish, policy=policy, facts=short, now=NOW)
        return decision.verdict, decision.reason

    assert decided(MOST_ADDERS - 1) == ("ask", "needs_approval")
    assert decided(MOST_ADDERS) == ("refuse", "receiver_novel")
