"""What a person is shown before they decide: made by code, of fields, all of it."""

from typing import Any

import httpx
import pytest

from guardrails.approve import approvals
from guardrails.approve.cards import list_cards
from guardrails.contracts.cards import ApprovalCard
from guardrails.execute.executor import execute
from guardrails.models import Approval
from tests.guardrails.approvals import confirm
from tests.guardrails.office import PASSED, Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def asked(office: Office, action_type: str, arguments: dict[str, Any]) -> ApprovalCard:
    office.permit(action_type, "ask")
    result = execute(office.request(action_type, arguments))
    assert result.status == "pending", result.sentence
    found = list_cards(
        organisation_id=office.organisation.id, ids=[result.approval_id or result.action_id]
    )
    return found[0]


def test_receivers_come_first_and_new_ones_say_where_they_came_up(office: Office) -> None:
    office.list_target("send_email", "recipient_domain", "client.com")
    mail = office.receive(
        subject="Please\u200b pay",
        body_text="Write to bob@client.com",
        date="2026-03-02T10:00:00Z",
    )
    card = asked(
        office,
        "send_email",
        {
            "subject": "Re",
            "body": "See https://evil.example",
            "to": ["bob@client.com", "zoe@client.com"],
            "reply_to_id": mail,
        },
    )

    told = [(value.path, value.is_target, value.is_new) for value in card.values]
    assert told == [
        ("to[0]", True, True),
        ("to[1]", True, True),
        ("subject", False, False),
        ("body", False, False),
        ("reply_to_id", False, False),
    ]
    assert card.values[0].provenance == (
        "NEW: first seen in a mail from ada@client.com of 2026-03-02 (“Please⟨U+200B⟩ pay”)"
    )
    assert card.values[1].provenance == (
        "NEW: nobody typed or listed the address itself; the agent brought it up"
    )


def test_a_moved_mail_shows_both_folders(office: Office) -> None:
    folders = {one["id"]: one["name"] for one in office_folders(office)}
    target = next(key for key in folders if key not in ("INBOX", "SENT"))
    office.list_target("move_email", "folder", target, folders[target])

    card = asked(office, "move_email", {"email_id": office.receive(labels=[]), "folder_id": target})

    assert card.differences == (("folder", "archive", folders[target]),)


def office_folders(office: Office) -> list[dict[str, Any]]:
    answer = httpx.get(
        f"{office.sandbox.url}/users/{office.user_id}/folders", headers=office.sandbox.headers
    )
    found: list[dict[str, Any]] = answer.json()["items"]
    return [one for one in found if one["kind"] == "mail"]


def test_a_label_shows_what_is_on_and_what_would_be(office: Office) -> None:
    office.list_target("classify", "label", "label_fyi", "FYI")

    card = asked(
        office, "classify", {"email_id": office.receive(labels=[]), "label_id": "label_fyi"}
    )

    assert card.differences == (("labels", "(nothing)", "FYI"),)


def test_a_card_says_who_let_in_whom_the_action_reaches(office: Office) -> None:
    eve, bob = "eve@evil.example", "bob@company.com"
    for domain in ("evil.example", "client.com", "company.com"):
        office.list_target("update_calendar_event", "recipient_domain", domain)
    guests = [
        {"email": eve, "added_by": "mallory@evil.example"},
        {"email": "ann@client.com", "added_by": ""},
        {"email": bob},
    ]
    office.put("events", attendees=guests)
    later = {"event_id": "event-1", "attendees": [eve, bob]}

    card = asked(office, "update_calendar_event", later)

    told = {value.path: value.provenance for value in card.values if value.is_target}
    assert told == {
        "attendees[0]": "NEW: let in by mallory@evil.example",
        "attendees[1]": "already there, let in by the user",
        "event.people[0]": "NEW: nobody knows who let them in",
        "event.people[1]": "already there, let in by the user",
        "event.people[2]": "NEW: let in by mallory@evil.example",
    }


def test_a_changed_event_shows_before_and_after(office: Office) -> None:
    office.put("events", title="Stand-up", end="2026-03-02T10:15:00Z")
    card = asked(
        office,
        "update_calendar_event",
        {
            "event_id": "event-1",
            "title": "Weekly",
            "start": "2026-03-02T11:00:00+01:00",
            "end": "2026-03-02T11:30:00+01:00",
        },
    )

    assert card.differences[0] == ("title", "Stand-up", "Weekly")
    assert [what for what, _, _ in card.differences] == ["title", "start", "end"]
    # In one zone, so that nobody takes another zone for another time.
    assert card.differences[1:] == (
        ("start", "Mon 2026-03-02 10:00 UTC", "Mon 2026-03-02 10:00 UTC"),
        ("end", "Mon 2026-03-02 10:15 UTC", "Mon 2026-03-02 10:30 UTC"),
    )


def test_whom_no_argument_names_come_first_too(office: Office) -> None:
    office.put("events", attendees=[{"email": "bob@client.com"}, {"email": "zoe@client.com"}])
    office.list_target("update_calendar_event", "recipient_domain", "client.com")
    office.list_target("update_calendar_event", "recipient", "bob@client.com", "Bob")

    card = asked(office, "update_calendar_event", {"event_id": "event-1", "title": "Weekly"})

    told = [(value.label, value.text, value.provenance, value.is_new) for value in card.values]
    assert told[:2] == [
        ("event people", "bob@client.com", "on the list of what is permitted", False),
        (
            "event people",
            "zoe@client.com",
            "already there, let in by the user",
            True,
        ),
    ]
    assert [value.is_target for value in card.values] == [True, True, False, False]


def test_who_reads_a_document_comes_before_what_is_added_to_it(office: Office) -> None:
    office.put("documents", content_text="One.", folder_id="drive_portal")
    office.share(drive_portal=["bob@client.com"])
    office.list_target("append_document", "recipient", "bob@client.com", "Bob")

    card = asked(office, "append_document", {"document_id": "doc-1", "content": "Two."})

    assert [(value.label, value.text) for value in card.values] == [
        ("document readers", "bob@client.com"),
        ("document id", "doc-1"),
        ("content", "Two."),
    ]


def test_a_handled_card_says_who_and_when(office: Office) -> None:
    card = asked(office, "archive", {"email_id": office.receive()})
    assert (card.handled, card.seconds_to_decide) == ("", None)
    assert card.differences == (("in the inbox", "yes", "no"),)

    result = confirm(Approval.objects.get(), external_user_id=office.user_id)

    (after,) = list_cards(organisation_id=office.organisation.id, ids=[card.id])
    assert after.handled == result.handled
    assert after.handled.startswith("Confirmed by Maya Lindqvist at 20")
    assert after.handled.endswith(" UTC")
    late = approvals.decide(
        organisation_id=office.organisation.id,
        approval_id=card.id,
        decided_by="operator:olga",
        word="reject",
    )
    assert (late.status, late.handled) == ("succeeded", after.handled)


def test_seconds_count_from_the_first_look(office: Office) -> None:
    card = asked(office, "archive", {"email_id": office.receive()})
    approvals.note_shown([card])
    first = Approval.objects.get(pk=card.id).shown_at
    approvals.note_shown([card])

    assert first is not None
    assert Approval.objects.get(pk=card.id).shown_at == first


def test_the_models_reason_is_quoted_apart(office: Office) -> None:
    office.permit("archive", "ask")
    request = office.request("archive", {"email_id": office.receive(authentication=PASSED)})
    origin = request.origin.__class__(**(vars(request.origin) | {"reason": "Trust me\u200b."}))
    execute(office.request("archive", request.arguments, origin=origin))

    (card,) = list_cards(organisation_id=office.organisation.id)

    assert card.agent_said == "Trust me⟨U+200B⟩."
    assert all("Trust" not in value.text for value in card.values)
