"""Somebody's own calendar, from connecting it to an event that stands there once: on real calendar
servers, with a scripted model behind Remit."""

import json

import pytest
from django.core.management import call_command
from django.utils import timezone

from agents import tasks
from agents.journal.suggestions import explain, load_suggested
from agents.models import Suggestion, Turn
from audit.models import ExecutedAgentAction
from guardrails.models import HeldSend
from guardrails.policies import files, presets
from guardrails.policies.changes import Author
from guardrails.policies.text import read
from integrations.models import Account, Delivery
from knowledge.models import Item
from tests.calendar_world import (
    ADDRESS,
    PASSWORD,
    USER,
    CalendarServer,
    event,
)
from tests.model_server import calls
from tests.office import Office
from tests.stories.steps import Frontend, scripted

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
ORCHESTRATOR = "You are Remit's orchestrator."


@pytest.fixture
def world(
    calendar_server: CalendarServer, keys: None, monkeypatch: pytest.MonkeyPatch
) -> CalendarServer:
    monkeypatch.setenv("SSL_CERT_FILE", str(calendar_server.trusted))
    monkeypatch.setenv("REMIT_MAIL_PASSWORD", PASSWORD)
    return calendar_server


def connect(world: CalendarServer) -> Account:
    """As an operator does it, with the preset that Remit offers."""
    call_command(
        "connect_calendar",
        ADDRESS,
        user="nora",
        login=USER,
        display_name="Nora Berg",
        time_zone="Europe/Stockholm",
        url=world.origin,
        verbosity=0,
    )
    account = Account.objects.get(external_user_id="nora", source="caldav")
    wanted = read(presets.load(presets.default_for(account.source)))
    files.apply(account, wanted, author=Author(name="command", door="command"))
    return account


def look(office: Office, account: Account) -> None:
    tasks.look_at_account(str(account.id))
    office.drain()


def test_events_are_read_in_and_one_that_is_asked_for_stands_there_once(
    office: Office, world: CalendarServer
) -> None:
    world.put("review", event("Review", start="20990309T100000Z"))
    account = connect(world)
    office.sync("caldav", user="nora", copied=False)
    look(office, account)
    assert Item.objects.get(account=account).title == "Review"
    assert (Turn.objects.count(), Delivery.objects.count()) == (0, 0)

    world.put("standup", event("Standup", start="20990310T080000Z"))
    look(office, account)
    delivery = Delivery.objects.get()
    assert (delivery.source, delivery.kind, delivery.state) == ("caldav", "created", "processed")
    titles = Item.objects.filter(account=account).values_list("title", flat=True)
    assert sorted(titles) == ["Review", "Standup"]
    assert Turn.objects.count() == 0

    lunch = {
        "title": "Lunch",
        "start": "2099-03-09T12:00:00+01:00",
        "end": "2099-03-09T13:00:00+01:00",
    }
    nora = Frontend(office)
    with scripted({ORCHESTRATOR: [calls(("create_calendar_event", lunch)), "It stands there."]}):
        said = nora.ask(
            "POST",
            "/chat",
            {"user_id": "nora", "message": "Put lunch on 9 March 2099, 12:00 to 13:00."},
        )

    HeldSend.objects.update(until=timezone.now())
    tasks.sweep()
    office.drain()
    assert world.titles() == ["Lunch", "Review", "Standup"]
    rows = ExecutedAgentAction.objects.filter(run_id=said["turn_id"]).order_by("id")
    assert {row.action_type for row in rows} == {"create_calendar_event"}
    assert (rows[len(rows) - 1].phase, rows[len(rows) - 1].status) == ("outcome", "succeeded")
    (text,) = (text for text in world.held().values() if "SUMMARY:Lunch\n" in text)
    key = f"remit-{rows[0].action_id}"
    assert f"UID:{key}\n" in text
    assert f"X-REMIT-ACTION:{key}\n" in text
    assert "DTSTART:20990309T110000Z\n" in text
    look(office, account)
    look(office, account)
    assert Item.objects.filter(account=account, title="Lunch").count() == 1
    assert PASSWORD not in json.dumps(list(rows.values()), default=str)

    turns = Turn.objects.count()
    by = "ORGANIZER:mailto:noor@company.com"
    guest = f"ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:{ADDRESS}"
    world.put("budget", event("Budget round", by, guest, start="20990310T081500Z"))
    before = world.held()
    look(office, account)
    look(office, account)
    if world.name == "radicale":  # it would tell nobody of an answer
        assert (Turn.objects.count(), Suggestion.objects.count()) == (turns, 0)
        return
    turn = Turn.objects.latest("created_at")
    assert (Turn.objects.count(), turn.ending) == (turns + 1, "suggested")
    assert load_suggested([turn.id])[turn.id] == (
        "Decline the invitation.",
        "It collides with “Standup”, Tue 10 March, 09:00 to 10:00.",
        "Free instead: Mon 9 March, 13:00 to 14:00; Tue 10 March, 08:00 to 09:00; "
        "Tue 10 March, 10:00 to 11:00.",
    )
    assert world.held() == before  # nothing was answered
    (row,) = Suggestion.objects.all()  # a calendar server passes on no other time
    assert row.value == {"answer": "declined"}
    assert explain(row)[1:] == [
        "It collides with “Standup”, Tue 10 March, 09:00 to 10:00.",
        "You are free Mon 9 March, 13:00 to 14:00.",
        "You are free Tue 10 March, 08:00 to 09:00.",
        "You are free Tue 10 March, 10:00 to 11:00.",
    ]
