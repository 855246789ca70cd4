"""What was changed, when, and by whom."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from sandbox.data_service.history import after
from sandbox.data_service.store import SCHEMA, Store
from tests.sandbox.data_service.client import Client, error, mail


def entries(office: Client, source: str, **params: Any) -> list[tuple[Any, ...]]:
    found = office.get("/lea/history", source=source, **params).json()["items"]
    return [(e["kind"], e["change"], e["object_id"], e["by"], e["key"]) for e in found]


@pytest.fixture
def lea(office: Client) -> Client:
    office.control("POST", "/users/lea", {})
    return office


def test_what_the_client_did_is_there_once_with_its_key(lea: Client) -> None:
    lea.control("POST", "/users/lea/emails", {"items": [mail("m1")]})
    for _ in range(2):
        assert lea.post("/lea/emails/m1/archive", {}, key="k1").status_code == 200
    draft = lea.post("/lea/drafts", {"to": ["a@b.example"]}, key="k2").json()["id"]
    sent = lea.post(f"/lea/drafts/{draft}/send", {}).json()["id"]
    assert lea.post("/lea/emails/none/archive", {}, key="k3").status_code == 404

    assert entries(lea, "gmail") == [
        ("email", "created", "m1", "other", None),
        ("email", "changed", "m1", "client", "k1"),
        ("draft", "created", draft, "client", "k2"),
        ("draft", "sent", sent, "client", None),
    ]
    assert entries(lea, "jira") == []


def test_what_others_did_is_marked_so(lea: Client) -> None:
    lea.control("POST", "/users/lea/emails", {"items": [mail("m1")]})
    lea.control("POST", "/users/lea/emails", {"items": [mail("m1")]})
    lea.control("PATCH", "/users/lea/emails/m1", {"subject": "Other"})
    lea.control("DELETE", "/users/lea/emails/m1")
    lea.control("POST", "/users/lea/deliver/fyi")

    assert [(change, by) for _, change, _, by, _ in entries(lea, "gmail")] == [
        ("created", "other"),
        ("changed", "other"),
        ("deleted", "other"),
        ("created", "other"),
    ]


def test_pages_together_are_the_whole_history(lea: Client) -> None:
    for number in range(7):
        lea.post("/lea/jira/issues", issue(number), key=f"k{number}")
    found = lea.all_pages("/lea/history", source="jira", limit=2)
    assert [entry["key"] for entry in found] == [f"k{number}" for number in range(7)]
    assert len(entries(lea, "jira", since=found[4]["at"])) >= 3
    assert entries(lea, "jira", since="2100-01-01T00:00:00Z") == []


def test_a_cursor_serves_its_own_listing_only(lea: Client) -> None:
    for number in range(2):
        lea.post("/lea/jira/issues", issue(number))
    page = lea.get("/lea/history", source="jira", limit=1).json()
    for other in ({"source": "gmail"}, {"source": "jira", "since": "2020-01-01T00:00:00Z"}):
        answer = lea.get("/lea/history", **other, cursor=page["next_cursor"])
        assert error(answer) == (400, "bad_cursor")


@pytest.mark.parametrize("source", ["", "drafts", "*"])
def test_a_source_is_named(lea: Client, source: str) -> None:
    answer = lea.get("/lea/history", source=source)
    assert error(answer) == (400, "bad_parameter")


def test_a_state_of_the_version_before_keeps_what_was_done(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite3"
    with sqlite3.connect(path) as before:
        before.executescript(f"{SCHEMA} DROP TABLE history; PRAGMA user_version = 1;")
        before.execute(
            "INSERT INTO operations (user_id, key, method, path, fingerprint, body, status,"
            " response, performed_at) VALUES ('lea', 'k1', 'POST', '/users/lea/jira/issues', '',"
            " '{}', 201, ?, '2026-03-01T09:00:00.000000Z')",
            (json.dumps({"id": "i1"}),),
        )
    before.close()

    store = Store(str(path), records_webhooks=False)
    found = after(store, user_id="lea", source="jira", since="", position=0, limit=5).items
    store.close()

    assert [(e["object_id"], e["by"], e["key"]) for e in found] == [("i1", "client", "k1")]


def issue(number: int) -> dict[str, str]:
    return {"project_key": "PROJ", "type": "task", "summary": f"Number {number}"}
