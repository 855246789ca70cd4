"""Somebody's own calendars at Microsoft: what the agent does stands there and in the ledger, can be
taken back, reaches nobody whom nobody listed, and starts nothing. At a fake of Graph."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from agents.models import Turn
from audit.ledger.ids import uuid7
from audit.models import ExecutedAgentAction
from guardrails.approve.approvals import confirm
from guardrails.contracts import ActionRequest, ActionResult
from guardrails.execute.executor import execute
from guardrails.models import AllowedAction, AllowedActionOption
from integrations.models import Account, Delivery, Organisation
from knowledge.models import Item
from tests.guardrails.office import CHAT
from tests.guardrails.values import AGENT_TEXT
from tests.microsoft_calendar_world import (
    ADDRESS,
    TOKEN,
    OutlookCalendar,
    running_outlook_calendar,
)
from tests.office import Office
from tests.own_accounts import connected, tokens, trusted
from tests.stories.test_own_drive import take_back
from tests.stories.test_own_files import look

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
TOM, EVE = "tom@elsewhere.test", "eve@elsewhere.test"
LUNCH = {"start": "2099-03-09T12:00:00+01:00", "end": "2099-03-09T13:00:00+01:00"}


@pytest.fixture
def outlook(keys: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[OutlookCalendar]:
    with running_outlook_calendar() as running, trusted(running, monkeypatch):
        yield running


def connect(outlook: OutlookCalendar) -> Account:
    return connected(
        "microsoft_calendar",
        organisation=Organisation.objects.get(),
        user="nora",
        address=ADDRESS,
        servers={"api": outlook.api, "ends_at": ""},
        secret=tokens(TOKEN),
    )


def permit(account: Account, action_type: str, *, who: str) -> None:
    AllowedAction.objects.create(
        account=account,
        action_type=action_type,
        approval_mode="auto",
        hold_seconds=0,
        conditions=[AGENT_TEXT] if action_type != "cancel_calendar_event" else [],
    )
    AllowedActionOption.objects.create(
        account=account,
        action_type=action_type,
        source=account.source,
        kind="recipient",
        external_id=who,
        name=who,
    )


def do(account: Account, action_type: str, *, words: str, **arguments: Any) -> ActionResult:
    request = ActionRequest(
        action_id=uuid7(),
        account=account.ref(),
        action_type=action_type,
        arguments=arguments,
        origin=replace(CHAT, user_words=words),
    )
    return execute(request)


def test_what_is_done_there_is_done_once_is_taken_back_and_starts_nothing(
    office: Office, outlook: OutlookCalendar
) -> None:
    account = connect(outlook)
    look(office, account)
    for action_type in ("create", "update", "cancel"):
        permit(account, f"{action_type}_calendar_event", who=TOM)

    words = f"Put lunch with {TOM} on 9 March 2099, 12:00 to 13:00."
    lunch: dict[str, Any] = {"title": "Lunch", **LUNCH, "attendees": [TOM]}
    outlook.lose = 1
    made = do(account, "create_calendar_event", words=words, **lunch)
    assert made.status == "succeeded", made.sentence
    assert (outlook.titles(), outlook.notified) == (["Lunch"], [("POST", [TOM])])
    assert made.left
    id = made.left["id"]

    outlook.lose = 1
    changed = do(
        *(account, "update_calendar_event"),
        words=f"Call {id} Dinner.",
        event_id=id,
        title="Dinner",
    )
    assert (changed.status, outlook.titles()) == ("succeeded", ["Dinner"]), changed.sentence
    assert take_back(account, changed) == "succeeded"
    assert outlook.titles() == ["Lunch"]

    asked = do(account, "cancel_calendar_event", words=f"Cancel {id}.", event_id=id)
    assert (asked.status, outlook.titles()) == ("pending", ["Lunch"])
    assert asked.approval_id
    outlook.lose = 1
    cancelled = confirm(
        organisation_id=account.organisation_id,
        approval_id=asked.approval_id,
        decided_by="operator:olga",
    )
    assert (cancelled.status, outlook.titles()) == ("succeeded", []), cancelled.sentence
    assert take_back(account, cancelled) == "succeeded"
    assert outlook.titles() == ["Lunch"]
    sent = [("POST", [TOM]), ("PATCH", [TOM]), ("PATCH", [TOM]), ("DELETE", [TOM])]
    assert outlook.notified == [*sent, ("POST", [TOM])]

    written = len(outlook.writes)
    eve = do(
        *(account, "create_calendar_event"),
        words=f"Put lunch with {EVE} on 9 March 2099, 12:00 to 13:00.",
        **{**lunch, "attendees": [EVE]},
    )
    assert (eve.status, len(outlook.writes)) == ("refused", written)

    look(office, account)
    assert Turn.objects.count() == 0
    assert Item.objects.get(account=account, title="Lunch").content_type == "event"
    ((_, event),) = outlook.events
    outlook.put(event, "Breakfast")  # its user, in Outlook
    look(office, account)
    look(office, account)
    assert Item.objects.filter(account=account, title="Breakfast").count() == 1
    seen = Delivery.objects.order_by("received_at").values_list("kind", "state")
    assert list(seen) == [("updated", "processed")] * 2  # Remit's own, and its user's
    assert Turn.objects.count() == 0
    rows = ExecutedAgentAction.objects.filter(
        account_id=account.id, phase__in=("outcome", "blocked")
    ).order_by("id")
    assert [(row.action_type, row.phase, row.status) for row in rows] == [
        ("create_calendar_event", "outcome", "succeeded"),
        ("update_calendar_event", "outcome", "succeeded"),
        ("restore_event", "outcome", "succeeded"),
        ("cancel_calendar_event", "outcome", "succeeded"),
        ("create_calendar_event", "outcome", "succeeded"),
        ("create_calendar_event", "blocked", "blocked"),
    ]
