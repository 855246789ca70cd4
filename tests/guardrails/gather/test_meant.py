"""Which object the user's words mean, looked up at the real data service."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from guardrails.models import Person
from guardrails.policies.simulation import simulate
from tests.guardrails.office import CHAT, Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
TOM = "tom.becker@company.com"


def provenance(office: Office, action: str, words: str, **arguments: str) -> dict[str, Any]:
    if not office.diary.allowed_actions.exists() and not office.mailbox.allowed_actions.exists():
        office.permit(action)
    origin = replace(
        CHAT, user_words=words, said_at=timezone.now().isoformat(), time_zone="Europe/Berlin"
    )
    decision = simulate(office.request(action, arguments, origin=origin)).decision
    return {"codes": dict(decision.provenance), "readings": dict(decision.readings)}


def employ(office: Office) -> None:
    Person.objects.create(
        organisation=office.organisation, name="Tom Becker", address=TOM, words=["tom", "becker"]
    )


def put_event(office: Office, event_id: str, days: int, **more: Any) -> None:
    start = timezone.now() + timedelta(days=days)
    times = {"start": start.isoformat(), "end": (start + timedelta(minutes=30)).isoformat()}
    own = {"created_by": office.diary.address, "attendees": [{"email": TOM}]}
    office.put("events", **({"id": event_id, "title": "Pairing"} | times | own | more))


def test_the_next_meeting_with_somebody_is_named_and_no_other(office: Office) -> None:
    employ(office)
    for event_id, days in (("event-1", 2), ("event-2", 3)):
        put_event(office, event_id, days)
    words = "Cancel my next meeting with Tom."
    found = provenance(office, "cancel_calendar_event", words, event_id="event-1")
    assert found["codes"]["event_id"] == "O"
    assert found["readings"]["event_id"] == "“my next meeting” means this event"
    other = provenance(office, "cancel_calendar_event", words, event_id="event-2")
    assert other["codes"]["event_id"] == "X"
    assert "event_id" not in other["readings"]


def test_an_event_of_somebody_else_is_not_the_users_to_name(office: Office) -> None:
    employ(office)
    put_event(office, "event-1", 2, created_by=TOM)
    words = "Cancel my next meeting with Tom."
    found = provenance(office, "cancel_calendar_event", words, event_id="event-1")
    assert found["codes"]["event_id"] == "X"


def test_the_last_mail_from_somebody_is_named_if_its_sender_is_proved(office: Office) -> None:
    employ(office)
    now = timezone.now()
    for mail_id, hours, dmarc in (("m-old", 9, "pass"), ("m-new", 5, "pass"), ("m-bad", 1, "fail")):
        office.receive(
            **{"id": mail_id, "from": TOM},
            date=(now - timedelta(hours=hours)).isoformat(),
            authentication={"spf": dmarc, "dkim": dmarc, "dmarc": dmarc},
        )
    words = "Archive the last mail from Tom."
    codes = {
        one: provenance(office, "archive", words, email_id=one)["codes"]["email_id"]
        for one in ("m-old", "m-new", "m-bad")
    }
    assert codes == {"m-old": "X", "m-new": "O", "m-bad": "X"}
