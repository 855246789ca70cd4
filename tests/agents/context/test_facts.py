"""Items as a model is shown them: in few words, and in those that tools and actions take."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from agents.context import facts
from agents.contracts import Person
from integrations.contracts import ContentType
from knowledge.contracts import FoundItem
from tests.agents.tools.test_actions import account

PERSON = Person(
    organisation_id=UUID(int=0), external_user_id="maya", accounts=(account("gmail", 1),)
)
MAYA = "maya1@company.com"


def described(*, kind: ContentType = "email", **metadata: Any) -> dict[str, Any]:
    item = FoundItem(
        id=UUID(int=7),
        account_id=UUID(int=1),
        source="gmail",
        source_id="m1",
        content_type=kind,
        title="Prices",
        summary="Not shown.",
        text="Hello",
        relevance=0.5,
        occurred_at=datetime(2026, 3, 8, 9, 14, tzinfo=UTC),
        sender_name="Ann Lee",
        sender_address="ann@client.com",
        metadata=metadata,
    )
    return facts.describe(item, person=PERSON, names={"label_team": "Team"})


def test_a_mail_to_the_user_alone_in_few_words() -> None:
    assert described(to=[MAYA.upper()], labels=["UNREAD", "STARRED", "SENT"], is_read=True) == {
        "id": str(UUID(int=7)),
        "type": "email",
        "title": "Prices",
        "from": "Ann Lee (ann@client.com)",
        "date": "Sun 2026-03-08T09:14+00:00",
    }


def test_labels_are_called_as_tools_take_them() -> None:
    found = described(labels=["INBOX", "label_team", "label_odd"])
    assert found["labels"] == ["INBOX", "Team", "label_odd"]


def test_others_who_got_it_are_named_with_the_user() -> None:
    assert described(to=[MAYA, "ben@company.com"])["to"] == [MAYA, "ben@company.com"]


def test_who_got_copies_and_which_files_came_with_it() -> None:
    found = described(
        to=[MAYA], cc=["ben@company.com"], is_read=False, attachments=[{"name": "offer.pdf"}]
    )
    assert (found["cc"], found["files"], found["unread"]) == (
        *(["ben@company.com"], ["offer.pdf"], True),
    )


def test_an_event_tells_when_it_ends_where_it_is_and_who_comes() -> None:
    found = described(
        kind="event",
        start="2026-03-08T09:14:00+00:00",
        end="2026-03-08T10:44:00+00:00",
        location="Room 4",
        status="confirmed",
        attendees=[{"email": "ann@client.com", "name": "Ann", "status": "declined"}],
    )
    assert found["date"] == "Sun 2026-03-08T09:14+00:00"
    assert found["ends"] == "Sun 2026-03-08T10:44+00:00"
    assert (found["location"], found["status"]) == ("Room 4", "confirmed")
    assert found["attendees"] == ["Ann (ann@client.com): declined"]


def test_an_issue_tells_how_it_stands() -> None:
    known = {
        "key": "PROJ-7",
        "status": "In Review",
        "priority": "high",
        "assignee": "ben@company.com",
        "labels": ["portal"],
        "components": ["web"],
        "due_date": "2026-03-12",
        "comments": 2,
    }
    found = described(kind="issue", type="bug", project_key="PROJ", **known)
    assert {name: found[name] for name in known} == known
    assert found["issue_type"] == "bug"


def test_who_is_asked_and_what_they_answered() -> None:
    assert facts.attendee("Ann", "ann@client.com", "accepted") == "Ann (ann@client.com): accepted"
    assert facts.attendee("", "ann@client.com", "") == "ann@client.com"
