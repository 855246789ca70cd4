"""Somebody's own mailbox over JMAP, from connecting it to a mail that another mailbox receives: on
a real mail server, with a scripted model behind Remit."""

from collections.abc import Iterator
from email import message_from_bytes, policy
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from agents import tasks
from agents.models import Turn
from audit.ledger.selectors import recorded
from audit.models import ExecutedAgentAction
from guardrails.contracts import ActionResult
from guardrails.execute.undo import undo
from guardrails.models import HeldSend
from integrations.models import Account, Delivery, MailState
from integrations.network import http
from knowledge.models import Item
from tests.cyrus_world import CyrusWorld, needs_cyrus, running_cyrus
from tests.mail_world import PASSWORD
from tests.model_server import calls
from tests.office import Office
from tests.stories.steps import Frontend, scripted
from tests.stories.test_own_mailbox import (
    INGEST,
    NORA,
    ORCHESTRATOR,
    READER,
    SUMMARY,
    allow_preset,
    archive,
    folders,
    look,
    mail,
)

pytestmark = [
    needs_cyrus,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
]


@pytest.fixture
def world(keys: None) -> Iterator[CyrusWorld]:
    with running_cyrus() as running:
        running.add(NORA)
        yield running
        http.close_clients()


def connect(world: CyrusWorld, monkeypatch: pytest.MonkeyPatch) -> Account:
    monkeypatch.setenv("REMIT_MAIL_PASSWORD", PASSWORD)
    call_command(
        "connect_mailbox",
        NORA,
        user="nora",
        display_name="Nora Berg",
        time_zone="Europe/Stockholm",
        jmap=f"127.0.0.1:{world.jmap}",
        verbosity=0,
    )
    return Account.objects.get(external_user_id="nora", source="jmap")


def send(office: Office, world: CyrusWorld, subject: str) -> ExecutedAgentAction:
    """A mail that Nora asks for and confirms, and that has not been recalled before its time: the
    last row about it."""
    nora, said = Frontend(office), "See you then."
    given = {"to": ["ann@elsewhere.test"], "subject": subject, "body": said}
    with scripted({ORCHESTRATOR: [calls(("send_email", given)), "It waits for you."]}):
        message = f"Write to ann@elsewhere.test about {subject}: see you then."
        asked = nora.ask("POST", "/chat", {"user_id": "nora", "message": message})
    (id,) = (one["id"] for one in asked["pending_actions"])
    with scripted({ORCHESTRATOR: ["It goes out in a minute."]}):
        confirmed = {"session_id": asked["session_id"], "confirm_actions": [id]}
        nora.ask("POST", "/chat", {"user_id": "nora", "message": "", **confirmed})
    assert subject not in received(world)
    HeldSend.objects.update(until=timezone.now())
    tasks.sweep()
    office.drain()
    return ExecutedAgentAction.objects.get(
        run_id=asked["turn_id"], phase="outcome", status="succeeded"
    )


def take_back(office: Office, row: ExecutedAgentAction) -> ActionResult:
    return undo(organisation_id=office.organisation.id, action_id=row.action_id, by="operator:olga")


def received(world: CyrusWorld) -> list[str]:
    return [str(message_from_bytes(content)["Subject"]) for _, _, content in world.sink.taken]


def test_what_comes_is_handled_and_what_a_person_confirms_is_received(
    office: Office, world: CyrusWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.deliver(NORA, mail("Old plan", "The plan of last week."))
    account = connect(world, monkeypatch)
    office.sync("jmap", user="nora", copied=False)
    look(office, account)
    assert Item.objects.get(account=account).title == "Old plan"
    assert (Turn.objects.count(), Delivery.objects.count()) == (0, 0)

    world.deliver(NORA, mail("News", "Nothing to do."))
    with scripted({INGEST: [SUMMARY], READER: archive}):
        look(office, account)
    assert folders(world) == {"INBOX": ["Old plan", "News"]}
    rows = ExecutedAgentAction.objects.filter(run_id=str(Turn.objects.get().id))
    assert [(row.status, row.decision_reason) for row in rows] == [("blocked", "not_permitted")]

    allow_preset(account)
    world.deliver(NORA, mail("News of the week", "Nothing to do."))
    with scripted({INGEST: [SUMMARY], READER: archive}):
        look(office, account)
    assert folders(world) == {"INBOX": ["Old plan", "News"], "Archive": ["News of the week"]}
    turn = Turn.objects.order_by("created_at").last()
    assert turn is not None
    rows = ExecutedAgentAction.objects.filter(run_id=str(turn.id)).order_by("id")
    assert [(row.action_type, row.phase, row.status) for row in rows] == [
        ("archive", "attempt", "pending"),
        ("archive", "outcome", "succeeded"),
    ]
    assert len({row.credential_ref for row in rows} - {""}) == 1
    look(office, account)
    assert Turn.objects.count() == 2
    assert MailState.objects.get(account=account).state

    row = send(office, world, "Friday")

    ((sender, receivers, content),) = world.sink.taken
    assert (sender, receivers) == (NORA, ["ann@elsewhere.test"])
    received = message_from_bytes(content, policy=policy.default)
    assert received["From"] == "Nora Berg <nora@office.test>"
    assert received.get_content().strip() == "See you then."
    assert received["X-Remit-Action"] == f"remit-{row.action_id}"
    assert folders(world)["Sent"] == ["Friday"]
    tasks.sweep()
    assert len(world.sink.taken) == 1


def test_a_mail_that_the_server_holds_back_is_recalled_by_a_command_and_another_is_not(
    office: Office, world: CyrusWorld, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    account = connect(world, monkeypatch)
    allow_preset(account)
    settings.JMAP_RECALL_SECONDS = 3600
    held = send(office, world, "Friday")
    settings.JMAP_RECALL_SECONDS = 0
    gone = send(office, world, "Monday")
    assert received(world) == ["Monday"]
    assert folders(world)["Sent"] == ["Friday", "Monday"]
    assert "The mail server sends it at" in recorded(held.action_id)[-1].payload["undo"]

    back, again, too_late = (take_back(office, row) for row in (held, held, gone))

    assert (back.status, again.reason) == ("succeeded", "already_undone")
    assert too_late.reason == "cannot_be_undone"
    assert folders(world) | {"Drafts": ["Friday"], "Sent": ["Monday"]} == folders(world)
    assert received(world) == ["Monday"]
    rows = ExecutedAgentAction.objects.filter(action_id=back.action_id).order_by("id")
    assert [(row.action_type, row.phase, row.status) for row in rows] == [
        ("recall_email", "attempt", "pending"),
        ("recall_email", "outcome", "succeeded"),
    ]
    assert {row.parent_action_id for row in rows} == {held.action_id}
