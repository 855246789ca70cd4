import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.ports import free_port
from tests.sandbox.data_service.client import Client, error
from tests.sandbox.data_service.receiver import SECRET, Receiver
from tests.sandbox_server import RunningSandbox

ISSUE = {"project_key": "PROJ", "type": "task", "summary": "Once"}
ROOT = Path(__file__).resolve().parents[3]


def created(office: Client) -> list[str]:
    return [item["key"] for item in office.items("/maya/jira/issues") if item["summary"] == "Once"]


def test_the_same_key_and_body_replay_the_first_answer(office: Client) -> None:
    first = office.post("/maya/jira/issues", ISSUE, key="k1")
    again = office.post("/maya/jira/issues", dict(reversed(ISSUE.items())), key="k1")
    assert (again.status_code, again.json()) == (201, first.json())
    assert "idempotent-replay" not in first.headers
    assert again.headers["idempotent-replay"] == "true"
    assert created(office) == ["PROJ-101"]
    assert [(call["performed"], call["replayed"]) for call in office.calls()] == [
        (True, False),
        (False, True),
    ]


def test_a_replay_answers_as_then_even_when_things_have_changed(office: Client) -> None:
    draft = office.post("/maya/drafts", {"to": ["a@b.example"]}).json()
    path = f"/maya/drafts/{draft['id']}"
    assert office.write("DELETE", path, key="k1").status_code == 204
    again = office.write("DELETE", path, key="k1")
    assert (again.status_code, again.content) == (204, b"")
    assert again.headers["idempotent-replay"] == "true"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/maya/jira/issues", {**ISSUE, "summary": "Other"}),
        ("/maya/jira/issues", {**ISSUE, "labels": []}),
        ("/maya/emails/send", {"to": ["a@b.example"], "body": "x"}),
    ],
)
def test_a_key_used_for_another_request_is_refused(
    office: Client, path: str, body: dict[str, Any]
) -> None:
    office.post("/maya/jira/issues", ISSUE, key="k1")
    assert error(office.post(path, body, key="k1")) == (422, "idempotency_key_reused")
    assert len(office.history()) == 1


def test_a_key_belongs_to_one_user(office: Client) -> None:
    assert office.post("/maya/jira/issues", ISSUE, key="k1").json()["key"] == "PROJ-101"
    assert office.post("/omar/jira/issues", ISSUE, key="k1").json()["key"] == "PROJ-1"
    assert error(office.get("/omar/operations/k2")) == (404, "unknown_operation")


def test_a_write_without_a_key_is_done_each_time(office: Client) -> None:
    office.post("/maya/jira/issues", ISSUE)
    office.post("/maya/jira/issues", ISSUE)
    assert created(office) == ["PROJ-101", "PROJ-102"]
    assert [operation["key"] for operation in office.history()] == [None, None]


def test_a_refused_write_leaves_its_key_free(office: Client) -> None:
    wrong = office.post("/maya/jira/issues", {**ISSUE, "project_key": "NONE"}, key="k1")
    assert error(wrong) == (404, "unknown_project")
    assert error(office.get("/maya/operations/k1")) == (404, "unknown_operation")
    assert office.post("/maya/jira/issues", ISSUE, key="k1").status_code == 201


@pytest.mark.parametrize("key", ["", "k" * 256, "k\t1"])
def test_a_key_that_is_empty_long_or_not_printable_is_refused(office: Client, key: str) -> None:
    response = office.post("/maya/jira/issues", ISSUE, key=key)
    assert error(response) == (400, "bad_idempotency_key")
    assert created(office) == []


def test_what_was_done_under_a_key_can_be_asked(office: Client) -> None:
    answer = office.post("/maya/jira/issues", ISSUE, key="turn:7/call 1").json()
    operation = office.get("/maya/operations/turn:7/call 1")
    assert operation.json() == {
        "key": "turn:7/call 1",
        "method": "POST",
        "path": "/users/maya/jira/issues",
        "status": 201,
        "response": answer,
        "performed_at": operation.json()["performed_at"],
    }
    (kept,) = office.history()
    assert kept == operation.json() | {"id": kept["id"], "body": ISSUE}


def test_the_same_key_at_the_same_moment_acts_once(office: Client) -> None:
    answers: list[httpx.Response] = []

    def ask() -> None:
        answers.append(office.post("/maya/jira/issues", ISSUE, key="k1"))

    threads = [threading.Thread(target=ask) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {answer.json()["key"] for answer in answers} == {"PROJ-101"}
    assert created(office) == ["PROJ-101"]


@contextmanager
def killed_afterwards(state: Path, port: int, webhook_url: str) -> Iterator[Client]:
    """The sandbox as its own process, ended by SIGKILL."""
    environment = {
        **os.environ,
        "SANDBOX_PORT": str(port),
        "SANDBOX_STATE": str(state),
        "DATA_SERVICE_KEY": "key",
        "WEBHOOK_URL": webhook_url,
        "WEBHOOK_SECRET": SECRET,
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "sandbox.data_service"],
        env=environment,
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
    )
    sandbox = RunningSandbox(origin=f"http://127.0.0.1:{port}", key="key")
    patient = httpx.HTTPTransport(retries=8)
    try:
        with httpx.Client(transport=patient, trust_env=False, timeout=30) as http:
            yield Client(sandbox=sandbox, http=http)
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_after_a_kill_the_effect_its_key_and_its_webhook_are_all_there(
    tmp_path: Path, receiver: Receiver
) -> None:
    state, port = tmp_path / "deep" / "state.sqlite3", free_port()
    nobody = f"http://127.0.0.1:{free_port()}/webhooks"
    with killed_afterwards(state, port, nobody) as office:
        first = office.post("/maya/jira/issues", ISSUE, key="k1").json()
    assert first["key"] == "PROJ-101"
    with killed_afterwards(state, port, receiver.url) as office:
        again = office.post("/maya/jira/issues", ISSUE, key="k1")
        assert again.headers["idempotent-replay"] == "true"
        assert again.json() == first
        assert created(office) == ["PROJ-101"]
        assert [call["performed"] for call in office.calls()] == [True, False]
        (delivered,) = receiver.wait_for(1)
        assert delivered.body["data"]["key"] == "PROJ-101"
        assert office.post("/maya/jira/issues", ISSUE).json()["key"] == "PROJ-102"


def appended(office: Client, *, document: str, version: int, key: str) -> httpx.Response:
    return office.http.patch(
        f"{office.sandbox.url}/users/maya/documents/{document}",
        json={"mode": "append", "content": "More."},
        headers={**office.sandbox.headers, "If-Match": str(version), "Idempotency-Key": key},
    )


def test_a_write_to_another_version_does_nothing(office: Client) -> None:
    made = office.post("/maya/documents", {"name": "Notes"}).json()["id"]

    assert appended(office, document=made, version=1, key="k1").json()["version"] == 2
    assert error(appended(office, document=made, version=1, key="k2")) == (412, "version_changed")
    assert appended(office, document=made, version=1, key="k1").json()["version"] == 2  # replayed
    assert office.get(f"/maya/documents/{made}").json()["content_text"] == "More."
