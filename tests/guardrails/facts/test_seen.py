"""What an object was, part by part, and what of it is another one later."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from guardrails.facts.facts import Facts
from guardrails.facts.seen import changes, look
from integrations.contracts import Document, Event, Issue
from integrations.contracts.outgoing import Draft
from tests.guardrails.values import ME, email

BOB = "bob@company.com"
AT = "2026-03-02T10:00:00+00:00"
DOCUMENT = {"id": "d", "version": 1, "updated_at": AT, "created_at": AT, "modified_at": AT}
EVENT = {"id": "e", "version": 1, "updated_at": AT, "start": AT, "end": AT, "created_by": ME}
ISSUE = {"id": "i", "version": 1, "updated_at": AT, "created_at": AT, "key": "P-1"}
DRAFT = {"id": "d", "version": 1, "updated_at": AT}


def mail(**fields: Any) -> Facts:
    return Facts(email=email(**fields))


def document(**fields: Any) -> Facts:
    found = Document.model_validate(DOCUMENT | {"name": "Plan", "owner": ME} | fields)
    return Facts(document=found, own_address=ME)


def event(**fields: Any) -> Facts:
    return Facts(event=Event.model_validate(EVENT | {"title": "Lunch"} | fields), own_address=ME)


def issue(**fields: Any) -> Facts:
    found = {"project_key": "P", "summary": "CI", "status": "To Do"} | fields
    return Facts(issue=Issue.model_validate(ISSUE | found))


def draft(**fields: Any) -> Facts:
    return Facts(draft=Draft.model_validate(DRAFT | {"subject": "Hi"} | fields))


def plan(**fields: Any) -> Facts:
    return Facts(attached=(document(**fields),))


def told(then: Facts, now: Facts) -> tuple[tuple[str, str, str], ...]:
    return changes([list(one) for one in look(then)], look(now))


@pytest.mark.parametrize(
    ("then", "now", "change"),
    [
        (mail(subject="A"), mail(subject="B"), ("subject", "A", "B")),
        (mail(body_text="Hi"), mail(body_text="Hello"), ("text", "2 characters", "5 characters")),
        (
            mail(body_text="Hi"),
            mail(body_text="Ho"),
            ("text", "2 characters", "2 characters, but others"),
        ),
        (
            mail(body_text="Hi"),
            mail(body_text="Hi", body_html="<p>"),
            ("text", "2 characters", "5 characters"),
        ),
        (
            mail(),
            mail(attachments=[{"name": "a.pdf", "size": 9}]),
            ("files", "(nothing)", "a.pdf (9 bytes)"),
        ),
        (document(), document(name="Pay"), ("name", "Plan", "Pay")),
        (document(), document(shared_with=[BOB]), ("readers", "(nothing)", BOB)),
        (plan(), plan(name="Pay"), ("file 1, name", "Plan", "Pay")),
        (event(), event(title="Pay"), ("title", "Lunch", "Pay")),
        (event(), event(location="Oslo"), ("place", "(nothing)", "Oslo")),
        (event(), event(attendees=[{"email": BOB}]), ("people", "(nothing)", BOB)),
        (
            event(),
            event(recurrence="RRULE:FREQ=DAILY"),
            ("repeats", "(nothing)", "RRULE:FREQ=DAILY"),
        ),
        (issue(), issue(summary="CD"), ("summary", "CI", "CD")),
        (issue(), issue(status="Done"), ("status", "To Do", "Done")),
        (issue(), issue(assignee=BOB), ("assignee", "(nothing)", BOB)),
        (issue(), issue(due_date="2026-03-06"), ("due date", "(nothing)", "2026-03-06")),
        (draft(), draft(bcc=[BOB]), ("receivers", "(nothing)", BOB)),
        (draft(), draft(body="X"), ("text", "0 characters", "1 characters")),
    ],
)
def test_what_is_another_one_is_named_with_what_it_was(
    then: Facts, now: Facts, change: tuple[str, str, str]
) -> None:
    part, before, after = change

    assert told(then, now) == ((f"{part} (while it was held)", before, after),)
    assert told(then, then) == ()


@pytest.mark.parametrize(
    ("then", "now"),
    [
        (mail(), mail(is_read=True, labels=["INBOX"], version=9)),
        (document(), document(version=9, modified_at="2026-03-03T10:00:00+00:00")),
        (
            event(attendees=[{"email": BOB}]),
            event(attendees=[{"email": BOB, "status": "accepted"}], version=9),
        ),
        (issue(), issue(comments=[{"id": "1", "body": "Hi", "author": BOB}], version=9)),
        (Facts(), Facts()),
    ],
)
def test_what_nobody_gets_to_see_by_it_is_no_change(then: Facts, now: Facts) -> None:
    assert told(then, now) == ()


def test_another_owner_reads_it_too() -> None:
    assert told(document(), document(owner=BOB)) == (
        ("owner (while it was held)", ME, BOB),
        ("readers (while it was held)", "(nothing)", BOB),
    )


def test_an_object_that_is_gone_or_came_is_another_one() -> None:
    assert [one[0] for one in told(issue(), Facts())] == [
        f"{part} (while it was held)"
        for part in ("summary", "text", "project", "status", "priority", "assignee", "due date")
    ]
    assert len(told(Facts(), draft())) == 3


@given(st.text(), st.text(), st.text(), st.text())
def test_two_texts_are_the_same_only_where_each_is(a: str, b: str, c: str, d: str) -> None:
    then, now = mail(body_text=a, body_html=b or None), mail(body_text=c, body_html=d or None)

    read = [(one.email.body_text, one.email.body_html or "") for one in (then, now) if one.email]

    assert (told(then, now) == ()) == (read[0] == read[1])
