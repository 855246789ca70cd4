"""Somebody's own mailbox, from connecting it to a mail that another mailbox receives: on a real
mail server, with a scripted model behind Remit."""

import json
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from agents import tasks
from agents.models import Turn
from audit.models import ExecutedAgentAction
from guardrails.models import HeldSend
from guardrails.policies import files, presets
from guardrails.policies.changes import Author
from guardrails.policies.text import read
from integrations.models import Account, Delivery, MailMark
from integrations.providers.imap import connection
from knowledge.models import Item
from tests.mail_world import PASSWORD, MailWorld, needs_dovecot, running_mail_world
from tests.model_server import calls
from tests.office import Office
from tests.stories.steps import Frontend, scripted

pytestmark = [
    needs_dovecot,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
]
NORA, TOM = "nora@office.test", "tom@office.test"
READER, INGEST = "You are Remit's mail reader.", "You summarise an item and list its entities."
ORCHESTRATOR = "You are Remit's orchestrator."
SUMMARY = {"summary": "A mail.", "entities": []}


@pytest.fixture
def world(keys: None) -> Iterator[MailWorld]:
    with running_mail_world() as running:
        yield running
        connection.close_idle()


def connect(world: MailWorld, monkeypatch: pytest.MonkeyPatch) -> Account:
    """As an operator does it, with the preset that Remit offers."""
    monkeypatch.setenv("REMIT_MAIL_PASSWORD", PASSWORD)
    call_command(
        "connect_mailbox",
        NORA,
        user="nora",
        display_name="Nora Berg",
        time_zone="Europe/Stockholm",
        imap=f"127.0.0.1:{world.imap}",
        smtp=f"127.0.0.1:{world.smtp}",
        starttls=["smtp"],
        verbosity=0,
    )
    return Account.objects.get(external_user_id="nora", source="imap")


def allow_preset(account: Account) -> None:
    wanted = read(presets.load(presets.default_for(account.source)))
    files.apply(account, wanted, author=Author(name="command", door="command"))


def mail(subject: str, body: str, *, sender: str = "Tom <tom@office.test>") -> EmailMessage:
    found = EmailMessage()
    found["From"], found["To"], found["Subject"] = sender, NORA, subject
    found["Message-ID"] = f"<{subject.replace(' ', '.')}@office.test>"
    found["Date"] = "Mon, 09 Mar 2026 10:00:00 +0100"
    found["Authentication-Results"] = "mail.office.test; dmarc=pass header.from=office.test"
    found.set_content(body)
    return found


def folders(world: MailWorld) -> dict[str, list[str]]:
    """The subjects in each folder of Nora's that holds anything, as her mail program shows them."""
    found = {}
    with world.client(NORA) as client:
        for _, _, name in client.list_folders():
            client.select_folder(name, readonly=True)
            mails = client.fetch(client.search(), ["ENVELOPE"])
            if mails:
                found[name] = [one[b"ENVELOPE"].subject.decode() for one in mails.values()]
    return found


def look(office: Office, account: Account) -> None:
    tasks.look_at_account(str(account.id))
    office.drain()


def test_a_connected_mailbox_is_read_in_and_what_comes_later_is_handled(
    office: Office, world: MailWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.deliver(NORA, mail("Old plan", "The plan of last week."))
    account = connect(world, monkeypatch)
    office.sync("imap", user="nora", copied=False)
    look(office, account)
    assert Item.objects.get(account=account).title == "Old plan"
    assert (Turn.objects.count(), Delivery.objects.count()) == (0, 0)

    allow_preset(account)
    world.deliver(NORA, mail("News of the week", "Nothing to do."))
    with scripted({INGEST: [SUMMARY], READER: archive}):
        look(office, account)

    delivery = Delivery.objects.get(kind="created")
    turn = Turn.objects.get()
    assert (delivery.source, delivery.state, delivery.reason) == ("imap", "processed", "")
    assert (turn.state, turn.ending) == ("finished", "reply")
    assert folders(world) == {"INBOX": ["Old plan"], "Archive": ["News of the week"]}
    rows = ExecutedAgentAction.objects.filter(run_id=str(turn.id)).order_by("id")
    assert [(row.action_type, row.phase, row.status) for row in rows] == [
        ("archive", "attempt", "pending"),
        ("archive", "outcome", "succeeded"),
    ]
    assert len({row.credential_ref for row in rows} - {""}) == 1

    look(office, account)
    assert Turn.objects.count() == 1
    assert MailMark.objects.filter(account=account, folder="Archive").exists()


def archive(request: dict[str, Any]) -> Any:
    """A model that archives the mail that it was shown, and says so."""
    if request["messages"][-1]["role"] == "tool":
        return "Filed."
    item = json.loads(request["messages"][1]["content"].partition("[item] ")[2])
    return calls(("archive", {"email_id": item["email_id"]}))


def test_without_a_policy_nothing_is_done_to_a_connected_mailbox(
    office: Office, world: MailWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = connect(world, monkeypatch)
    look(office, account)
    world.deliver(NORA, mail("News", "Nothing to do."))

    with scripted({INGEST: [SUMMARY], READER: archive}):
        look(office, account)

    assert folders(world) == {"INBOX": ["News"]}
    rows = ExecutedAgentAction.objects.filter(run_id=str(Turn.objects.get().id))
    assert [(row.status, row.decision_reason) for row in rows] == [("blocked", "not_permitted")]


def test_a_mail_that_a_person_confirmed_is_received_in_another_mailbox(
    office: Office, world: MailWorld, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    account = connect(world, monkeypatch)
    look(office, account)
    allow_preset(account)
    nora = Frontend(office)
    send = {"to": ["ann@elsewhere.test"], "subject": "Friday", "body": "See you on Friday."}
    with scripted({ORCHESTRATOR: [calls(("send_email", send)), "It waits for you."]}):
        asked = nora.ask(
            "POST",
            "/chat",
            {"user_id": "nora", "message": "Write to ann@elsewhere.test: see you on Friday."},
        )
    assert [one["type"] for one in asked["pending_actions"]] == ["send_email"]
    assert world.sink.taken == []

    (id,) = (one["id"] for one in asked["pending_actions"])
    with scripted({ORCHESTRATOR: ["It goes out in a minute."]}):
        held = nora.ask(
            "POST",
            "/chat",
            {
                "user_id": "nora",
                "session_id": asked["session_id"],
                "message": "",
                "confirm_actions": [id],
            },
        )
    assert [one["type"] for one in held["held_actions"]] == ["send_email"]
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
    assert folders(world) == {"Sent": ["Friday"]}
    tasks.sweep()
    assert len(world.sink.taken) == 1
