"""How earlier mail of a sender lies, as the mail reader is shown it."""

from dataclasses import replace
from typing import Any

import pytest

from agents.learn import earlier
from knowledge.models import Item
from tests.agents.learn.test_precedents import MAIL
from tests.agents.pages import mailbox

NAMES = {"label_news": "Newsletter", "label_to_reply": "To Reply"}


def test_the_reader_learns_how_like_mail_lies_and_who_touched_it_last() -> None:
    found = [
        replace(MAIL, source_id="m0"),
        replace(MAIL, source_id="m1", labels=("INBOX", "UNREAD")),
        replace(MAIL, source_id="m2", labels=("INBOX", "label_news"), subject="Issue 7"),
        replace(MAIL, source_id="m3", labels=("Other",), subject="Sale", left_by_agent=True),
    ]

    assert earlier.describe(found, but="m0", subject="Re: issue 8", names=NAMES) == [
        {
            "labels": ["Newsletter"],
            "archived": False,
            "same_subject": True,
            "touched_by_user_since": True,
        },
        {"labels": [], "archived": True, "same_subject": False, "touched_by_user_since": False},
    ]


@pytest.mark.django_db
def test_only_proved_mail_of_a_proved_sender_counts_or_that_of_the_same_list() -> None:
    account = mailbox()
    stored: dict[str, Any] = {
        "proved": {"authenticated": True},
        "forged": {"authenticated": False},
        "listed": {"list_id": "weekly.example"},
    }
    for name, metadata in stored.items():
        Item.objects.create(
            account=account,
            source="gmail",
            source_id=name,
            content_type="email",
            sender_address="a@b.example",
            identifiers=["a@b.example"],
            metadata=metadata,
            occurred_at=MAIL.occurred_at,
            ingested_at=MAIL.occurred_at,
        )

    def found(*, list_id: str = "", authenticated: bool) -> list[str]:
        mails = earlier.read_earlier(
            account.ref(), sender="A@b.example", list_id=list_id, authenticated=authenticated
        )
        return [one.source_id for one in mails.run()] if mails else []

    assert found(authenticated=True) == ["proved"]
    assert found(authenticated=False) == []
    assert found(list_id="weekly.example", authenticated=False) == ["listed"]
    assert found(list_id="other.example", authenticated=True) == []
