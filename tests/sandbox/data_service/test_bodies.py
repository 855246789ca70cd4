from typing import Any

import httpx
import pytest

from tests.sandbox.data_service.client import Client, error

FAR = {"start": "2030-05-02T09:00:00Z", "end": "2030-05-02T10:00:00+00:00"}


@pytest.mark.parametrize(
    "receiver",
    [
        "",
        "maya",
        "Maya <maya@company.com>",
        "a@b.example, c@d.example",
        "a@b.example;c@d.example",
        "a@b.example\r\nBcc: evil@x.example",
        "team:a@b.example",
        "a@b@c.example",
        " a@b.example",
        f"{'a' * 65}@b.example",
        f"a@{'b' * 254}",
        7,
        None,
        ["a@b.example"],
    ],
)
@pytest.mark.parametrize("field", ["to", "cc", "bcc", "reply_to"])
def test_only_one_bare_address_is_a_receiver(office: Client, receiver: Any, field: str) -> None:
    body = {"to": ["a@b.example"], "subject": "x", "body": "x", field: [receiver]}
    response = office.post("/maya/emails/send", body)
    assert error(response) == (422, "invalid_body")
    assert f"{field}.0" in response.json()["error"]["message"]
    assert office.history() == []


WRONG_BODIES: list[tuple[str, str, Any, str]] = [
    ("POST", "/emails/send", {"to": ["a@b.example"], "body": "x", "raw": "x"}, "raw"),
    ("POST", "/emails/send", {"to": "a@b.example", "body": "x"}, "to"),
    ("POST", "/emails/send", {"to": [], "body": "x"}, "to"),
    ("POST", "/emails/send", {"to": ["a@b.example"]}, "body"),
    ("POST", "/emails/send", {"to": ["a@b.example"], "body": 7}, "body"),
    ("POST", "/emails/send", {"to": ["a@b.example"], "body": "x", "subject": "a\nb"}, "subject"),
    ("POST", "/emails/send", ["a@b.example"], "body"),
    ("POST", "/emails/mail_maya_001/forward", {"body": "x"}, "to"),
    ("POST", "/emails/mail_maya_001/archive", {"force": True}, "force"),
    ("POST", "/emails/mail_maya_001/mark-read", [], "body"),
    ("POST", "/emails/mail_maya_001/move", {}, "folder_id"),
    ("POST", "/emails/mail_maya_001/move", {"folder_id": None}, "folder_id"),
    ("POST", "/emails/mail_maya_001/labels", {"add": [1]}, "add.0"),
    ("POST", "/drafts", {"subject": None}, "subject"),
    ("POST", "/calendar/events", {"title": "x", "start": "2030-05-02", "end": "x"}, "start"),
    ("POST", "/calendar/events", {"title": "x", **FAR, "start": "2030-05-02T09:00"}, "start"),
    ("POST", "/calendar/events", {"title": "x", **FAR, "end": FAR["start"]}, "end"),
    ("POST", "/calendar/events", {"title": "", **FAR}, "title"),
    ("POST", "/calendar/events", {"title": "x", **FAR, "attendees": ["x"]}, "attendees.0"),
    ("POST", "/calendar/events", {"title": "x", **FAR, "create_meet_link": 1}, "create_meet"),
    ("POST", "/jira/issues", {"project_key": "PROJ", "type": "task"}, "summary"),
    ("POST", "/jira/issues", {"project_key": "PROJ", "type": "job", "summary": "x"}, "type"),
    ("PATCH", "/jira/issues/PROJ-95", {"key": "PROJ-1"}, "key"),
    ("PATCH", "/jira/issues/PROJ-95", {"status": "Gone"}, "status"),
    ("PATCH", "/jira/issues/PROJ-95", {"due_date": "soon"}, "due_date"),
    ("POST", "/jira/issues/PROJ-95/comments", {"body": ""}, "body"),
    ("POST", "/documents", {"name": "x", "owner": "omar@company.com"}, "owner"),
    ("PATCH", "/documents/doc_maya_001", {"content": "x"}, "mode"),
    ("POST", "/documents/doc_maya_001/share", {"email": "x@y.example", "role": "owner"}, "role"),
]


@pytest.mark.parametrize(("method", "path", "body", "field"), WRONG_BODIES)
def test_a_body_that_does_not_fit_is_refused_with_the_field_named(
    office: Client, method: str, path: str, body: Any, field: str
) -> None:
    response = office.write(method, f"/maya{path}", body)
    assert error(response) == (422, "invalid_body")
    assert field in response.json()["error"]["message"]
    assert office.history() == []
    assert [(call["performed"], call["status"]) for call in office.calls()] == [(False, 422)]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"{", (400, "bad_json")),
        (b"\xff\xfe", (400, "bad_json")),
        (b'{"body": NaN}', (400, "bad_json")),
        (b'{"to": ["a@b.example"], "to": ["evil@x.example"], "body": "x"}', (400, "bad_json")),
        (b'{"to": ["a@b.example"], "body": "x", "cc": ' + b"9" * 5000 + b"}", (400, "bad_json")),
        (b"[" * 100_000, (400, "bad_json")),
        (b'{"to": ["a@b.example"], "body": "\\ud800"}', (422, "invalid_body")),
        (b'{"to": ["a@b.example"], "body": "' + b"x" * 2_100_000 + b'"}', (413, "too_large")),
    ],
)
def test_a_body_that_is_not_proper_json_is_refused(
    office: Client, http: httpx.Client, raw: bytes, expected: tuple[int, str]
) -> None:
    url = f"{office.sandbox.url}/users/maya/emails/send"
    assert error(http.post(url, content=raw, headers=office.sandbox.headers)) == expected
    assert office.history() == []
