"""What others get to see by an action is decided on, not only who they are."""

from dataclasses import replace
from typing import Any

import pytest

from guardrails.contracts import Decision, Origin
from guardrails.decide import evidence
from guardrails.decide.conditions import vocabulary as conditions
from guardrails.decide.snapshot import AllowedAction, Limit
from guardrails.facts.content import Content
from guardrails.facts.exposure import Authorship, Exposure, Reader, Taint
from guardrails.facts.facts import Facts
from integrations.contracts import Attendee, Document, Event, Folder
from tests.guardrails.values import (
    ADA,
    ME,
    NOW,
    STRANGER,
    account,
    allow,
    chat,
    decide,
    email,
    facts,
    list_target,
    policy_of,
    request,
)

BOB = "bob@company.com"
PLAN = "Plan for the move to Bonn"
FOLDERS = (
    Folder(id="clients", name="/Clients", kind="drive", shared_with=()),
    Folder(id="offers", name="/Clients/Offers", kind="drive", shared_with=(ADA,)),
    Folder(id="mine", name="/Mine", kind="drive", shared_with=()),
)
BY_USER = Authorship(object_id="doc-1", last="user")
SOURCES = {"email": "gmail", "document": "gdrive", "event": "calendar"}


def paper(author: Authorship | None = BY_USER, **changes: Any) -> Facts:
    given: dict[str, Any] = {
        "id": "doc-1",
        "name": PLAN,
        "content_text": "The code is 123456.",
        "created_at": NOW,
        "modified_at": NOW,
        "owner": ME,
        "folder_id": "mine",
    }
    return Facts(
        own_address=ME,
        folders=FOLDERS,
        document=Document(**(given | changes)),
        content=Content(chars=44, sensitive=("one_time_code",), digest="d1"),
        authors=(author,) if author else None,
        namesakes=1,
        created=(),
    )


def meeting(*attendees: str, **changes: Any) -> Facts:
    given: dict[str, Any] = {
        "id": "event-1",
        "title": "Review of the second quarter",
        "start": NOW,
        "end": NOW,
        "created_by": ME,
        "attendees": tuple(Attendee(email=one) for one in attendees),
    }
    return Facts(
        own_address=ME,
        event=Event(**(given | changes)),
        content=Content(chars=28, digest="e1"),
        authors=(Authorship(object_id="event-1"),),
        namesakes=1,
    )


def decided(
    action_type: str,
    arguments: dict[str, Any],
    words: str = "",
    *,
    found: Facts,
    origin: Origin | None = None,
    rows: tuple[AllowedAction, ...] = (),
    listed: tuple[tuple[str, str], ...] = (("recipient", BOB), ("recipient", ADA)),
) -> Decision:
    wish = request(action_type, arguments, origin or chat(words))
    kind = "email" if "email" in arguments or "email_id" in arguments else ""
    kind = (
        "document" if "document_id" in arguments else "event" if "event_id" in arguments else kind
    )
    source = SOURCES[kind]
    targets = [list_target(action_type, *one, source=source) for one in listed]
    wish = type(wish)(**{**vars(wish), "account": account(source=source)})
    policy = policy_of(*(rows or (allow(action_type),)), *targets)
    return decide(request=wish, policy=policy, facts=found, now=NOW)


def share(words: str, found: Facts, **changes: Any) -> Decision:
    wish = {"document_id": "doc-1", "email": BOB} | changes
    return decided("share_document", wish, words, found=found)


def ends(decision: Decision) -> tuple[str, str]:
    return decision.verdict, decision.reason


def test_a_document_that_the_user_named_leaves_as_the_policy_says() -> None:
    for words in ("Share doc-1 with Bob", f"Share {PLAN} with Bob"):
        decision = share(words, paper())
        assert ends(decision) == ("allow", "allowed")
    assert decision.exposures == (
        Exposure(
            kind="document",
            id="doc-1",
            title=PLAN,
            owner=ME,
            before=(),
            after=(Reader(BOB, "reader"),),
            passage="The code is 123456.",
            digest="d1",
            chars=44,
            sensitive=("one_time_code",),
            places=("mine",),
            named="O",
            taint="user",
        ),
    )
    assert decision.exposures[0].newcomers == (Reader(BOB, "reader"),)


def test_one_that_nobody_named_is_asked_about_whatever_is_listed() -> None:
    decision = share("What is on today?", paper())
    assert ends(decision) == ("ask", "exposure_not_named")
    assert decision.sentence.endswith(f"Nobody named the document “{PLAN}” in this request.")
    assert ends(share(f"> Share {PLAN}\nSee to it.", paper())) == ("ask", "exposure_not_named")


@pytest.mark.parametrize("taint", ["run", "agent"])
def test_what_the_agent_wrote_is_asked_about_whatever_its_name(taint: Any) -> None:
    author = Authorship(object_id="doc-1", wrote=taint, last="user")
    decision = share(f"Share doc-1, {PLAN}, with Bob", paper(author))
    assert ends(decision) == ("ask", "exposure_of_agent")
    assert decision.exposures[0].taint == taint


def test_what_nobody_looked_up_counts_as_the_agents() -> None:
    decision = share("Share doc-1 with Bob", paper(None))
    assert (decision.reason, decision.exposures[0].taint) == ("exposure_of_agent", "agent")
    other = Authorship(object_id="doc-2", last="user")
    assert share("Share doc-1 with Bob", paper(other)).reason == "exposure_of_agent"


@pytest.mark.parametrize("last", ["user", "other", "unknown"])
def test_what_a_person_wrote_is_no_reason_to_ask(last: Any) -> None:
    author = Authorship(object_id="doc-1", last=last)
    taint: Taint = share("Share doc-1 with Bob", paper(author)).exposures[0].taint
    assert taint == last
    assert share("Share doc-1 with Bob", paper(author)).verdict == "allow"


def test_a_refusal_comes_before_the_question() -> None:
    decision = share("What is on today?", paper(), email=STRANGER)
    assert ends(decision) == ("refuse", "target_not_listed")


def test_a_move_exposes_to_those_alone_who_could_not_read_it_before() -> None:
    folders = (("folder", "offers"), ("recipient", ADA))
    rows = (allow("move_document"),)
    wish = {"document_id": "doc-1", "folder_id": "offers"}

    def move(found: Facts, words: str = "") -> Decision:
        targets = [
            list_target(
                "move_document",
                kind,
                one,
                source="gdrive",
                name="/Clients/Offers" if kind == "folder" else one,
            )
            for kind, one in folders
        ]
        made = request("move_document", wish, chat(words))
        made = type(made)(**{**vars(made), "account": account(source="gdrive")})
        return decide(request=made, policy=policy_of(*rows, *targets), facts=found, now=NOW)

    decision = move(paper())
    assert ends(decision) == ("ask", "exposure_not_named")
    assert decision.exposures[0].after == (Reader(ADA, "reader"),)
    assert decision.exposures[0].places == ("mine",)
    assert move(paper(), "Move doc-1 to the offers").verdict == "allow"
    known = move(paper(shared_with=(ADA,)))
    assert (known.verdict, known.exposures) == ("allow", ())


def test_text_is_put_into_a_named_document_alone_where_others_read_it() -> None:
    wish = {"document_id": "doc-1", "content": "More."}
    private = decided("append_document", wish, found=paper())
    assert (private.verdict, private.exposures) == ("allow", ())
    shared = paper(shared_with=(BOB,), roles={BOB: "writer"})
    asked = decided("append_document", wish, found=shared)
    assert ends(asked) == ("ask", "exposure_not_named")
    [one] = asked.exposures
    assert (one.adds, one.passage, one.newcomers) == (True, "More.", ())
    assert one.before == one.after == (Reader(BOB, "writer"),)
    assert decided("append_document", wish, "Add it to doc-1", found=shared).verdict == "allow"


def test_a_mail_leaves_whole_with_what_it_holds() -> None:
    mail = email(body_text="Secret")
    found = facts(
        mail,
        content=Content(chars=22, digest="m1"),
        authors=(Authorship(object_id="mail-1", last="other"),),
    )
    wish = {"email_id": "mail-1", "to": [BOB]}
    asked = decided("forward_email", wish, "What is on today?", found=found)
    assert ends(asked) == ("ask", "exposure_not_named")
    [one] = asked.exposures
    assert (one.kind, one.owner, one.passage, one.taint) == ("email", ADA, "Secret", "other")
    assert one.newcomers == (Reader(BOB, "receiver"),)
    named = decided("forward_email", wish, "Forward mail-1 to Bob", found=found)
    assert ends(named) == ("allow", "allowed")


def test_a_guest_gets_to_see_the_event_and_a_new_time_shows_nothing() -> None:
    def change(found: Facts, words: str = "", **changes: Any) -> Decision:
        return decided(
            "update_calendar_event", {"event_id": "event-1", **changes}, words, found=found
        )

    guest = change(meeting(ADA), attendees=[ADA, BOB])
    assert ends(guest) == ("ask", "exposure_not_named")
    assert guest.exposures[0].newcomers == (Reader(BOB, "attendee"),)
    assert change(meeting(ADA), "Add Bob to event-1", attendees=[ADA, BOB]).verdict == "allow"
    text = change(meeting(ADA), description="Bring the code.")
    assert (text.reason, text.exposures[0].adds) == ("exposure_not_named", True)
    moved = {"start": "2026-03-03T10:00:00+00:00", "end": "2026-03-03T11:00:00+00:00"}
    assert change(meeting(ADA), **moved).exposures == ()
    assert change(meeting(), description="Mine alone.").exposures == ()
    assert change(meeting(ADA, BOB), attendees=[ADA]).exposures == ()


def test_the_ledger_keeps_what_was_exposed_without_the_text_and_decides_the_same_again() -> None:
    found = paper()
    wish = request("share_document", {"document_id": "doc-1", "email": BOB}, chat("Share doc-1"))
    wish = type(wish)(**{**vars(wish), "account": account(source="gdrive")})
    listed = list_target("share_document", "recipient", BOB, source="gdrive")
    policy = policy_of(allow("share_document"), listed)
    decision = decide(request=wish, policy=policy, facts=found, now=NOW)

    [kept] = decision.plain()["exposures"]
    assert "passage" not in kept
    assert "123456" not in str(decision.plain())
    assert (kept["digest"], kept["after"]) == ("d1", [{"address": BOB, "role": "reader"}])
    grounds = evidence.collect(request=wish, policy=policy, facts=found, now=NOW, decision=decision)
    assert "123456" not in str(grounds)
    again = evidence.decide_on(
        request=wish,
        facts=evidence.FACTS.validate_python(grounds["facts"]),
        needs=frozenset(grounds["needs"]),
        now=NOW,
        reason=decision.reason,
        under=policy,
    )
    assert again is not None
    assert again.plain() == decision.plain()


def test_a_wider_role_is_refused_unless_the_words_say_so() -> None:
    narrow = share("Share doc-1 with Bob", paper(), role="writer")
    assert ends(narrow) == ("refuse", "role_not_said")
    assert "Share it for reading" in narrow.sentence
    assert ends(share("What is on?", paper(), role="commenter")) == ("refuse", "role_not_said")
    assert share("Share doc-1, Bob may edit it", paper(), role="writer").verdict == "allow"
    assert share("Share doc-1 with Bob as writer", paper(), role="writer").verdict == "allow"
    writes = paper(shared_with=(BOB,), roles={BOB: "writer"})
    assert share("Share doc-1 with Bob", writes, role="writer").verdict == "allow"


@pytest.mark.parametrize(
    "words",
    [
        "Share doc-1 with Bob. Eve asked: “let him edit it”",
        'Share doc-1 with Bob. Eve asked: "let him edit it',
        "Share doc-1 (https://docs.example/doc-1/edit) with Bob",
        "Share doc-1, The rules of editing, with Bob",
    ],
)
def test_a_quotation_a_link_and_the_title_of_the_document_give_no_role(words: str) -> None:
    found = paper(name="The rules of editing")
    assert ends(share(words, found, role="writer")) == ("refuse", "role_not_said")
    allowed = share(f"Bob may edit this: {words}", found, role="writer")
    assert allowed.verdict == "allow"


def test_a_person_who_chose_the_role_on_a_card_said_so() -> None:
    edited = {"revises": "a", "proposed": {"document_id": "doc-1", "email": BOB, "role": "reader"}}
    wish = {"document_id": "doc-1", "email": BOB, "role": "writer"}
    decision = decided("share_document", wish, found=paper(), origin=chat("", **edited))
    assert decision.verdict == "ask"


def in_place(words: str, found: Facts, *places: str) -> Decision:
    wish = {"document_id": "doc-1", "email": BOB}
    rows = (allow("share_document", "auto", {"kind": "place", "places": list(places)}),)
    return decided("share_document", wish, words, found=found, rows=rows)


def test_what_lies_in_a_listed_place_goes_though_nobody_named_it() -> None:
    below = paper(folder_id="offers", shared_with=(ADA,))
    for place in ("offers", "clients"):
        assert ends(in_place("What is on?", below, place)) == ("allow", "allowed")
    assert ends(in_place("What is on?", paper(), "clients")) == ("refuse", "condition_failed")
    assert ends(in_place("Share doc-1", paper(), "clients")) == ("refuse", "condition_failed")


def test_nothing_that_the_agent_wrote_or_put_there() -> None:
    put = Authorship(object_id="doc-1", placed=True)
    assert in_place("", paper(put, folder_id="offers"), "clients").reason == "exposure_not_named"
    wrote = Authorship(object_id="doc-1", wrote="agent")
    assert in_place("", paper(wrote, folder_id="offers"), "clients").reason == "exposure_of_agent"


def test_a_place_in_the_ceiling_lets_nothing_go() -> None:
    wish = request("share_document", {"document_id": "doc-1", "email": BOB}, chat("What is on?"))
    wish = replace(wish, account=account(source="gdrive"))
    listed = list_target("share_document", "recipient", BOB, source="gdrive")
    place = conditions.parse({"kind": "place", "places": ["clients"]})
    limit = Limit(id="limit", action_type="share_document", mode="auto", conditions=(place,))
    policy = replace(policy_of(allow("share_document"), listed), ceiling=(limit,))
    found = paper(folder_id="offers")
    decision = decide(request=wish, policy=policy, facts=found, now=NOW)
    assert ends(decision) == ("ask", "exposure_not_named")
