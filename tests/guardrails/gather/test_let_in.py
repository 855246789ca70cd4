"""Whom the agent let into an event or a document of its own accord, as the ledger knows."""

from dataclasses import replace
from typing import Any

import pytest

from audit.keeping import erasure
from audit.keeping.erasure import Scope
from guardrails.contracts import ActionRequest, ActionResult
from guardrails.execute.executor import execute
from guardrails.gather.let_in import let_in_by_agent
from guardrails.models import Approval
from tests.guardrails.approvals import confirm
from tests.guardrails.office import CHAT, Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
BOB, CAROL, EVE = "bob@company.com", "carol@company.com", "eve@evil.example"
TIMES = {"start": "2026-03-02T10:00:00+00:00", "end": "2026-03-02T11:00:00+00:00"}


def do(office: Office, action: str, words: str = "Please.", **given: Any) -> ActionResult:
    return execute(office.request(action, given, origin=replace(CHAT, user_words=words)))


def permitted(office: Office, mode: str = "auto") -> None:
    for action in ("update_calendar_event", "create_calendar_event"):
        office.permit(action, mode)
        for address in (BOB, CAROL, EVE):
            office.list_target(action, "recipient", address)


def found(office: Office, event_id: str = "event-1") -> tuple[str, ...] | None:
    wish: ActionRequest = office.request("cancel_calendar_event", {"event_id": event_id})
    return let_in_by_agent(wish, event_id)


def put_event(office: Office) -> None:
    office.put("events", attendees=[{"email": office.diary.address}, {"email": BOB}])


def test_a_guest_whom_nobody_named_was_let_in_by_the_agent(office: Office) -> None:
    permitted(office)
    put_event(office)
    assert found(office) == ()
    invite = {"event_id": "event-1", "attendees": [BOB, EVE]}
    assert do(office, "update_calendar_event", "Do event-1.", **invite).status == "succeeded"
    assert found(office) == (EVE,)  # Bob was there


def test_a_guest_whom_the_user_typed_was_let_in_by_them(office: Office) -> None:
    permitted(office)
    put_event(office)
    words = f"Invite {CAROL} to event-1."
    do(office, "update_calendar_event", words, event_id="event-1", attendees=[BOB, CAROL])
    assert found(office) == ()


def test_everybody_whom_the_agent_invited_to_an_event_that_it_made(office: Office) -> None:
    permitted(office)
    words = f"Lunch with {BOB}, from {TIMES['start']} to {TIMES['end']}."
    made = do(office, "create_calendar_event", words, title="Lunch", attendees=[BOB, EVE], **TIMES)
    assert found(office, made.artifacts[0].external_id) == (EVE,)


def test_whom_a_person_has_seen_on_a_card_and_confirmed_a_person_let_in(office: Office) -> None:
    permitted(office)
    put_event(office)
    do(office, "update_calendar_event", "Do event-1.", event_id="event-1", attendees=[BOB, EVE])
    asked = office.diary.allowed_actions.filter(action_type="update_calendar_event")
    asked.update(approval_mode="ask")
    later = do(office, "update_calendar_event", "Do event-1.", event_id="event-1", title="Later")
    assert found(office) == (EVE,)
    assert confirm(Approval.objects.get(action_id=later.action_id)).status == "succeeded"
    assert found(office) == ()


def test_what_was_refused_let_nobody_in(office: Office) -> None:
    permitted(office)
    put_event(office)
    office.diary.listed_targets.filter(external_id=EVE).delete()
    refused = do(office, "update_calendar_event", event_id="event-1", attendees=[BOB, EVE])
    assert refused.status == "refused"
    assert found(office) == ()


def test_a_reader_of_a_document_too(office: Office) -> None:
    office.permit("share_document")
    office.list_target("share_document", "recipient", EVE)
    office.put("documents", content_text="One.", folder_id="drive_meetings")
    shared = do(office, "share_document", "Share doc-1.", document_id="doc-1", email=EVE)
    assert shared.status == "succeeded"
    assert let_in_by_agent(office.request("append_document", {}), "doc-1") == (EVE,)


def test_where_the_ledgers_contents_were_erased_nobody_can_tell(office: Office) -> None:
    permitted(office)
    put_event(office)
    did = do(office, "update_calendar_event", "Do event-1.", event_id="event-1", title="Later")
    assert found(office) == ()
    scope = Scope(tenant_id=office.organisation.id, action_id=did.action_id)
    erasure.erase(scope, reason="asked for", actor_id="operator:olga")
    assert found(office) is None
