from typing import Any

import pytest

from tests.sandbox.data_service.client import Client, error, mail


def test_a_new_user_has_labels_folders_and_projects_and_nothing_else(office: Client) -> None:
    created = office.control("POST", "/users/lea", {"name": "Lea Lang"})
    assert created == {"id": "lea", "address": "lea@company.com", "name": "Lea Lang"}
    for path in ("/emails", "/documents", "/events", "/jira/issues"):
        assert office.items(f"/lea{path}") == []
    for path in ("/labels", "/folders", "/jira/projects"):
        assert office.get(f"/lea{path}").json() == office.get(f"/maya{path}").json()


def test_creating_a_user_again_changes_nothing(office: Client) -> None:
    office.control("POST", "/users/lea", {"address": "lea@other.example"})
    office.control("POST", "/users/lea/emails", {"items": [mail("m1")]})
    again = office.control("POST", "/users/lea", {"address": "new@other.example"})
    assert again["address"] == "lea@other.example"
    assert [item["id"] for item in office.items("/lea/emails")] == ["m1"]


def test_a_mail_put_into_a_mailbox_is_completed(office: Client) -> None:
    office.control("POST", "/users/maya/emails", {"items": [mail("m1", body_text="One\n two")]})
    expected = {
        "id": "m1",
        "thread_id": "m1",
        "message_id": "<m1@mail.sandbox.example>",
        "from": "ana@known.example",
        "from_name": "",
        "to": [],
        "cc": [],
        "bcc": [],
        "receiver_names": {},
        "reply_to": [],
        "subject": "",
        "body_text": "One\n two",
        "body_html": None,
        "date": "2026-03-01T09:00:00.000000Z",
        "labels": ["INBOX", "UNREAD"],
        "attachments": [],
        "is_read": False,
        "is_starred": False,
        "snippet": "One two",
        "list_id": None,
        "list_post": None,
        "precedence": "",
        "auto_submitted": "",
        "report_type": "",
        "authentication": {"spf": "none", "dkim": "none", "dmarc": "none"},
        "version": 1,
    }
    stored = office.get("/maya/emails/m1").json()
    assert stored == expected | {"updated_at": stored["updated_at"]}


def test_the_same_mail_again_changes_nothing(office: Client) -> None:
    put = {"items": [mail("m1"), mail("m2")]}
    assert office.control("POST", "/users/maya/emails", put) == {"added": 2, "unchanged": 0}
    before = office.get("/maya/emails/m1").json()
    put = {"items": [mail("m1", subject="Other"), mail("m3")]}
    assert office.control("POST", "/users/maya/emails", put) == {"added": 1, "unchanged": 1}
    assert office.get("/maya/emails/m1").json() == before


def test_mails_are_put_in_all_or_none(office: Client) -> None:
    before = office.items("/omar/emails")
    for wrong in ({"id": "m2"}, mail("m2", version=1), mail("m2", date="2026-03-01T09:00:00")):
        put = {"items": [mail("m1"), wrong]}
        response = office.try_control("POST", "/users/omar/emails", put)
        assert error(response) == (422, "invalid_body")
    assert office.items("/omar/emails") == before


def test_the_oddest_header_text_survives(office: Client) -> None:
    odd = {
        "from": "\u202e<x>@@ \u0000",
        "from_name": 'a"\r\nBcc: x',
        "subject": "é\u200b\U0001f600" * 400,
        "body_html": "<b>x",
    }
    office.control("POST", "/users/maya/emails", {"items": [mail("m1") | odd]})
    stored = office.get("/maya/emails/m1").json()
    assert {name: stored[name] for name in odd} == odd


def test_mails_can_be_put_in_quietly(sending: Client) -> None:
    put: dict[str, Any] = {"items": [mail("m1")], "notify": False}
    sending.control("POST", "/users/maya/emails", put)
    assert sending.control("GET", "/webhooks") == {"pending": 0, "delivered": 0, "dead": 0}


def test_every_scripted_mail_can_be_delivered_again_and_again(office: Client) -> None:
    names = [item["name"] for item in office.control("GET", "/incoming")["items"]]
    assert names == [
        "newsletter",
        "question",
        "cold",
        "poisoned",
        "fyi",
        "invoice",
        "html_only",
        "thread_update",
    ]
    before = len(office.items("/maya/emails"))
    ids = set()
    for name in names * 2:
        email = office.control("POST", f"/users/maya/deliver/{name}")
        assert email["to"] == ["maya@company.com"]
        assert email["labels"] == ["INBOX", "UNREAD"]
        ids.add(email["id"])
    assert len(ids) == 16
    assert len(office.items("/maya/emails")) == before + 16
    assert error(office.try_control("POST", "/users/maya/deliver/none")) == (404, "unknown_script")


def test_a_delivered_question_joins_its_thread(office: Client) -> None:
    email = office.control("POST", "/users/maya/deliver/question")
    messages = office.get("/maya/threads/thread_brightfarm_rollout").json()["messages"]
    assert [message["from"] for message in messages] == [
        "sofia.rossi@brightfarm.example",
        "maya@company.com",
        "sofia.rossi@brightfarm.example",
    ]
    assert messages[-1] == email


def test_changes_made_elsewhere_are_no_calls_of_ours(office: Client) -> None:
    draft = office.post("/maya/drafts", {"to": ["a@b.example"], "body": "Ours"}).json()
    path = f"/users/maya/drafts/{draft['id']}"
    assert office.control("PATCH", path, {"body": "Edited by Maya"})["version"] == 2
    office.control("DELETE", path)
    document = office.control(
        "PATCH", "/users/maya/documents/doc_maya_001", {"shared_with": ["all@x.example"]}
    )
    assert document["shared_with"] == ["all@x.example"]
    assert len(office.calls()) == 1
    assert len(office.history()) == 1


@pytest.mark.parametrize(
    ("path", "fields", "expected"),
    [
        ("/emails/none", {"subject": "x"}, (404, "unknown_email")),
        ("/emails/mail_maya_001", {"nothing": 1}, (422, "invalid_body")),
        ("/emails/mail_maya_001", {"id": "other"}, (422, "invalid_body")),
        ("/emails/mail_maya_001", ["x"], (422, "invalid_body")),
        ("/letters/x", {}, (404, "not_found")),
    ],
)
def test_a_change_elsewhere_that_does_not_fit_is_refused(
    office: Client, path: str, fields: object, expected: tuple[int, str]
) -> None:
    assert error(office.try_control("PATCH", f"/users/maya{path}", fields)) == expected


def test_the_journal_says_what_reached_the_service(office: Client) -> None:
    body = {"to": ["a@b.example"], "body": "x"}
    office.get("/maya/emails")
    office.post("/maya/emails/send", body, key="k1")
    office.post("/maya/emails/send", {"to": []})
    first, second = office.calls()
    assert first == {
        "id": first["id"],
        "user": "maya",
        "method": "POST",
        "path": "/users/maya/emails/send",
        "body": body,
        "idempotency_key": "k1",
        "performed": True,
        "replayed": False,
        "status": 200,
        "at": first["at"],
    }
    assert (second["performed"], second["status"], second["body"]) == (False, 422, {"to": []})
    later = office.control("GET", f"/calls?after={first['id']}")
    assert later == {"items": [second], "has_more": False}
    assert error(office.try_control("GET", "/calls?after=x")) == (400, "bad_parameter")


def test_the_journal_of_one_user_is_theirs_alone(office: Client) -> None:
    office.post("/maya/emails/send", {"to": ["a@b.example"], "body": "x"})
    office.post("/omar/emails/send", {"to": []})

    assert [call["user"] for call in office.control("GET", "/calls?user=omar")["items"]] == ["omar"]
    assert office.control("GET", "/calls?user=nobody") == {"items": [], "has_more": False}


def test_a_user_comes_with_their_rooms_or_not_at_all(office: Client) -> None:
    mail = {"id": "mail-1", "from": "ada@client.com", "date": "2026-01-05T09:00:00Z"}
    rooms = {"emails": [mail], "slack": []}
    audiences = {"mailbox": ["eve@evil.example"]}
    bad = {"items": rooms | {"parcels": [{"id": "parcel-1"}]}}

    assert error(office.try_control("POST", "/users/lea", bad)) == (404, "not_found")
    assert error(office.get("/lea/emails")) == (404, "unknown_user")
    office.control("POST", "/users/lea", {"items": rooms, "audiences": audiences})
    office.control("POST", "/users/lea", {"items": rooms})

    assert [one["id"] for one in office.get("/lea/emails").json()["items"]] == ["mail-1"]
    assert office.get("/lea/emails/mail-1").json()["labels"] == ["INBOX", "UNREAD"]
    assert office.control("GET", "/webhooks") == {"pending": 0, "delivered": 0, "dead": 0}
    assert office.get("/lea/mailbox").json()["shared_with"] == ["eve@evil.example"]


def test_a_reset_brings_the_office_back(office: Client) -> None:
    office.control("POST", "/users/lea", {})
    office.post("/maya/jira/issues", {"project_key": "PROJ", "type": "task", "summary": "x"})
    assert office.control("POST", "/reset") == {"users": ["maya", "omar"]}
    assert office.calls() == []
    assert office.history() == []
    assert error(office.get("/lea/emails")) == (404, "unknown_user")
    assert error(office.get("/maya/jira/issues/PROJ-101")) == (404, "unknown_issue")


def test_a_stopped_clock_dates_what_is_loaded_and_done(office: Client) -> None:
    try:
        office.control("PUT", "/clock", {"now": "2026-03-11T08:00:00Z"})
        office.control("POST", "/reset")
        sent = office.post("/maya/emails/send", {"to": ["omar@company.com"], "body": "Hi"}).json()

        assert office.get("/maya/emails/mail_maya_004").json()["date"].startswith("2026-03-08")
        mail = office.get(f"/maya/emails/{sent['id']}").json()
        assert mail["date"] == "2026-03-11T08:00:00.000000Z"
    finally:
        office.control("PUT", "/clock", {})


def test_the_state_is_every_object_of_every_user(office: Client) -> None:
    state = office.control("GET", "/state")

    assert sorted(state) == ["maya", "omar"]
    assert len(state["maya"]["emails"]) == 84
    assert state["omar"]["issues"][0] == next(
        issue
        for issue in office.items("/omar/jira/issues")
        if issue["id"] == state["omar"]["issues"][0]["id"]
    )
    draft = office.post("/maya/drafts", {"body": "Hi"}).json()
    assert [one["id"] for one in office.control("GET", "/state")["maya"]["drafts"]] == [draft["id"]]


def test_requests_for_data_are_counted_and_what_controls_the_sandbox_is_not(
    office: Client,
) -> None:
    before = office.control("GET", "/requests")["requests"]

    office.get("/maya/labels")
    office.get("/maya/emails/nothing")
    office.control("GET", "/calls")

    assert office.control("GET", "/requests") == {"requests": before + 2}
