"""Somebody's own files, from connecting a folder to a new file that is filed once: at a real server
of files, with the offline model behind Remit."""

import pytest
from django.core.management import call_command

from agents import tasks
from agents.models import Turn
from audit.models import ExecutedAgentAction
from guardrails.models import AllowedAction, AllowedActionOption
from guardrails.policies import files, presets
from guardrails.policies.changes import Author
from guardrails.policies.text import read
from integrations.models import Account, Delivery
from integrations.providers.webdav.reader import WebDavReader
from tests.file_world import ADDRESS, PASSWORD, USER, FileServer, needs_files, running_files
from tests.office import Office

pytestmark = [
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    needs_files,
]


def connect(server: FileServer) -> Account:
    """As an operator does it, with the preset that Remit offers, and one folder to file into."""
    call_command(
        *("connect_files", ADDRESS),
        user="nora",
        login=USER,
        url=server.origin,
        private=True,
        verbosity=0,
    )
    account = Account.objects.get(external_user_id="nora", source="webdav")
    wanted = read(presets.load(presets.default_for(account.source)))
    files.apply(account, wanted, author=Author(name="command", door="command"))
    AllowedAction.objects.filter(account=account, action_type="move_document").update(
        approval_mode="auto"
    )
    folders = {one.name: one.id for one in WebDavReader(account.ref()).folders()}
    AllowedActionOption.objects.create(
        account=account,
        action_type="move_document",
        source="webdav",
        kind="folder",
        external_id=folders["/Research"],
        name="/Research",
    )
    return account


def look(office: Office, account: Account) -> None:
    tasks.look_at_account(str(account.id))
    office.drain()


def test_a_new_file_is_filed_once_and_its_own_move_starts_nothing(
    office: Office, keys: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REMIT_MAIL_PASSWORD", PASSWORD)
    with running_files() as server:
        monkeypatch.setenv("SSL_CERT_FILE", str(server.trusted))
        server.put("Research/plan.txt", "What we look into")
        account = connect(server)
        office.sync("webdav", user="nora", copied=False)
        look(office, account)
        assert (Turn.objects.count(), Delivery.objects.count()) == (0, 0)

        server.put("minutes.txt", "Minutes of the research group")  # only its text says where
        server.put("Research/more.txt", "Filed by hand")
        look(office, account)
        assert sorted(server.held()) == [
            *("Research/minutes.txt", "Research/more.txt", "Research/plan.txt")
        ]
        turn = Turn.objects.get()
        rows = ExecutedAgentAction.objects.filter(run_id=str(turn.id)).order_by("id")
        assert [(row.action_type, row.status) for row in rows] == [
            ("move_document", "pending"),
            ("move_document", "succeeded"),
        ]
        for _ in range(2):
            look(office, account)
        assert Turn.objects.get() == turn
        assert len(server.held()) == 3
