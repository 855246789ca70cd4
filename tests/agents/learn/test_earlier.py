"""How earlier mail of a sender lies, as the mail reader is shown it."""

from dataclasses import replace

import pytest

from agents.learn import earlier
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
def test_nothing_is_asked_for_of_a_sender_who_is_not_proved() -> None:
    account = mailbox().ref()
    found = earlier.list_earlier(account, sender="a@b.example", list_id="", authenticated=False)
    assert found == ()
