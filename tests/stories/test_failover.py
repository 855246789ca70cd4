"""The database's server is killed in the middle of mails and a chat, and its replica takes its
place. The programs know both by one address and go on without being started again."""

import io
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from django.core.management import call_command
from django.db import connections
from django.db.models import Exists, OuterRef

from agents.models import Turn
from audit.models import Checkpoint, ExecutedAgentAction, Leaf
from audit.seals import progress
from config.local import ports
from config.local.place import EmbeddedDatabaseError, binaries_dir
from integrations.models import Delivery, ServiceToken
from tests.agents.waiting import ORCHESTRATOR
from tests.audit import sealed
from tests.audit.bundle import files as bundles
from tests.audit.entries import append_action
from tests.model_server import Paused
from tests.office import SECRET, Office, running_office, until
from tests.program import program
from tests.replica_world import World, leading_to, running_pair
from tests.sandbox_server import running_sandbox
from tests.stories.steps import scripted
from tests.stories.test_kills import assert_each_effect_happened_once_and_is_recorded
from tests.stories.test_stopping import INGEST, follow


def can_start() -> bool:
    try:
        binaries_dir()
    except EmbeddedDatabaseError:
        return False
    return True


pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    pytest.mark.skipif(
        not can_start(),
        reason="There is no embedded PostgreSQL for this platform, so no server was killed. Run "
        "these tests where `make run` brings its own database.",
    ),
]
SLOW = 1_000  # milliseconds that the data service takes, long enough to be killed in
UNSEALED = ExecutedAgentAction.objects.filter(~Exists(Leaf.objects.filter(row_id=OuterRef("id"))))


@dataclass
class Site:
    """Remit's programs over both servers, the replica waited for."""

    world: World
    office: Office
    client: httpx.Client
    programs: list[Any]
    rooms: Path
    log: Path
    go_on: threading.Event  # the chat's model has said half of its answer until then

    def deliver(self) -> str:
        """Let a mail arrive, whether or not Remit takes its webhook now."""
        return str(self.office.control("POST", "/users/maya/deliver/newsletter")["id"])

    def accepted(self) -> set[str]:
        """The new mails whose webhook was answered with 2xx. It is not sent again."""
        with closing(sqlite3.connect(self.rooms)) as rooms:
            found = rooms.execute(
                "SELECT source_id FROM webhooks"
                " WHERE state = 'delivered' AND event = 'item-created' AND source = 'gmail'"
            )
            return {id for (id,) in found}

    def status(self) -> int:
        try:
            return self.client.get("/ready").status_code
        except httpx.TransportError:
            return 0


@pytest.fixture
def site(settings: Any, tmp_path: Path) -> Iterator[Site]:
    go_on, log, rooms = threading.Event(), tmp_path / "programs.log", tmp_path / "copied.sqlite"
    script = {
        ORCHESTRATOR: lambda body: Paused("Half of it.", go_on) if body.get("stream") else "Hello.",
        INGEST: lambda _: {"summary": "A mail.", "entities": []},
    }
    with ExitStack() as stack:
        world = stack.enter_context(running_pair(tmp_path))
        world.wait_for_replica()
        stack.enter_context(leading_to(world.either))
        office = stack.enter_context(running_office(settings, state_dir=tmp_path))
        with (
            closing(sqlite3.connect(tmp_path / "sandbox.sqlite")) as before,
            closing(sqlite3.connect(rooms)) as copy,
        ):
            before.backup(copy)
        origin = f"http://127.0.0.1:{(port := ports.pick())}"
        sandbox = stack.enter_context(
            running_sandbox(
                state=str(rooms), webhook_url=f"{origin}/webhooks", webhook_secret=SECRET
            )
        )
        office = replace(office, origin=origin, sandbox=sandbox)
        stack.callback(go_on.set)
        model = stack.enter_context(scripted(script))
        variables = office.environment() | {
            "DATABASE_URL": world.either,
            "OPENAI_BASE_URL": model.url,
            "OPENAI_API_KEY": "scripted",
            "LEDGER_SIGNING_KEY": sealed.SIGNING_KEY,
            "TURN_LEASE_SECONDS": "5",
            "TASK_WORKERS": "1",
            "DELIVERY_THREADS": "2",
        }
        programs = [
            stack.enter_context(program(*command, log=log, **variables, REMIT_PROCESS=name))
            for name, command in {
                "web": ("-m", "config.serve", "--port", str(port)),
                "cluster": ("manage.py", "qcluster"),
                "turns": ("manage.py", "run_turns"),
                "sealer": ("manage.py", "seal_ledger"),
            }.items()
        ]
        _, token = ServiceToken.issue(organisation=office.organisation, name="t", scopes=["chat"])
        client = stack.enter_context(
            httpx.Client(base_url=origin, headers={"Authorization": f"Bearer {token}"}, timeout=60)
        )
        site = Site(world, office, client, programs, rooms, log, go_on)
        until(lambda: site.status() == 200, seconds=120)
        yield site


def is_done() -> bool:
    return not (
        Delivery.objects.filter(finished_at=None).exists()
        or Turn.objects.exclude(state="finished").exists()
    )


def is_in_a_call() -> bool:
    """An action was begun at the provider, and nobody knows yet how it went."""
    ended = ExecutedAgentAction.objects.filter(action_id=OuterRef("action_id"), phase="outcome")
    return ExecutedAgentAction.objects.filter(~Exists(ended), phase="attempt").exists()


def ask(site: Site, path: str) -> httpx.Response:
    return site.client.post(f"/api/v1/{path}", json={"user_id": "maya", "message": "Hello"})


def test_programs_go_on_at_the_replica_that_was_promoted(site: Site) -> None:
    mails = [site.deliver() for _ in range(2)]
    until(lambda: Turn.objects.count() == 2 and is_done(), seconds=120)
    asked = ask(site, "chat/stream")
    assert asked.status_code == 202, asked.text
    stream = follow(site.office.origin, asked.json()["turn_id"])
    heard = [next(stream)]
    site.office.control("PUT", "/faults", json={"latency_ms": SLOW})
    mails += [site.deliver() for _ in range(5)]
    until(lambda: site.accepted() == set(mails))
    until(is_in_a_call)
    sealed_before = Checkpoint.objects.count()

    site.world.kill_primary()
    connections.close_all()
    mails += [site.deliver() for _ in range(2)]
    refused = ask(site, "chat")
    site.go_on.set()
    accepted = site.accepted()
    site.world.promote()
    stored = set(Delivery.objects.filter(kind="created").values_list("source_id", flat=True))
    until(lambda: site.status() == 200, seconds=120)
    site.office.control("PUT", "/faults", json={})
    mails.append(site.deliver())
    answered = ask(site, "chat")
    heard += follow(site.office.origin, asked.json()["turn_id"], after=heard[0][0])
    until(lambda: site.accepted() >= set(mails) and is_done(), seconds=120)
    until(lambda: not UNSEALED.exists())

    assert (refused.status_code, refused.json()["code"]) == (503, "database_away")
    assert accepted >= set(mails[:7])
    assert stored >= accepted
    assert answered.json()["response"] == "Hello."
    assert heard[-1][1] == "turn.finished", heard
    assert heard[-1][2]["answer"]["response"] == "Half of it."
    handled = Delivery.objects.filter(kind="created", source_id__in=mails)
    assert sorted(handled.values_list("source_id", flat=True)) == sorted(mails)
    assert set(handled.values_list("state", flat=True)) == {"processed"}
    turns = Turn.objects.filter(item_source_id__in=mails).values_list("item_source_id", flat=True)
    assert sorted(turns) == sorted(mails)
    assert_each_effect_happened_once_and_is_recorded(site.office)
    effects = [call for call in site.office.calls() if call["performed"] and not call["replayed"]]
    assert len(effects) == 2 * len(mails)
    assert Checkpoint.objects.count() > sealed_before
    assert "The ledger verifies" in verify_ledger()
    assert [one.poll() for one in site.programs] == [None] * 4, site.log.read_text()


def test_what_an_asynchronous_replica_never_had_is_found_with_a_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant_id = uuid4()
    with running_pair(tmp_path) as world, leading_to(world.either):
        append_action(tenant_id=tenant_id)
        sealed.seal(tenant_id)
        world.catch_up()
        world.cut_off()
        append_action(tenant_id=tenant_id)
        sealed.seal(tenant_id)
        given_away = progress.find_newest_checkpoint(tenant_id)
        assert given_away
        world.kill_primary()
        world.promote()
        connections.close_all()

        assert "The ledger verifies" in verify_ledger("--tenant", str(tenant_id))
        sealed.seal(tenant_id)  # no counter is moved on
        key, present = sealed.key(tenant_id), bundles.make(tenant_id)
        assert bundles.check(tmp_path, present, key) == 0
        assert bundles.check(tmp_path, present, key, given_away.note) == 1
        said = capsys.readouterr().out

    assert "ROLLBACK" in said, said


def verify_ledger(*arguments: str) -> str:
    said = io.StringIO()
    call_command("verify_ledger", *arguments, stdout=said)
    return said.getvalue()
