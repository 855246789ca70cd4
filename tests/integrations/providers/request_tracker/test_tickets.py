"""Tickets in Remit's words, and back."""

import base64
from datetime import UTC, datetime
from typing import Any

import pytest

from integrations.exceptions import NotFound, Rejected
from integrations.providers.request_tracker import tickets
from integrations.providers.request_tracker.tickets import Attachment, CustomField, RawTicket

LABELS = CustomField(id="2", name="Labels")


def raw(**changes: Any) -> RawTicket:
    moment = "2026-11-26T22:30:55Z"
    usual = {"id": 1, "Status": "new", "Queue": {"id": "1"}, "Owner": {"id": "Nobody"}}
    times = {"Created": moment, "LastUpdated": moment, "Due": "1970-01-01T00:00:00Z"}
    return RawTicket.model_validate({**usual, **times, "Creator": {"id": "nora"}, **changes})


def issue(**changes: Any) -> Any:
    about: dict[str, Any] = {"description": "", "comments": (), "people": {"nora": "n@office.test"}}
    return tickets.to_issue(
        raw(**changes), queue="General", etag='"32"', base="https://rt.test/rt", **about
    )


def test_a_ticket_is_an_issue() -> None:
    found = issue(Subject="CI", Priority="60", Due="2026-12-24T00:00:00Z", Status="stalled")

    assert (found.key, found.project_key, found.revision) == ("1", "General", "32")
    assert (found.status, found.priority, str(found.due_date)) == (
        "stalled",
        "medium",
        "2026-12-24",
    )
    assert (found.assignee, found.reporter) == (None, "n@office.test")
    assert found.url == "https://rt.test/rt/Ticket/Display.html?id=1"


def test_what_was_never_set_is_nothing() -> None:
    assert (issue().priority, issue().due_date, issue().labels) == (None, None, ())


@pytest.mark.parametrize("priority", tickets.PRIORITIES)
def test_a_priority_comes_back_as_it_was_set(priority: str) -> None:
    fields = tickets.to_fields({"priority": priority}, labels=None)

    assert tickets.priority_of(int(fields["Priority"])) == priority


def test_changes_are_named_as_rt_does() -> None:
    changes = {"summary": "x", "status": "Done", "due_date": "2026-12-24", "labels": ["a", "b"]}

    assert tickets.to_fields(changes, labels=LABELS) == {
        "Subject": "x",
        "Status": "resolved",
        "Due": "2026-12-24 00:00:00",
        "CustomFields": {"Labels": ["a", "b"]},
    }
    assert tickets.to_fields({"due_date": None, "priority": None, "labels": []}, labels=None) == {
        "Due": "",
        "Priority": "0",
    }


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"description": "x"}, "RT keeps how a ticket began"),
        ({"type": "bug"}, "no types"),
        ({"labels": ["a"]}, "no custom field"),
    ],
)
def test_what_a_ticket_does_not_have_is_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Rejected, match=sentence):
        tickets.to_fields(changes, labels=None)


@pytest.mark.parametrize("name", ["x' OR Queue = 'y", 'a"b', "a\\", "", "a\nb"])
def test_a_name_cannot_leave_its_place_in_a_query(name: str) -> None:
    with pytest.raises(NotFound):
        tickets.check_queue(name)


def test_a_text_comes_back_as_it_was_written_without_its_mark() -> None:
    written = tickets.marked("One <b> & two\n\nthree --> <!-- remit:remit-9 -->", "remit-1")
    found = Attachment.model_validate(
        {"ContentType": "text/html", "Content": _base64(written["Content"])}
    )

    assert tickets.marks(found.source) == ["remit-1"]
    assert tickets.text_of(found) == "One <b> & two\n\nthree --> <!-- remit:remit-9 -->"


def test_a_query_asks_as_early_as_any_zone_makes_it() -> None:
    assert tickets.moment(datetime(2026, 3, 1, 6, tzinfo=UTC)) == "2026-02-28 18:00:00"


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
