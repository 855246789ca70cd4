"""Programs of an earlier version on the tables of this one, alone and beside programs of this one,
as they are while an update replaces them one after the other."""

import io
import os
import subprocess
import tarfile
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from agents.models import Turn
from config.local import ports, state
from integrations.models import Delivery, ServiceToken
from tests.office import Office, until
from tests.program import program

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
]
EARLIER = os.environ.get("REMIT_EARLIER", "HEAD~50")


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """The tree of the earlier version."""
    found = subprocess.run(
        ["git", "archive", "--format=tar", EARLIER],
        cwd=state.PROJECT_DIR,
        capture_output=True,
        check=False,
    )
    if found.returncode:
        pytest.skip(
            f"{EARLIER} is not in this clone, so no earlier version ran beside this one. Fetch the "
            "whole history and run the test again."
        )
    folder = tmp_path / "earlier"
    with tarfile.open(fileobj=io.BytesIO(found.stdout)) as tree:
        tree.extractall(folder, filter="data")
    return folder


def start(stack: ExitStack, office: Office, folder: Path, log: Path) -> httpx.Client:
    """Web, cluster and turns of the version in this folder; what asks its web process."""
    port = ports.pick()
    programs = {
        "web": ("-m", "config.serve", "--port", str(port)),
        "cluster": ("manage.py", "qcluster"),
        "turns": ("manage.py", "run_turns"),
    }
    for name, command in programs.items():
        variables = office.environment() | {"REMIT_PROCESS": name}
        stack.enter_context(program(*command, log=log, folder=folder, **variables))
    token = ServiceToken.issue(organisation=office.organisation, name=str(port), scopes=["chat"])[1]
    client = stack.enter_context(
        httpx.Client(
            base_url=f"http://127.0.0.1:{port}",
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
        )
    )

    def is_ready() -> bool:
        try:
            return client.get("/ready").status_code == 200
        except httpx.TransportError:
            return False

    until(is_ready, seconds=120)
    return client


def chat(client: httpx.Client) -> tuple[int, str]:
    """How an answer came at once, and how one ended that a turns program gave."""
    said = client.post("/api/v1/chat", json={"user_id": "maya", "message": "Hello"})
    asked = {"user_id": "maya", "message": "What is on my calendar tomorrow?"}
    url = client.post("/api/v1/chat/stream", json=asked).json()["stream_url"]
    with client.stream("GET", url) as answer:
        events = [line for line in answer.iter_lines() if line.startswith("event: ")]
    return said.status_code, events[-1]


def is_done() -> bool:
    return not (
        Delivery.objects.filter(finished_at=None).exists()
        or Turn.objects.exclude(state="finished").exists()
    )


def test_mails_and_chats_go_through_an_earlier_version_alone_and_beside_this_one(
    earlier: Path, office: Office, tmp_path: Path
) -> None:
    """This version made the tables and takes the webhooks in."""
    log, answers = tmp_path / "programs.log", []
    with ExitStack() as stack:
        before = start(stack, office, earlier, log)
        office.deliver("newsletter")
        answers.append(chat(before))
        until(is_done, seconds=120)
        by_earlier = Turn.objects.count()

        after = start(stack, office, state.PROJECT_DIR, log)
        for _ in range(4):
            office.deliver("newsletter")
        answers += [chat(before), chat(after)]
        until(is_done, seconds=120)

    assert answers == [(200, "event: turn.finished")] * 3, log.read_text()
    assert (by_earlier, Turn.objects.count()) == (3, 11)
    states = Delivery.objects.filter(kind="created").values_list("state", flat=True)
    assert list(states) == ["processed"] * 5
    effects = [call for call in office.calls() if call["performed"]]
    assert len(effects) == len({call["idempotency_key"] for call in effects}) == 10
