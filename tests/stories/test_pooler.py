"""Remit's programs behind a PgBouncer that hands connections out by the transaction. Nothing may be
kept in a session: who asks next gets somebody else's."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import psycopg
import pytest

from agents.models import Turn
from audit.models import Checkpoint, ExecutedAgentAction
from config.local import ports
from integrations.models import Delivery, Organisation, ServiceToken
from tests.audit import sealed
from tests.audit.entries import append_action
from tests.office import Office, until
from tests.program import own_database, program

PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
    pytest.mark.skipif(
        PROGRAM is None,
        reason="No PgBouncer found, so nothing was tried behind one. Install it (Debian: "
        "apt-get install pgbouncer) and run the tests again.",
    ),
]
SESSIONS = 8
CONFIG = """
[databases]
{name} = host={host} port={server} user={user} password={password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
auth_type = any
pool_mode = transaction
default_pool_size = {sessions}
max_client_conn = 500
"""


@contextmanager
def running_pooler(folder: Path) -> Iterator[dict[str, str]]:
    """In front of this test's database; how a program reaches both."""
    direct, port = own_database()["DATABASE_URL"], ports.pick()
    there = urlsplit(direct)
    config, log = folder / "pooler.ini", folder / "pooler.log"
    config.write_text(
        CONFIG.format(
            name=there.path[1:],
            host=there.hostname,
            server=there.port,
            user=there.username,
            password=there.password,
            port=port,
            sessions=SESSIONS,
        )
    )
    is_root = os.geteuid() == 0  # as whom it refuses to run
    folder.chmod(0o755)
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [str(PROGRAM), str(config)],
            stdout=output,
            stderr=output,
            user="nobody" if is_root else None,
            group="nogroup" if is_root else None,
            extra_groups=[] if is_root else None,
        ) as process,
    ):
        try:
            behind = direct.replace(f":{there.port}/", f":{port}/")
            until(lambda: process.poll() is not None or answers(behind))
            assert process.poll() is None, log.read_text()
            yield {"DATABASE_URL": behind, "DATABASE_DIRECT_URL": direct}
        finally:
            process.kill()


def answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True


def is_ready(client: httpx.Client) -> bool:
    try:
        return client.get("/ready").status_code == 200
    except httpx.TransportError:
        return False


def test_mails_chats_seals_holds_and_erasures_work_behind_a_pooler(
    office: Office, tmp_path: Path
) -> None:
    organisation = Organisation.objects.get(slug="default")
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id, payload={"text": "secret"})
    token = ServiceToken.issue(organisation=organisation, name="frontend", scopes=["chat"])[1]
    web = ports.pick()
    programs = {
        "web": ("-m", "config.serve", "--port", str(web)),
        "cluster": ("manage.py", "qcluster"),
        "turns": ("manage.py", "run_turns"),
        "sealer": ("manage.py", "seal_ledger"),
    }
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        addresses = stack.enter_context(running_pooler(Path(folder)))
        variables = office.environment() | addresses
        variables["LEDGER_SIGNING_KEY"] = sealed.SIGNING_KEY
        log = tmp_path / "programs.log"
        for name, command in programs.items():
            stack.enter_context(program(*command, log=log, **variables, REMIT_PROCESS=name))
        client = stack.enter_context(
            httpx.Client(
                base_url=f"http://127.0.0.1:{web}",
                headers={"Authorization": f"Bearer {token}"},
                timeout=60,
            )
        )
        for _ in range(6):
            office.deliver("newsletter")
        until(lambda: is_ready(client), seconds=120)

        said = client.post("/api/v1/chat", json={"user_id": "maya", "message": "Hello"})
        asked = {"user_id": "maya", "message": "What is on my calendar tomorrow?"}
        url = client.post("/api/v1/chat/stream", json=asked).json()["stream_url"]
        with client.stream("GET", url) as answer:
            events = [line for line in answer.iter_lines() if line.startswith("event: ")]
        until(lambda: not Delivery.objects.filter(finished_at=None).exists(), seconds=120)
        until(lambda: not Turn.objects.exclude(state="finished").exists())

        def manage(*words: str) -> int:
            command = ("manage.py", *words, "--tenant", str(tenant_id), "--reason", "a case")
            with program(*command, log=log, **variables, REMIT_PROCESS="web") as process:
                return process.wait()

        held = manage("hold_ledger", "--set")
        refused = manage("redact_ledger", "--everything", "--apply")

    assert (said.status_code, events[-1]) == (200, "event: turn.finished"), log.read_text()
    states = Delivery.objects.filter(kind="created").values_list("state", flat=True)
    assert set(states) == {"processed"}
    effects = [call for call in office.calls() if call["performed"]]
    assert len(effects) == len({call["idempotency_key"] for call in effects}) == 12
    # What is erased in spite of a legal hold would be gone.
    assert (held, refused) == (0, 1), log.read_text()
    assert not ExecutedAgentAction.objects.filter(tenant_id=tenant_id, phase="redaction").exists()
    assert Checkpoint.objects.exists()
