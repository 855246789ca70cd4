"""Items as a model is shown them: in few words, and in those that tools and actions take."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from agents.context import facts
from agents.contracts import Person
from knowledge.contracts import FoundItem
from tests.agents.tools.test_actions import account

PERSON = Person(
    organisation_id=UUID(int=0), external_user_id="maya", accounts=(account("gmail", 1),)
)
MAYA = "maya1@company.com"


def described(**metadata: Any) -> dict[str, Any]:
    item = FoundItem(
        id=UUID(int=7),
        account_id=UUID(int=1),
        source="gmail",
        source_id="m1",
        content_type="email",
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


def test_who_is_asked_and_what_they_answered() -> None:
    assert facts.attendee("Ann", "ann@client.com", "accepted") == "Ann (ann@client.com): accepted"
    assert facts.attendee("", "ann@client.com", "") == "ann@client.com"
