from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from agents.learn import precedents
from audit.contracts import Recorded
from guardrails.contracts.learning import Pattern
from knowledge.contracts import StoredMail

AT = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
PATTERN = Pattern(
    id=UUID(int=0),
    name="Weekly",
    sender_address="news@weekly.example",
    sender_domain="",
    list_id="",
    subject="",
    content_type="email",
    actions=(("classify", {"label_id": "label_news"}), ("archive", {})),
)
MAIL = StoredMail(
    source_id="m1",
    thread_id="t1",
    sender="news@weekly.example",
    subject="Issue 42",
    list_id="",
    authenticated=True,
    labels=("label_news",),
    occurred_at=AT,
)


def recorded(action_type: str = "archive", **changes: Any) -> Recorded:
    values: dict[str, Any] = dict.fromkeys(Recorded.__dataclass_fields__, "")
    values |= {
        "action_id": UUID(int=1),
        "action_type": action_type,
        "status": "succeeded",
        "trigger": "chat",
        "payload": {"arguments": {"email_id": "m1"}},
    }
    return Recorded(**(values | changes))


def weighed(mail: StoredMail, *rows: Recorded) -> tuple[str, bool, str]:
    [found] = precedents.weigh(PATTERN, [mail], done=precedents.group_by_mail(rows), now=AT)
    return found.side, found.by_person, found.sentence


def test_mail_that_was_treated_so_in_the_mailbox_supports() -> None:
    assert weighed(MAIL) == (
        "supporting",
        True,
        "Label a mail: yes, in the mailbox; Archive a mail: yes, in the mailbox.",
    )


@pytest.mark.parametrize(
    ("changes", "by_person", "told"),
    [
        ({"trigger": "chat"}, False, "confirmed by nobody"),
        ({"trigger": "webhook"}, False, "confirmed by nobody"),
        ({"trigger": "pattern"}, False, "confirmed by nobody"),
        ({"trigger": "chat", "approved_by": "user:maya"}, True, "confirmed by user:maya"),
        (
            {"trigger": "webhook", "approved_by": "operator:olga"},
            True,
            "confirmed by operator:olga",
        ),
    ],
)
def test_what_the_agent_did_is_set_apart(
    changes: dict[str, str], by_person: bool, told: str
) -> None:
    side, person, words = weighed(MAIL, recorded(**changes))
    assert (side, person) == ("supporting", by_person)
    assert words.endswith(f"Archive a mail: yes, by the agent, {told}.")


def test_what_the_agent_filed_counts_as_its_own_when_the_ledger_tells_no_more() -> None:
    [found] = precedents.weigh(PATTERN, [MAIL], done={}, filings={"m1": {UUID(int=9)}}, now=AT)

    assert (found.side, found.by_person) == ("supporting", False)
    assert found.sentence == (
        "Label a mail: yes, by the agent, confirmed by nobody; "
        "Archive a mail: yes, by the agent, confirmed by nobody."
    )


def test_an_occasion_is_a_run_or_a_day_of_mail_filed_by_hand() -> None:
    row = recorded(approved_by="user:maya", run_id="turn-7")

    [on_a_card] = precedents.weigh(PATTERN, [MAIL], done=precedents.group_by_mail([row]), now=AT)
    [by_hand] = precedents.weigh(PATTERN, [MAIL], done={}, now=AT)

    assert (on_a_card.occasion, by_hand.occasion) == ("turn-7", "2026-03-02")


@pytest.mark.parametrize(
    ("labels", "side"),
    [
        (("INBOX", "UNREAD"), "undecided"),
        (("INBOX",), "contradicting"),  # read, and left where it was
        (("INBOX", "UNREAD", "label_news"), "contradicting"),
        ((), "contradicting"),
        (("INBOX", "UNREAD", "Work"), "undecided"),
    ],
)
def test_mail_that_was_treated_otherwise(labels: tuple[str, ...], side: str) -> None:
    assert weighed(replace(MAIL, labels=labels))[0] == side


def test_a_rejection_contradicts_whatever_the_mail_looks_like() -> None:
    side, _, told = weighed(MAIL, recorded(status="denied"))
    assert side == "contradicting"
    assert "a person rejected it" in told


def test_only_mail_that_the_pattern_fits_counts() -> None:
    others = [
        replace(MAIL, sender="news@weekly.example.evil.com"),
        replace(MAIL, sender=""),
        replace(MAIL, authenticated=False),
    ]
    assert precedents.weigh(PATTERN, others, done={}, now=AT) == ()


def test_a_moved_mail_is_where_the_pattern_would_put_it() -> None:
    moving = replace(PATTERN, actions=(("move_email", {"folder_id": "folder_1"}),))
    there = replace(MAIL, labels=("folder_1", "Work"))
    found = precedents.weigh(moving, [there, replace(MAIL, labels=("Work",))], done={}, now=AT)
    assert [one.side for one in found] == ["supporting", "contradicting"]


def test_rows_whose_payload_was_erased_are_left_out() -> None:
    assert precedents.group_by_mail([recorded(payload={})]) == {}


LATER = AT + precedents.TO_PUT_RIGHT


@pytest.mark.parametrize(
    ("changes", "rows", "now", "seen"),
    [
        ({}, [recorded()], LATER, True),
        ({}, [recorded()], LATER - timedelta(seconds=1), False),
        ({"labels": ("label_news", "UNREAD")}, [recorded()], LATER, False),
        ({"left_by_agent": True}, [recorded()], LATER, False),
        ({}, [recorded(), recorded("mark_read")], LATER, False),
        ({"labels": ("label_news", "INBOX")}, [recorded()], LATER, False),
    ],
)
def test_what_the_user_read_and_left_as_the_agent_did_it_is_seen(
    changes: dict[str, Any], rows: list[Recorded], now: datetime, seen: bool
) -> None:
    mail = replace(MAIL, **changes)
    done = precedents.group_by_mail(rows)

    [found] = precedents.weigh(PATTERN, [mail], done=done, now=now)

    assert (found.seen, found.by_person) == (seen, False)
    assert found.sentence.endswith("The user read it and left it so.") is seen


def test_a_pattern_is_tried_on_all_past_mail() -> None:
    past = precedents.Past(
        mails={
            "m1": MAIL,
            "m2": replace(MAIL, source_id="m2", labels=("INBOX",)),
            "m3": replace(MAIL, source_id="m3", sender="ann@client.example"),
            "m4": replace(MAIL, source_id="m4", occurred_at=AT - timedelta(days=9)),
        },
        done={},
        filings={},
    )

    tried = precedents.try_pattern(PATTERN, past, now=LATER)

    assert (tried.mails, tried.since) == (4, AT - timedelta(days=9))
    assert [(one.item_id, one.side) for one in tried.precedents] == [
        ("m1", "supporting"),
        ("m2", "contradicting"),
        ("m4", "supporting"),
    ]
