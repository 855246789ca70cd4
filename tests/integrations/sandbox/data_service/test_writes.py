from typing import Any

import httpx
import pytest

from tests.integrations.sandbox.data_service.client import Client, error

FAR = {"start": "2030-05-02T09:00:00Z", "end": "2030-05-02T10:00:00+00:00"}


def proposal(office: Client) -> dict[str, Any]:
    (found,) = office.get("/maya/threads/thread_portal_proposal").json()["messages"]
    assert isinstance(found, dict)
    return found


def test_a_sent_mail_stands_in_the_mailbox_as_sent(office: Client) -> None:
    email = proposal(office)
    response = office.post(
        "/maya/emails/send",
        {
            "to": ["john@company.com"],
            "cc": ["omar@company.com"],
            "bcc": ["grace@company.com"],
            "reply_to": ["team@company.com"],
            "subject": "Re: Proposal: customer portal",
            "body": "Tack!\n\nMaya",
            "reply_to_id": email["id"],
        },
    )
    assert response.status_code == 200
    sent = office.get(f"/maya/emails/{response.json()['id']}").json()
    assert response.json() == {name: sent[name] for name in ("message_id", "thread_id", "id")}
    assert sent["message_id"].endswith("@company.com>")
    expected = {
        "thread_id": "thread_portal_proposal",
        "from": "maya@company.com",
        "from_name": "Maya Lindqvist",
        "to": ["john@company.com"],
        "cc": ["omar@company.com"],
        "bcc": ["grace@company.com"],
        "reply_to": ["team@company.com"],
        "subject": "Re: Proposal: customer portal",
        "body_text": "Tack!\n\nMaya",
        "body_html": None,
        "snippet": "Tack! Maya",
        "labels": ["SENT"],
        "is_read": True,
        "version": 1,
    }
    assert {name: sent[name] for name in expected} == expected


def test_a_mail_that_answers_nothing_starts_a_thread(office: Client) -> None:
    sent = office.post("/maya/emails/send", {"to": ["a@b.example"], "body": "Hello"}).json()
    thread = office.get(f"/maya/threads/{sent['thread_id']}").json()
    assert [message["id"] for message in thread["messages"]] == [sent["id"]]


@pytest.mark.parametrize("path", ["/maya/emails/send", "/maya/drafts"])
def test_an_answer_to_an_unknown_mail_is_refused(office: Client, path: str) -> None:
    body = {"to": ["a@b.example"], "body": "x", "reply_to_id": "none"}
    assert error(office.post(path, body)) == (404, "unknown_email")
    assert office.history() == []


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


def test_a_forwarded_mail_carries_text_and_attachments(office: Client) -> None:
    sketches = office.get("/maya/threads/thread_signin_sketches").json()["messages"][0]
    response = office.post(
        f"/maya/emails/{sketches['id']}/forward",
        {"to": ["kofi@company.com"], "body": "Please have a look."},
    )
    assert response.status_code == 200
    forwarded = office.get(f"/maya/emails/{response.json()['id']}").json()
    assert forwarded["subject"] == "Fwd: Sign-in sketches, second round"
    assert forwarded["thread_id"] == "thread_signin_sketches"
    assert forwarded["attachments"] == sketches["attachments"]
    assert forwarded["attachments"][0]["gdrive_id"] == "doc_maya_014"
    assert forwarded["body_text"].startswith("Please have a look.\n\n---------- Forwarded")
    assert sketches["body_text"] in forwarded["body_text"]
    unknown = office.post("/maya/emails/none/forward", {"to": ["kofi@company.com"]})
    assert error(unknown) == (404, "unknown_email")


def test_a_draft_is_written_changed_and_sent_once(office: Client) -> None:
    created = office.post("/maya/drafts", {"subject": "Hej", "body": "First"})
    assert created.status_code == 201
    assert set(created.json()) == {"id", "thread_id", "message_id"}
    path = f"/maya/drafts/{created.json()['id']}"

    assert error(office.post(f"{path}/send")) == (422, "no_receivers")
    changed = office.write("PATCH", path, {"to": ["a@b.example"], "body": "Second"}).json()
    assert (changed["to"], changed["subject"], changed["body"]) == (
        ["a@b.example"],
        "Hej",
        "Second",
    )
    assert changed["version"] == 2

    sent = office.post(f"{path}/send").json()
    assert sent["message_id"] == created.json()["message_id"]
    assert sent["thread_id"] == created.json()["thread_id"]
    assert office.get(f"/maya/emails/{sent['id']}").json()["body_text"] == "Second"
    assert error(office.get(path)) == (404, "unknown_draft")
    assert error(office.post(f"{path}/send")) == (404, "unknown_draft")


def test_a_deleted_draft_is_gone(office: Client) -> None:
    draft = office.post("/maya/drafts", {"to": ["a@b.example"]}).json()
    deleted = office.write("DELETE", f"/maya/drafts/{draft['id']}")
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert office.get("/maya/drafts").json() == {"items": []}
    assert error(office.write("DELETE", f"/maya/drafts/{draft['id']}")) == (404, "unknown_draft")


def test_archiving_takes_the_mail_out_of_the_inbox_and_twice_changes_nothing(
    office: Client,
) -> None:
    email = proposal(office)
    assert email["labels"] == ["INBOX", "UNREAD", "STARRED"]
    archived = office.post(f"/maya/emails/{email['id']}/archive")
    assert archived.status_code == 200
    assert archived.json()["labels"] == ["UNREAD", "STARRED"]
    assert archived.json()["version"] == 2
    assert archived.json()["updated_at"] > email["updated_at"]

    again = office.post(f"/maya/emails/{email['id']}/archive")
    assert (again.status_code, again.json()) == (200, archived.json())


def test_marking_read_keeps_label_and_flag_together(office: Client) -> None:
    email = proposal(office)
    assert email["is_read"] is False
    read = office.post(f"/maya/emails/{email['id']}/mark-read").json()
    assert (read["is_read"], read["labels"]) == (True, ["INBOX", "STARRED"])
    assert office.post(f"/maya/emails/{email['id']}/mark-read").json() == read


def test_labels_are_added_and_removed(office: Client) -> None:
    path = f"/maya/emails/{proposal(office)['id']}/labels"
    body = {"add": ["label_to_reply", "label_team"], "remove": ["STARRED"]}
    changed = office.post(path, body).json()
    assert changed["labels"] == ["INBOX", "UNREAD", "label_to_reply", "label_team"]
    assert changed["is_starred"] is False
    assert office.post(path, body).json() == changed
    assert office.post(path, {"remove": ["label_cold"]}).json() == changed


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"add": ["label_none"]}, (404, "unknown_label")),
        ({"add": ["Newsletter"]}, (404, "unknown_label")),
        ({"remove": ["folder_clients"]}, (404, "unknown_label")),
        ({"add": ["SENT"]}, (422, "label_not_allowed")),
        ({"add": ["label_fyi"], "remove": ["label_fyi"]}, (422, "invalid_body")),
        ({"add": "label_fyi"}, (422, "invalid_body")),
    ],
)
def test_labels_that_cannot_be_set_are_refused(
    office: Client, body: dict[str, Any], expected: tuple[int, str]
) -> None:
    email = proposal(office)
    path = f"/maya/emails/{email['id']}"
    assert error(office.post(f"{path}/labels", body)) == expected
    assert office.get(path).json() == email


def test_a_moved_mail_lies_in_one_folder(office: Client) -> None:
    path = f"/maya/emails/{proposal(office)['id']}/move"
    first = office.post(path, {"folder_id": "folder_clients"}).json()
    assert first["labels"] == ["UNREAD", "STARRED", "folder_clients"]
    second = office.post(path, {"folder_id": "folder_hiring"}).json()
    assert second["labels"] == ["UNREAD", "STARRED", "folder_hiring"]
    assert office.post(path, {"folder_id": "folder_hiring"}).json() == second
    back = office.post(path, {"folder_id": "INBOX"}).json()
    assert back["labels"] == ["UNREAD", "STARRED", "INBOX"]


@pytest.mark.parametrize("folder", ["none", "drive_portal", "label_fyi", "Clients"])
def test_a_mail_moves_only_into_a_mail_folder(office: Client, folder: str) -> None:
    path = f"/maya/emails/{proposal(office)['id']}/move"
    assert error(office.post(path, {"folder_id": folder})) == (404, "unknown_folder")


def test_an_event_is_created_changed_and_cancelled(office: Client) -> None:
    created = office.post(
        "/maya/calendar/events",
        {"title": "Try-out", "attendees": ["dana@x.example"], "create_meet_link": True, **FAR},
    )
    assert created.status_code == 201
    id = created.json()["id"]
    assert created.json()["url"] == f"https://calendar.company.com/event/{id}"
    assert created.json()["meet_link"].startswith("https://meet.company.com/")

    path = f"/maya/calendar/events/{id}"
    changed = office.write("PATCH", path, {"location": "Kitchen"}).json()
    assert changed["title"] == "Try-out"
    assert (changed["start"], changed["end"]) == (
        "2030-05-02T09:00:00.000000Z",
        "2030-05-02T10:00:00.000000Z",
    )
    assert changed["attendees"] == [
        {"email": "dana@x.example", "name": "", "status": "needs_action"}
    ]
    assert (changed["location"], changed["created_by"]) == ("Kitchen", "maya@company.com")
    assert changed["version"] == 2
    assert office.write("PATCH", path, {"location": "Kitchen"}).json() == changed

    assert error(office.write("PATCH", path, {"end": FAR["start"]})) == (422, "invalid_body")
    assert office.write("DELETE", path).status_code == 204
    assert error(office.get(f"/maya/events/{id}")) == (404, "unknown_event")
    assert error(office.write("DELETE", path)) == (404, "unknown_event")


def test_an_event_without_a_link_has_none(office: Client) -> None:
    created = office.post("/maya/calendar/events", {"title": "Walk", "location": None, **FAR})
    assert created.json()["meet_link"] is None


def test_attendees_who_stay_keep_their_answers(office: Client) -> None:
    event = next(e for e in office.items("/maya/events") if e["title"] == "Lunch with Ben")
    ben = {"email": "ben@archerconsulting.example", "name": "Ben Archer", "status": "accepted"}
    assert ben in event["attendees"]
    changed = office.write(
        "PATCH",
        f"/maya/calendar/events/{event['id']}",
        {"attendees": ["ben@archerconsulting.example", "new@x.example"]},
    ).json()
    assert changed["attendees"] == [
        ben,
        {"email": "new@x.example", "name": "", "status": "needs_action"},
    ]


def test_the_next_issue_of_a_project_gets_the_next_key(office: Client) -> None:
    body = {"project_key": "PROJ", "type": "task", "summary": "Setup CI/CD"}
    first = office.post("/maya/jira/issues", {**body, "priority": None, "assignee": None})
    assert first.status_code == 201
    assert set(first.json()) == {"id", "key", "url"}
    assert first.json()["key"] == "PROJ-101"
    assert first.json()["url"] == "https://jira.company.com/browse/PROJ-101"
    assert office.post("/maya/jira/issues", body).json()["key"] == "PROJ-102"
    assert office.post("/omar/jira/issues", body).json()["key"] == "PROJ-1"

    issue = office.get("/maya/jira/issues/PROJ-101").json()
    assert (issue["status"], issue["priority"], issue["reporter"]) == (
        "To Do",
        "medium",
        "maya@company.com",
    )


def test_an_issue_of_an_unknown_project_is_refused(office: Client) -> None:
    body = {"project_key": "NONE", "type": "task", "summary": "x"}
    assert error(office.post("/maya/jira/issues", body)) == (404, "unknown_project")


def test_an_issue_is_changed_by_key(office: Client) -> None:
    before = office.get("/maya/jira/issues/PROJ-95").json()
    change = {"status": "In Progress", "assignee": "tomasz@company.com", "due_date": "2030-05-02"}
    after = office.write("PATCH", "/maya/jira/issues/PROJ-95", change).json()
    assert after == before | change | {"version": 2, "updated_at": after["updated_at"]}
    cleared = office.write("PATCH", "/maya/jira/issues/PROJ-95", {"assignee": None}).json()
    assert (cleared["assignee"], cleared["due_date"]) == (None, "2030-05-02")


def test_a_comment_stands_in_the_issue(office: Client) -> None:
    created = office.post("/maya/jira/issues/PROJ-95/comments", {"body": "Agreed with Elin."})
    assert created.status_code == 201
    assert created.json()["author"] == "maya@company.com"
    issue = office.get("/maya/jira/issues/PROJ-95").json()
    assert issue["comments"] == [created.json()]
    assert issue["version"] == 2


def test_a_document_is_created_changed_moved_and_shared(office: Client) -> None:
    created = office.post(
        "/maya/documents", {"name": "Åre notes", "content": "One.", "folder_id": "drive_meetings"}
    )
    assert created.status_code == 201
    id = created.json()["id"]
    assert created.json() == {"id": id, "url": f"https://drive.company.com/d/{id}"}
    path = f"/maya/documents/{id}"
    first = office.get(path).json()
    assert (first["folder_path"], first["mime_type"], first["size_bytes"]) == (
        "/Meetings",
        "text/markdown",
        4,
    )

    longer = office.write("PATCH", path, {"mode": "append", "content": " Två."}).json()
    assert (longer["content_text"], longer["size_bytes"]) == ("One. Två.", 10)
    assert longer["modified_at"] > first["modified_at"]
    other = office.write("PATCH", path, {"mode": "replace", "content": "New."}).json()
    assert other["content_text"] == "New."
    same = office.write("PATCH", path, {"mode": "replace", "content": "New."}).json()
    assert same == other

    moved = office.post(f"{path}/move", {"folder_id": "drive_portal"}).json()
    assert (moved["folder_id"], moved["folder_path"]) == ("drive_portal", "/Clients/Portal")
    assert error(office.post(f"{path}/move", {"folder_id": "folder_clients"})) == (
        404,
        "unknown_folder",
    )

    shared = office.post(f"{path}/share", {"email": "dana@x.example", "role": "reader"}).json()
    assert shared["shared_with"] == ["dana@x.example"]
    assert shared["roles"] == {"dana@x.example": "reader"}
    again = office.post(f"{path}/share", {"email": "dana@x.example", "role": "reader"}).json()
    assert again == shared
    writer = office.post(f"{path}/share", {"email": "dana@x.example", "role": "writer"}).json()
    assert (writer["shared_with"], writer["roles"]) == (
        ["dana@x.example"],
        {"dana@x.example": "writer"},
    )


def test_a_document_in_an_unknown_folder_is_refused(office: Client) -> None:
    body = {"name": "x", "folder_id": "folder_clients"}
    assert error(office.post("/maya/documents", body)) == (404, "unknown_folder")


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


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/emails/none/archive"),
        ("POST", "/emails/none/mark-read"),
        ("PATCH", "/calendar/events/none"),
        ("PATCH", "/jira/issues/PROJ-999"),
        ("PATCH", "/drafts/none"),
    ],
)
def test_a_write_to_what_is_not_there_is_a_404(office: Client, method: str, path: str) -> None:
    assert office.write(method, f"/maya{path}", {}).status_code == 404
    assert office.history() == []


def test_nobody_writes_to_another_users_things(office: Client) -> None:
    email = proposal(office)
    assert error(office.post(f"/omar/emails/{email['id']}/archive")) == (404, "unknown_email")
    body = {"to": ["a@b.example"], "body": "x", "reply_to_id": email["id"]}
    assert error(office.post("/omar/emails/send", body)) == (404, "unknown_email")
    assert error(office.post("/nobody/emails/send", {"to": ["a@b.example"], "body": "x"})) == (
        404,
        "unknown_user",
    )
    assert office.get(f"/maya/emails/{email['id']}").json() == email
    assert [call["performed"] for call in office.calls()] == [False, False, False]
