from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from agents.learn import precedents
from audit.contracts import Recorded
from knowledge.contracts import StoredMail
from tests.agents.learn import test_precedents

AT = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
MAIL = StoredMail(
    source_id="m0",
    thread_id="t",
    sender="billing@cloudnest.example",
    subject="Invoice 17",
    list_id="",
    authenticated=True,
    labels=(),
    occurred_at=AT,
)
CONFIRMED = {"approved_by": "user:maya"}
FILED = (("archive", "{}"), ("classify", '{"label_id":"label_1"}'))


def recorded(action_type: str, arguments: dict[str, Any], **changes: Any) -> Recorded:
    return test_precedents.recorded(
        action_type, **({"payload": {"arguments": arguments}} | changes)
    )


def heads(number: int, **changes: Any) -> dict[str, StoredMail]:
    return {f"m{n}": replace(MAIL, source_id=f"m{n}", **changes) for n in range(number)}


def test_only_what_people_decided_and_patterns_can_do_counts() -> None:
    assert precedents.find_decisions(
        [
            recorded("classify", {"email_id": "m1", "label_id": "label_2"}, **CONFIRMED),
            recorded("classify", {"email_id": "m1", "label_id": "label_1"}, **CONFIRMED),
            recorded("archive", {"email_id": "m0"}, trigger="chat"),
            recorded("archive", {"email_id": "m1"}, trigger="webhook", approved_by="user:maya"),
            recorded("archive", {"email_id": "m2"}, trigger="webhook"),
            recorded("archive", {"email_id": "m3"}, trigger="pattern"),
            recorded("archive", {"email_id": "m4"}, status="failed", **CONFIRMED),
            recorded("archive", {"email_id": "m5"}, payload={}, **CONFIRMED),
            recorded("send_email", {"to": ["a@b.example"]}, **CONFIRMED),
            recorded("forward", {"email_id": "m6", "to": ["a@b.example"]}, **CONFIRMED),
        ]
    ) == {"m1": (("archive", "{}"), ("classify", '{"label_id":"label_2"}'))}


@pytest.mark.parametrize(("number", "found"), [(4, 0), (5, 1), (50, 1)])
def test_five_mails_of_one_sender_make_a_pattern(number: int, found: int) -> None:
    decided = dict.fromkeys(heads(number), FILED)
    patterns = [pattern for pattern, _ in precedents.find_repeated(decided, heads(number))]

    assert len(patterns) == found
    for pattern in patterns:
        assert (pattern.sender_address, pattern.list_id, pattern.subject) == (MAIL.sender, "", "")
        assert pattern.actions == (("archive", {}), ("classify", {"label_id": "label_1"}))


def test_a_list_is_named_by_its_id() -> None:
    found = heads(5, list_id="<weekly.example>", authenticated=False)
    [(pattern, _)] = precedents.find_repeated(dict.fromkeys(found, FILED), found)
    assert (pattern.sender_address, pattern.list_id) == ("", "<weekly.example>")


@pytest.mark.parametrize("changes", [{"sender": ""}, {"authenticated": False}])
def test_nobody_and_an_unproved_sender_make_none(changes: dict[str, Any]) -> None:
    found = heads(5, **changes)
    assert list(precedents.find_repeated(dict.fromkeys(found, FILED), found)) == []


def test_mail_that_is_not_stored_counts_for_nothing() -> None:
    assert list(precedents.find_repeated(dict.fromkeys(heads(5), FILED), heads(4))) == []


def test_different_decisions_are_not_added_up() -> None:
    decided = {f"m{n}": FILED if n % 2 else FILED[:1] for n in range(8)}
    assert list(precedents.find_repeated(decided, heads(8))) == []
