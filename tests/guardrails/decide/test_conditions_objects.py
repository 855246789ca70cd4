"""Conditions about what the action is done to, about its mail, its receivers and its numbers."""

from collections.abc import Set
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from config.local.state import PROJECT_DIR
from guardrails.actions import registry
from guardrails.actions.mail.messages import receivers
from guardrails.decide.conditions import vocabulary as conditions
from guardrails.decide.conditions.base import Context
from guardrails.decide.conditions.objects.number import Number
from guardrails.decide.conditions.vocabulary import BY_KIND
from guardrails.decide.provenance import Provenance
from guardrails.facts.facts import Facts
from guardrails.facts.targets import Target, audience
from integrations.contracts import Attendee, Document, Event, Folder, Issue, Mailbox
from integrations.contracts.people import Correspondence
from tests.guardrails.values import ADA, ME, NOW, STRANGER, email, facts

COLLEAGUE = "omar@company.com"


def is_met(
    raw: dict[str, Any],
    action: str = "archive",
    found: Facts | None = None,
    *,
    words: str = "",
    sources: Set[Provenance] = frozenset({"X"}),
    targets: tuple[Target, ...] = (),
    now: datetime = NOW,
    **arguments: Any,
) -> bool:
    known = registry.BY_NAME[action]
    context = Context(
        action=known,
        trigger="chat",
        facts=found or facts(),
        now=now,
        arguments=arguments,
        targets=targets,
        words=words,
        sources={known.object_field or "": sources},
    )
    return conditions.parse(raw).evaluate(context).passed


def document(**changes: Any) -> Document:
    values = {"id": "d-1", "created_at": NOW, "modified_at": NOW, "owner": ME, "name": "Plan"}
    return Document.model_validate(values | changes)


def event(**changes: Any) -> Event:
    values = {"id": "e-1", "start": NOW, "end": NOW, "created_by": ME, "title": "Lunch"}
    return Event.model_validate(values | changes)


def issue(**changes: Any) -> Issue:
    values = {"id": "1", "key": "PROJ-1", "project_key": "PROJ", "created_at": NOW}
    return Issue.model_validate(values | changes)


def of(**objects: Any) -> Facts:
    return Facts(own_address=ME, folders=(), **objects)


# --- the object ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("owner", "self_", "own_domain", "any_"),
    [
        (ME, True, True, True),
        ("Maya@company.com", True, True, True),
        (COLLEAGUE, False, True, True),
        (ADA, False, False, True),
        ("", False, False, False),
        ("somebody", False, False, False),
    ],
)
def test_whose_it_is(owner: str, self_: bool, own_domain: bool, any_: bool) -> None:
    for found, action in (
        (of(document=document(owner=owner)), "share_document"),
        (of(event=event(created_by=owner)), "cancel_calendar_event"),
        (of(issue=issue(reporter=owner)), "comment_jira_task"),
    ):
        assert is_met({"kind": "owner"}, action, found) is self_
        assert is_met({"kind": "owner", "owner": "own_domain"}, action, found) is own_domain
        assert is_met({"kind": "owner", "owner": "any"}, action, found) is any_
    assert not is_met({"kind": "owner", "owner": "any"}, "share_document", of())


@pytest.mark.parametrize(
    ("people", "private", "internal"),
    [
        ((), True, True),
        ((COLLEAGUE,), False, True),
        ((COLLEAGUE, ADA), False, False),
        (("someone",), False, False),
    ],
)
def test_who_else_sees_it(people: tuple[str, ...], private: bool, internal: bool) -> None:
    attendees = tuple(Attendee(email=one) for one in people)
    for found, action in (
        (of(document=document(shared_with=people)), "append_document"),
        (of(event=event(attendees=attendees)), "update_calendar_event"),
        (facts(mailbox=Mailbox(address=ME, shared_with=people)), "draft"),
    ):
        assert is_met({"kind": "audience"}, action, found) is private
        assert is_met({"kind": "audience", "audience": "internal"}, action, found) is internal
        assert is_met({"kind": "audience", "audience": "any"}, action, found)


def test_who_reads_the_folder_sees_what_is_made_in_it() -> None:
    readers = audience("folder.readers", [ADA]) or ()
    raw = {"kind": "audience", "audience": "internal"}
    assert is_met(raw, "create_document", of(), targets=receivers("to", [ADA]))
    assert not is_met(raw, "create_document", of(), targets=readers)
    in_folder = of(document=document(folder_id="f-1"))
    assert not is_met(raw, "append_document", in_folder)  # the folder is not known
    known = Folder(id="f-1", name="/Plans", kind="drive", shared_with=(ADA,))
    shared = Facts(own_address=ME, document=document(folder_id="f-1"), folders=(known,))
    assert not is_met(raw, "append_document", shared)


def test_who_sees_it_is_nobody_s_guess() -> None:
    raw = {"kind": "audience", "audience": "internal"}
    assert not is_met(raw, "draft", facts(mailbox=None))
    assert not is_met(raw, "append_document", of())
    unknown = Facts(document=document(shared_with=(COLLEAGUE,)), folders=())
    assert not is_met(raw, "append_document", unknown)


@pytest.mark.parametrize(
    ("words", "title", "expected"),
    [
        ("archive “Lunch on Friday?” please", "Lunch on Friday?", True),
        ("archive Lunch on Friday? please", "Lunch on Friday?", True),
        ("archive lunch on friday?", "Lunch on Friday?", False),
        ("archive Lunch on Friday", "Lunch on Friday?", False),
        ("archive the report", "the report", False),
        ("archive “the report”", "the report", True),
        ('archive "please"', "please", True),
        ("archive please", "please", False),
        ("archive a b cd", "a b c", False),
        ("archive it", "", False),
    ],
)
def test_the_user_names_it_exactly(words: str, title: str, expected: bool) -> None:
    found = facts(email(subject=title))
    assert is_met({"kind": "named"}, found=found, words=words, email_id="mail-1") is expected


def test_the_user_types_its_id() -> None:
    assert is_met({"kind": "named"}, sources={"U", "X"}, email_id="mail-1")
    assert not is_met({"kind": "named"}, sources={"A", "T", "X"}, email_id="mail-1")
    assert not is_met({"kind": "named"}, "send_email", sources={"U"})
    assert not is_met({"kind": "named"}, words="archive “Lunch on Friday?”", email_id="mail-2")


def test_only_the_ledger_says_what_was_made_in_this_run() -> None:
    made: Any = {"kind": "created_in_run"}
    assert is_met(made, "delete_draft", sources={"R", "X"}, draft_id="d")
    assert not is_met(made, "delete_draft", sources={"U", "X"}, draft_id="d")


@pytest.mark.parametrize(
    ("hours", "at_least_one", "at_most_two"),
    [(0, False, True), (1, True, True), (2, True, True), (3, True, False), (-1, False, False)],
)
def test_age_has_inclusive_bounds(hours: int, at_least_one: bool, at_most_two: bool) -> None:
    now = NOW + timedelta(hours=hours)
    for found, action in (
        (facts(), "archive"),
        (of(document=document()), "share_document"),
        (of(issue=issue()), "comment_jira_task"),
    ):
        assert is_met({"kind": "age", "min_hours": 1}, action, found, now=now) is at_least_one
        assert is_met({"kind": "age", "max_hours": 2}, action, found, now=now) is at_most_two
    without_zone = {"date": datetime(2026, 3, 2, 10)}  # noqa: DTZ001  # the edge lets none in
    odd = facts(email().model_copy(update=without_zone))
    assert not is_met({"kind": "age", "max_hours": 2}, found=odd, now=now)
    assert not is_met({"kind": "age", "max_hours": 2}, found=Facts(), now=now)


# --- events and numbers ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("present", "wanted", "expected"),
    [
        (25, None, True),
        (24, None, True),
        (23, None, False),
        (25, 24, True),
        (25, 23, False),
        (23, 48, False),
    ],
)
def test_notice_counts_for_the_old_and_the_new_start(
    present: int, wanted: int | None, expected: bool
) -> None:
    found = of(event=event(start=NOW + timedelta(hours=present)))
    given: dict[str, Any] = {}
    if wanted is not None:
        given["start"] = (NOW + timedelta(hours=wanted)).isoformat()
    raw = {"kind": "notice", "min_hours": 24}
    assert is_met(raw, "update_calendar_event", found, **given) is expected


def test_notice_of_a_new_event_over_the_change_of_clocks() -> None:
    night = datetime(2026, 3, 28, 23, 0, tzinfo=UTC)  # midnight in Stockholm
    raw = {"kind": "notice", "min_hours": 10}
    # Ten on the wall clock is nine hours later: an hour is left out.
    early, late = "2026-03-29T10:00:00+02:00", "2026-03-29T11:00:00+02:00"
    assert not is_met(raw, "create_calendar_event", of(), now=night, start=early)
    assert is_met(raw, "create_calendar_event", of(), now=night, start=late)
    assert not is_met(raw, "create_calendar_event", of(), now=night)
    assert not is_met(raw, "cancel_calendar_event", of(), now=night)


@pytest.mark.parametrize(
    ("given", "expected"),
    [(1, True), (3.0, True), (0.99, False), (3.01, False), ([1, 2, 3], True), ([], False)]
    + [(one, False) for one in (None, True, "2", float("nan"), float("inf"))],
)
def test_a_number_is_within_its_bounds(given: Any, expected: bool) -> None:
    raw = {"kind": "number", "field": "attendees", "min": 1, "max": 3}
    assert is_met(raw, "create_calendar_event", attendees=given) is expected
    assert not is_met(raw, "create_calendar_event")
    assert not is_met({**raw, "field": "amount"}, "create_calendar_event", amount=given)


def test_a_number_fits_actions_that_have_it() -> None:
    attendees = Number(kind="number", field="attendees", max=5)
    assert attendees.unfit(registry.BY_NAME["create_calendar_event"]) == ""
    assert "attendees" in attendees.unfit(registry.BY_NAME["archive"])


# --- the mail --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sender", "relations"),
    [
        (ME, {"self", "own_domain"}),
        (COLLEAGUE, {"own_domain"}),
        (ADA, {"corresponded", "thread"}),
        (STRANGER, set()),
        ("x@notcompany.com", set()),
        ("Maya <maya@company.com>", set()),
    ],
)
def test_a_proved_sender_has_relations(sender: str, relations: set[str]) -> None:
    sent = email(id="mail-2", labels=("SENT",), to=(ADA,), **{"from": ME})
    mail = email(**{"from": sender})
    known = Correspondence(address=sender, received=3, sent=2 if sender == ADA else 0)
    found = facts(mail, thread=(mail, sent), correspondence=known)
    unproved = facts(
        email(**{"from": sender, "authentication": {"dmarc": "fail"}}),
        thread=(mail, sent),
        correspondence=known,
    )
    for relation in ("self", "own_domain", "corresponded", "thread"):
        raw = {"kind": "sender_relation", "any_of": [relation]}
        assert is_met(raw, found=found) is (relation in relations)
        assert not is_met(raw, found=unproved)
        assert not is_met(raw, found=Facts(own_address=ME))


def test_capitals_prove_no_correspondence() -> None:
    mail = email(**{"from": "ADA@client.com"})
    known = Correspondence(address="ADA@client.com", received=3, sent=2)
    raw = {"kind": "sender_relation", "any_of": ["corresponded"]}
    assert not is_met(raw, found=facts(mail, correspondence=known))


@pytest.mark.parametrize(("sender", "expected"), [(ADA, True), ("", False), ("A <a@b.com>", False)])
def test_a_sender_exists(sender: str, expected: bool) -> None:
    assert is_met({"kind": "sender_exists"}, found=facts(email(**{"from": sender}))) is expected
    assert not is_met({"kind": "sender_exists"}, found=Facts())


@pytest.mark.parametrize(
    ("subject", "whole", "word"),
    [
        ("Daily report", True, True),
        ("  DAILY\u200b  Report ", True, True),
        ("Daily reports", False, False),
        ("Re: Daily report", False, True),
        ("Daily report!", False, True),
        ("xdaily report", False, False),
        ("report, daily", False, False),
        ("", False, False),
    ],
)
def test_subjects_match_whole_or_by_whole_words(subject: str, whole: bool, word: bool) -> None:
    found = facts(email(subject=subject))
    assert is_met({"kind": "subject", "equals": ["daily report"]}, found=found) is whole
    assert is_met({"kind": "subject", "words": ["Daily Report"]}, found=found) is word
    assert not is_met({"kind": "subject", "words": ["daily"]}, found=Facts())


def test_a_subject_is_no_pattern() -> None:
    raw = {"kind": "subject", "words": [".*"]}
    assert not is_met(raw, found=facts(email(subject="anything")))
    assert is_met(raw, found=facts(email(subject="all .* of it")))


def test_labels_are_carried_and_lacking() -> None:
    there = {"kind": "labels", "carries": ["INBOX"], "lacks": ["STARRED"]}
    assert is_met(there)
    assert not is_met(there, found=facts(email(labels=("INBOX", "STARRED"))))
    assert not is_met(there, found=facts(email(labels=())))
    assert not is_met({"kind": "labels", "carries": ["inbox"]})
    assert not is_met({"kind": "labels", "lacks": ["STARRED"]}, found=Facts())
    raw = {"kind": "labels", "carries": ["urgent"]}
    assert is_met(raw, "comment_jira_task", of(issue=issue(labels=("urgent",))))


# --- receivers -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "is_group"),
    [
        ("all@company.com", True),
        ("All-Hands@company.com", True),
        ("dev-team@company.com", True),
        ("team.berlin@company.com", True),
        ("berlin@company.com", True),  # named in the condition
        ("ada@team.com", False),
        ("allan@company.com", False),
        ("steamy@company.com", False),
    ],
)
def test_groups_are_known_by_name_or_named(address: str, is_group: bool) -> None:
    raw = {"kind": "group_address", "groups": ["Berlin@company.com"]}
    both = receivers("to", [ADA, address])
    assert is_met(raw, "send_email", targets=both) is not is_group
    assert is_met(raw | {"group_address": "allow"}, "send_email", targets=both)
    assert not is_met(raw, "send_email")


@pytest.mark.parametrize(
    ("raw", "named"),
    [
        ({"kind": "age"}, "min_hours or max_hours"),
        ({"kind": "age", "min_hours": 2, "max_hours": 1}, "more than"),
        ({"kind": "number", "field": "a"}, "min or max"),
        ({"kind": "number", "field": "a", "min": 2, "max": 1}, "more than"),
        ({"kind": "number", "field": "a.b", "min": 2}, "field"),
        ({"kind": "number", "field": "a", "min": float("nan")}, "min"),
        ({"kind": "labels"}, "at least one label"),
        ({"kind": "labels", "carries": ["a"], "lacks": ["a"]}, "carried and lacking"),
        ({"kind": "subject"}, "at least one subject"),
        ({"kind": "subject", "words": [" "]}, "more than blanks"),
        ({"kind": "subject", "equals": ["a\u200bb"]}, "hidden"),
        ({"kind": "links", "links": "none", "domains": ["a.com"]}, "only for known"),
        ({"kind": "links", "domains": ["*.a.com"]}, "domains"),
        ({"kind": "secrets", "forbid": []}, "forbid"),
        ({"kind": "secrets", "forbid": ["names"]}, "forbid"),
        ({"kind": "sender_relation", "any_of": []}, "any_of"),
        ({"kind": "notice", "min_hours": 0}, "min_hours"),
        ({"kind": "owner", "owner": "me"}, "owner"),
        ({"kind": "max_chars", "max": "9"}, "max"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(raw: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        conditions.parse(raw)


def test_the_manual_has_every_kind() -> None:
    text = (Path(PROJECT_DIR) / "docs" / "guardrails.md").read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith('| `{"kind": "')]
    assert sorted(line.split('"')[3] for line in rows) == sorted(BY_KIND)
