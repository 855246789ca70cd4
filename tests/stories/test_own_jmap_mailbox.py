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
from audit.models import ExecutedAgentAction
from guardrails.models import HeldSend
from integrations.credentials import sealing
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
    PRIVATE,
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
def world(settings: Any) -> Iterator[CyrusWorld]:
    settings.OUTGOING_TO_PRIVATE = True
    settings.CREDENTIALS_PRIVATE_KEY = PRIVATE
    public = sealing.private_key(PRIVATE).public_key()
    settings.CREDENTIALS_PUBLIC_KEY = sealing.to_text(public)
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

    nora = Frontend(office)
    send = {"to": ["ann@elsewhere.test"], "subject": "Friday", "body": "See you on Friday."}
    with scripted({ORCHESTRATOR: [calls(("send_email", send)), "It waits for you."]}):
        asked = nora.ask(
            "POST",
            "/chat",
            {"user_id": "nora", "message": "Write to ann@elsewhere.test: see you on Friday."},
        )
    (id,) = (one["id"] for one in asked["pending_actions"])
    with scripted({ORCHESTRATOR: ["It goes out in a minute."]}):
        confirmed = {"session_id": asked["session_id"], "confirm_actions": [id]}
        nora.ask("POST", "/chat", {"user_id": "nora", "message": "", **confirmed})
    assert world.sink.taken == []

    HeldSend.objects.update(until=timezone.now())
    tasks.sweep()
    office.drain()

    ((sender, receivers, content),) = world.sink.taken
    assert (sender, receivers) == (NORA, ["ann@elsewhere.test"])
    received = message_from_bytes(content, policy=policy.default)
    assert received["From"] == "Nora Berg <nora@office.test>"
    assert received.get_content().strip() == "See you on Friday."
    row = ExecutedAgentAction.objects.get(
        run_id=asked["turn_id"], phase="outcome", status="succeeded"
    )
    assert received["X-Remit-Action"] == f"remit-{row.action_id}"
    assert folders(world)["Sent"] == ["Friday"]
    tasks.sweep()
    assert len(world.sink.taken) == 1
