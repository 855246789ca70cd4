"""Whose mail it is that arrived."""

from types import SimpleNamespace

import pytest

from agents.inbound import inbound
from agents.inbound.inbound import build_context, is_own
from guardrails.gather import strangers
from tests.agents.learn.test_matching import ACCOUNT
from tests.knowledge.office import email


@pytest.mark.parametrize(
    ("sender", "labels", "own"),
    [
        ("ann@client.com", ["INBOX"], False),
        ("Maya@Company.com", ["INBOX"], True),  # to oneself, or in the name of oneself
        ("m.lindqvist@company.com", ["SENT"], True),  # from another address of the user's
        ("m.lindqvist@company.com", ["DRAFT"], True),
    ],
)
def test_nobody_looks_at_what_the_user_wrote(sender: str, labels: list[str], own: bool) -> None:
    assert is_own(ACCOUNT, email(**{"from": sender, "labels": labels})) is own


def test_the_reader_sees_the_newest_mails_of_the_thread_before_this_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    thread = [
        email(
            id=f"m{day}",
            thread_id="t",
            date=f"2026-03-0{day}T09:00:00Z",
            labels=["SENT"] if day == 7 else ["INBOX"],
            body_text=f"Day {day}.",
        )
        for day in (7, 2, 5, 1, 4, 6, 3)
    ]
    reader = SimpleNamespace(thread=lambda thread_id: tuple(thread))
    monkeypatch.setattr(inbound, "mail_reader", lambda account: reader)
    monkeypatch.setattr(strangers, "is_stranger", lambda *_, **__: False)

    shown = build_context(ACCOUNT, next(one for one in thread if one.id == "m6"))

    assert [one["text"] for one in shown.earlier] == ["Day 3.", "Day 4.", "Day 5."]
    assert (shown.thread_messages, shown.is_answered) == (7, True)
