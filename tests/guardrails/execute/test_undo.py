"""Taking actions back: what was there before is there again, once, and only if nobody
changed it since."""

from dataclasses import replace
from typing import Any
from uuid import uuid4

import httpx
import pytest
from django.core.exceptions import ValidationError

from audit.ledger.ids import uuid7
from audit.ledger.selectors import recorded
from guardrails.actions.registry import ACTIONS, UNDOING
from guardrails.contracts import ActionResult
from guardrails.decide.checks.stopping import Stops
from guardrails.execute import switches
from guardrails.execute.executor import execute
from guardrails.execute.switches import Scope
from guardrails.execute.undo import ActionNotFound, undo
from guardrails.gather import stops
from guardrails.models import AllowedAction, CeilingLimit, Undo
from guardrails.policies.capabilities import find_capabilities
from guardrails.policies.changes import Author
from integrations.models import Account
from integrations.providers.data_service.writer import DataServiceWriter
from tests.guardrails.office import CHAT, Office, in_threads, phases

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)

OLGA = "operator:olga"
BOB = "bob@company.com"
START, END = "2026-03-02T10:00:00+01:00", "2026-03-02T11:00:00+01:00"
EVENT = {"event_id": "event-1"}
PATHS = {
    "email": "emails/mail-1",
    "event": "events/event-1",
    "issue": "jira/issues/PROJ-900",
    "document": "documents/doc-1",
}
UNDOABLE: dict[str, tuple[str, str, dict[str, Any]]] = {
    "archive": ("archive", "email", {"email_id": "mail-1"}),
    "mark_read": ("mark_read", "email", {"email_id": "mail-1"}),
    "classify": ("classify", "email", {"email_id": "mail-1", "label_id": "label_fyi"}),
    "move": ("move_email", "email", {"email_id": "mail-1", "folder_id": "folder_clients"}),
    "event": ("update_calendar_event", "event", {**EVENT, "title": "Late", "location": "Room 2"}),
    "attendees": ("update_calendar_event", "event", {**EVENT, "attendees": [BOB]}),
    "issue": ("update_jira_task", "issue", {"issue_key": "PROJ-900", "summary": "Setup CI"}),
    "assignee": ("update_jira_task", "issue", {"issue_key": "PROJ-900", "assignee": BOB}),
    "folder": ("move_document", "document", {"document_id": "doc-1", "folder_id": "drive_people"}),
    "share": ("share_document", "document", {"document_id": "doc-1", "email": BOB}),
}
TARGETS = (
    ("label", "label_fyi", "FYI"),
    ("folder", "folder_clients", "Clients"),
    ("folder", "drive_people", "/People"),
    ("project", "PROJ", "Customer Portal"),
    ("assignee", BOB, "Bob"),
    ("recipient", BOB, "Bob"),
    ("recipient_domain", "company.com", "Us"),
)


@pytest.fixture
def rooms(office: Office) -> Office:
    """One object of each kind, and everything permitted."""
    office.receive(id="mail-1")
    office.put("events", start=START, end=END, created_by=BOB)
    office.put("issues", id="issue-1", type="task", summary="Setup", reporter=BOB)
    office.put("documents", folder_id="drive_finance", folder_path="/Finance")
    return office


def look(office: Office, kind: str) -> dict[str, Any]:
    """The object at the provider, but for what every change moves on."""
    answer = httpx.get(
        f"{office.sandbox.url}/users/{office.user_id}/{PATHS[kind]}",
        headers=office.sandbox.headers,
    )
    found = dict(answer.json())
    for name in ("version", "updated_at", "modified_at"):
        found.pop(name, None)
    for name in ("labels", "shared_with"):
        if name in found:
            found[name] = sorted(found[name])
    return found


def perform(office: Office, action_type: str, arguments: dict[str, Any]) -> ActionResult:
    office.permit(action_type)
    takes = next(one for one in ACTIONS if one.name == action_type).takes
    for kind, external_id, name in TARGETS:
        if kind in takes:
            office.list_target(action_type, kind, external_id, name)
    origin = replace(CHAT, user_words=f"See to {' '.join(map(str, arguments.values()))}")
    result = execute(office.request(action_type, arguments, origin=origin))
    assert result.status == "succeeded", result.sentence
    return result


def take_back(office: Office, result: ActionResult, **changes: Any) -> ActionResult:
    given: dict[str, Any] = {
        "organisation_id": office.organisation.id,
        "action_id": result.action_id,
        "by": OLGA,
    }
    return undo(**(given | changes))


@pytest.mark.parametrize("name", UNDOABLE)
def test_what_was_there_before_is_there_again(rooms: Office, name: str) -> None:
    action_type, kind, arguments = UNDOABLE[name]
    before = look(rooms, kind)
    done = perform(rooms, action_type, arguments)
    assert look(rooms, kind) != before
    AllowedAction.objects.all().delete()  # the agent needs no allowed action for it

    result = take_back(rooms, done)

    assert (result.status, result.reason) == ("succeeded", "performed")
    assert look(rooms, kind) == before
    attempt = recorded(result.action_id)[0]
    assert (attempt.parent_action_id, attempt.actor_type) == (done.action_id, "admin")
    assert (attempt.actor_id, attempt.trigger) == (OLGA, "operator")
    assert "A person asked for it" in attempt.payload["decision"]["sentence"]
    assert len(rooms.calls()) == 2


def test_a_draft_and_an_event_that_were_made_are_gone_again(rooms: Office) -> None:
    draft = perform(
        rooms, "draft", {"reply_to_id": "mail-1", "to": [BOB], "subject": "Re", "body": "Yes."}
    )
    event = perform(rooms, "create_calendar_event", {"title": "Lunch", "start": START, "end": END})
    assert [take_back(rooms, one).status for one in (draft, event)] == ["succeeded"] * 2
    assert [call["method"] for call in rooms.calls()][2:] == ["DELETE", "DELETE"]


def test_a_share_that_changed_a_role_is_that_role_again(rooms: Office) -> None:
    rooms.change("documents", "doc-1", shared_with=[BOB], roles={BOB: "reader"})
    before = look(rooms, "document")
    wish = {"document_id": "doc-1", "email": BOB, "role": "writer"}
    result = take_back(rooms, perform(rooms, "share_document", wish))
    assert result.action_type == "share_document"
    assert look(rooms, "document") == before


def test_it_is_undone_once(rooms: Office) -> None:
    done = perform(rooms, "archive", {"email_id": "mail-1"})
    first, second = take_back(rooms, done), take_back(rooms, done, by="operator:omar")
    assert (second.status, second.reason) == ("refused", "already_undone")
    assert Undo.objects.get().action_id == first.action_id
    assert len(rooms.calls()) == 2


def test_sixteen_people_at_once_undo_once(rooms: Office) -> None:
    done = perform(rooms, "mark_read", {"email_id": "mail-1"})
    results = in_threads(16, lambda: take_back(rooms, done))
    assert {one.reason for one in results} <= {"performed", "already_undone", "outcome_unknown"}
    assert any(one.status == "succeeded" for one in results)
    assert len(rooms.calls()) == 2


@pytest.mark.parametrize("name", ["archive", "classify", "event", "issue", "folder", "share"])
def test_what_was_changed_since_is_left_alone(rooms: Office, name: str) -> None:
    action_type, kind, arguments = UNDOABLE[name]
    done = perform(rooms, action_type, arguments)
    collection, _, object_id = PATHS[kind].rpartition("/")
    changes: dict[str, dict[str, Any]] = {
        "email": {"labels": ["INBOX", "UNREAD"] if name == "classify" else ["UNREAD", "INBOX"]},
        "event": {"title": "Dinner"},
        "issue": {"summary": "Something else"},
        "document": {"name": "Another plan"},
    }
    object_id = "issue-1" if kind == "issue" else object_id
    rooms.change("issues" if kind == "issue" else collection, object_id, **changes[kind])
    changed = look(rooms, kind)

    result = take_back(rooms, done)

    # Labels that are back already are a success without a call.
    expected = ("noop", "already_so") if kind == "email" else ("refused", "changed_since_done")
    assert (result.status, result.reason) == expected
    assert look(rooms, kind) == changed
    assert len(rooms.calls()) == 1


def test_labels_that_were_half_changed_are_left_alone(rooms: Office) -> None:
    rooms.change("emails", "mail-1", labels=["INBOX", "folder_receipts"])
    done = perform(rooms, "move_email", {"email_id": "mail-1", "folder_id": "folder_clients"})
    rooms.change("emails", "mail-1", labels=["folder_receipts", "folder_clients"])
    result = take_back(rooms, done)
    assert (result.status, result.reason) == ("refused", "changed_since_done")
    assert set(rooms.email("mail-1")["labels"]) == {"folder_receipts", "folder_clients"}
    assert len(rooms.calls()) == 1


def test_a_draft_that_somebody_edited_is_not_deleted(rooms: Office) -> None:
    done = perform(
        rooms, "draft", {"reply_to_id": "mail-1", "to": [BOB], "subject": "Re", "body": "Yes."}
    )
    rooms.change("drafts", done.result["draft_id"], body="No, my own words.")
    result = take_back(rooms, done)
    assert (result.status, result.reason) == ("refused", "changed_since_done")
    assert phases(result) == [("blocked", "blocked", "changed_since_done")]
    assert len(rooms.calls()) == 1


def test_an_object_that_is_gone_is_not_brought_back(rooms: Office) -> None:
    done = perform(rooms, *UNDOABLE["event"][::2])
    rooms.control("DELETE", f"/users/{rooms.user_id}/events/event-1")
    assert take_back(rooms, done).reason == "object_unknown"
    assert len(rooms.calls()) == 1


@pytest.mark.parametrize("stop", ["switch", "pause", "ceiling", "condition"])
def test_what_stops_everybody_stops_this_and_it_can_be_tried_again(
    rooms: Office, stop: str
) -> None:
    done = perform(rooms, "archive", {"email_id": "mail-1"})
    author = Author(name=OLGA, door="admin")
    switch = None
    night = {"kind": "trigger", "any_of": ["chat"]}
    if stop == "switch":
        scope = Scope(organisation_id=rooms.organisation.id, source="gmail")
        switch = switches.throw(scope, why="A wave", author=author)
    elif stop == "pause":
        Account.objects.filter(pk=rooms.mailbox.pk).update(paused=True)
    else:
        CeilingLimit.objects.create(
            organisation=rooms.organisation,
            at_most="never" if stop == "ceiling" else "auto",
            conditions=[] if stop == "ceiling" else [night],
        )

    refused = take_back(rooms, done)

    reasons = {
        "switch": "switched_off",
        "pause": "paused",
        "ceiling": "forbidden_by_ceiling",
        "condition": "above_ceiling",
    }
    assert (refused.status, refused.reason) == ("refused", reasons[stop])
    assert phases(refused) == [("blocked", "blocked", reasons[stop])]
    assert len(rooms.calls()) == 1
    if switch is not None:
        switches.lift(switch_id=switch.switch_id, why="Over", author=author)
    Account.objects.update(paused=False)
    CeilingLimit.objects.all().delete()
    assert take_back(rooms, done).status == "succeeded"
    assert Undo.objects.get().state == "succeeded"


def test_a_switch_thrown_between_decision_and_call_stops_it(
    rooms: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = perform(rooms, "archive", {"email_id": "mail-1"})
    read_stops = stops.read_stops

    def late(**given: Any) -> Stops:
        switches.throw(
            Scope(), why="Now", author=Author(name=OLGA, door="admin"), patience_seconds=0
        )
        return read_stops(**given)

    monkeypatch.setattr(stops, "read_stops", late)
    result = take_back(rooms, done)
    assert (result.status, result.reason) == ("refused", "switched_off")
    assert len(rooms.calls()) == 1


def test_what_cannot_be_undone_says_so(rooms: Office) -> None:
    sent = perform(rooms, "send_email", {"to": [BOB], "subject": "Hello", "body": "Hello."})
    result = take_back(rooms, sent)
    assert (result.status, result.reason) == ("refused", "cannot_be_undone")
    assert not Undo.objects.exists()
    assert len(rooms.calls()) == 1


def test_what_was_not_done_is_not_undone(rooms: Office) -> None:
    refused = execute(rooms.request("archive", {"email_id": "mail-1"}))
    result = take_back(rooms, refused)
    assert (result.status, result.reason) == ("refused", "nothing_to_undo")
    assert rooms.calls() == []


def test_another_users_action_is_as_unknown_as_none(rooms: Office) -> None:
    done = perform(rooms, "archive", {"email_id": "mail-1"})
    for changes in (
        {"external_user_id": "other"},
        {"organisation_id": uuid4()},
        {"action_id": uuid7()},
    ):
        with pytest.raises(ActionNotFound):
            take_back(rooms, done, **changes)
    assert len(rooms.calls()) == 1


@pytest.mark.parametrize("after_effect", [True, False])
def test_an_undo_killed_in_the_call_acts_once(
    rooms: Office, monkeypatch: pytest.MonkeyPatch, after_effect: bool
) -> None:
    done = perform(rooms, "archive", {"email_id": "mail-1"})
    change_labels = DataServiceWriter.change_labels

    def killed(self: DataServiceWriter, *given: Any, **named: Any) -> None:
        if after_effect:
            change_labels(self, *given, **named)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(DataServiceWriter, "change_labels", killed)
        with pytest.raises(KeyboardInterrupt):
            take_back(rooms, done)

    assert take_back(rooms, done).status == "succeeded"
    assert [call["performed"] for call in rooms.calls()] == [True, True]


@pytest.mark.parametrize("action", UNDOING, ids=lambda action: action.name)
def test_no_agent_is_offered_or_permitted_what_only_undoes(office: Office, action: Any) -> None:
    account = next(
        row
        for row in (office.mailbox, office.tracker, office.diary, office.drive)
        if row.kind == action.kind
    )
    with pytest.raises(ValidationError, match="not a valid choice"):
        AllowedAction.objects.create(account=account, action_type=action.name)
    ordinary = next(one for one in ACTIONS if one.kind == action.kind)
    AllowedAction.objects.create(account=account, action_type=ordinary.name, approval_mode="auto")
    AllowedAction.objects.update(action_type=action.name)  # as an intruder would
    ref = office.ref(account)

    offered = find_capabilities([ref])[ref.id]
    result = execute(office.request(action.name, {}, account=ref))

    assert offered == ()
    assert (result.status, result.reason) == ("refused", "unknown_action")
    assert office.calls() == []
