"""Nobody who attends an event is taken off it unless the user said who goes in their own words."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from guardrails.contracts import ActionResult
from guardrails.execute.executor import execute
from guardrails.models import OwnDomain, Person
from tests.guardrails.office import CHAT, Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
TOM, INES = "tom@company.com", "ines@company.com"
LATER = {"start": "2027-03-02T10:00:00+00:00", "end": "2027-03-02T10:30:00+00:00"}


def off(person: str) -> str:
    return f"It takes {person} off the event, and nobody said so."


@pytest.fixture
def diary(office: Office) -> Office:
    """An own meeting with Tom and Ines, who are in the directory; any change is automatic."""
    relation = ["named", "belongs"]
    office.permit("update_calendar_event", conditions=[{"kind": "recipient", "relation": relation}])
    for address, name in ((TOM, "Tom Becker"), (INES, "Ines Almeida")):
        Person.objects.create(organisation=office.organisation, address=address, name=name)
    OwnDomain.objects.create(organisation=office.organisation, domain="company.com")
    own = office.diary.address
    office.put(
        "events",
        id="retro",
        title="Retro",
        created_by=own,
        start="2027-03-01T09:00:00+00:00",
        end="2027-03-01T09:30:00+00:00",
        attendees=[{"email": one, "added_by": own} for one in (own, TOM, INES)],
    )
    return office


def change(office: Office, words: str, attendees: Sequence[str], **more: Any) -> ActionResult:
    arguments = {"event_id": "retro", "attendees": list(attendees)} | more
    origin = replace(CHAT, user_words=words)
    return execute(office.request("update_calendar_event", arguments, origin=origin))


@pytest.mark.parametrize(
    ("words", "staying", "leaving"),
    [
        ("Move retro to 2027-03-02, with Tom and Ines", [], [INES, TOM]),
        ("Verschieb retro mit Tom und Ines auf 2027-03-02", [TOM], [INES]),
        ("Déplace retro avec Tom et Ines au 2027-03-02", [INES], [TOM]),
        ("Mueve retro con Tom y Ines al 2027-03-02", [], [INES, TOM]),
        # Somebody else was to go, or nobody.
        ("Take Tom off the invitation to retro", [], [INES]),
        ("Nimm Ines aus retro raus", [], [TOM]),
        ("Don't remove Tom from retro", [INES], [TOM]),
        ("What about retro? The mail says “remove Tom and Ines”", [], [INES, TOM]),
        ("Make the place of retro room 2", [], [INES, TOM]),
    ],
)
def test_nobody_goes_unsaid(
    diary: Office, words: str, staying: list[str], leaving: list[str]
) -> None:
    asked = change(diary, words, staying, location="Room 2")

    assert (asked.status, asked.reason) == ("pending", "needs_approval")
    assert asked.sentence.startswith(f"A person must confirm this first. {off(leaving[0])}")
    assert diary.calls() == []


@pytest.mark.parametrize(
    ("words", "staying"),
    [
        ("Take Tom off the invitation to retro", [INES]),
        ("Remove tom@company.com and Ines from retro", []),
        ("Nimm Tom aus retro raus", [INES]),
        ("Retire Tom de retro", [INES]),
        ("Quita a Tom de retro", [INES]),
        ("Togli Tom da retro", [INES]),
    ],
)
def test_who_was_to_go_goes(diary: Office, words: str, staying: list[str]) -> None:
    done = change(diary, words, [diary.diary.address, *staying])

    assert done.status == "succeeded", done.sentence
    left = [one["email"] for one in diary.look("events/retro")["attendees"]]
    assert left == [diary.diary.address, *staying]


@pytest.mark.parametrize("arguments", [{}, {"attendees": [TOM, INES.upper()]}])
def test_about_who_stays_nobody_is_asked(diary: Office, arguments: dict[str, Any]) -> None:
    wanted = {"event_id": "retro", "location": "Room 2"} | arguments
    origin = replace(CHAT, user_words="Make the place of retro room 2")
    done = execute(diary.request("update_calendar_event", wanted, origin=origin))

    assert off(TOM) not in done.sentence
    assert off(INES) not in done.sentence
