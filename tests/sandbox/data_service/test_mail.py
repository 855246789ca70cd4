from typing import Any

import pytest

from tests.sandbox.data_service.client import Client, error


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


def test_the_trash_can_be_left_again(office: Client) -> None:
    email = proposal(office)
    trashed = office.post(f"/maya/emails/{email['id']}/trash")
    assert trashed.json()["labels"] == ["UNREAD", "STARRED", "TRASH"]
    back = {"add": ["INBOX"], "remove": ["TRASH"]}
    labels = office.post(f"/maya/emails/{email['id']}/labels", back).json()["labels"]
    assert set(labels) == {"UNREAD", "STARRED", "INBOX"}


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


def test_mail_folders_are_put_back_like_labels(office: Client) -> None:
    email = proposal(office)
    path = f"/maya/emails/{email['id']}"
    office.post(f"{path}/move", {"folder_id": "folder_clients"})
    change = {"add": ["INBOX"], "remove": ["folder_clients"]}
    back = office.post(f"{path}/labels", change).json()
    assert sorted(back["labels"]) == sorted(email["labels"])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"add": ["label_none"]}, (404, "unknown_label")),
        ({"add": ["Newsletter"]}, (404, "unknown_label")),
        ({"remove": ["drive_finance"]}, (404, "unknown_label")),
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
