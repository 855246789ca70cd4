"""The frontend hears of a finished sync over real HTTP, signed, until it says it has."""

import json
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook

from knowledge.models import SyncRun, SyncSource
from knowledge.sync import callbacks, runs as sync_runs
from tests.knowledge.office import account
from tests.webhook_schema import validate_sent

pytestmark = pytest.mark.django_db

SECRET = "whsec_b2ZmaWNlLW9mLXRoZS10ZXN0cw=="
NOW = datetime.now(UTC)


class Frontend:
    def __init__(self) -> None:
        self.got: list[tuple[str, dict[str, str], bytes]] = []
        self.status = 204
        self.url = ""


@contextmanager
def serving(frontend: Frontend) -> Iterator[None]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            frontend.got.append((self.path, headers, body))
            self.send_response(frontend.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """The record is `Frontend.got`."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    frontend.url = f"http://127.0.0.1:{server.server_port}/hooks/remit?of=sync"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def frontend() -> Iterator[Frontend]:
    running = Frontend()
    with serving(running):
        yield running


def finished(settings: Any, frontend: Frontend, *, only_changes: bool = False) -> SyncRun:
    owner = account()
    settings.SYNC_CALLBACKS = {owner.organisation_slug: frontend.url}
    settings.SYNC_CALLBACK_SECRETS = {owner.organisation_slug: SECRET}
    run = SyncRun.objects.create(
        organisation_id=owner.organisation_id, external_user_id="maya", only_changes=only_changes
    )
    SyncSource.objects.create(
        run=run, account_id=owner.id, since=NOW, state="done", received=3, processed=2, failed=1
    )
    sync_runs.settle(run.pk, now=NOW)
    run.refresh_from_db()
    return run


def test_it_is_reported_once_with_counts_and_a_signature(settings: Any, frontend: Frontend) -> None:
    run = finished(settings, frontend)

    assert callbacks.send_due(now=datetime.now(UTC)) == 1  # what is old is refused
    assert callbacks.send_due(now=NOW + timedelta(days=1)) == 0

    [(path, headers, body)] = frontend.got
    assert path == "/hooks/remit?of=sync"
    Webhook(SECRET).verify(body, headers)
    assert headers["webhook-id"] == f"sync_{run.pk}"
    message = json.loads(body)
    assert message["type"] == "sync.finished"
    validate_sent(message)
    assert message["data"] == {
        "id": str(run.pk),
        "user_id": "maya",
        "state": "done",
        "sources": [
            {
                "source": "gmail",
                "state": "done",
                "received": 3,
                "processed": 2,
                "skipped": 0,
                "failed": 1,
            }
        ],
    }
    run.refresh_from_db()
    assert (run.callback, run.callback_attempts) == ("sent", 1)


@pytest.mark.parametrize("status", [500, 429, 404, 401])
def test_a_frontend_that_does_not_take_it_gets_it_again_later_under_the_same_id(
    settings: Any, frontend: Frontend, status: int
) -> None:
    frontend.status = status
    run = finished(settings, frontend)

    assert callbacks.send_due(now=NOW) == 0
    assert callbacks.send_due(now=NOW) == 0  # not at once
    frontend.status = 200
    assert callbacks.send_due(now=NOW + callbacks.FIRST_WAIT) == 1

    assert [headers["webhook-id"] for _, headers, _ in frontend.got] == [f"sync_{run.pk}"] * 2


def test_it_is_given_up_after_many_tries_and_that_is_shown(
    settings: Any, frontend: Frontend
) -> None:
    frontend.status = 500
    run, now = finished(settings, frontend), NOW
    waits = []
    for _ in range(callbacks.MAX_ATTEMPTS + 3):
        callbacks.send_due(now=now)
        run.refresh_from_db()
        if run.callback_due_at:
            waits.append((run.callback_due_at - now).total_seconds())
        now += callbacks.LONGEST_WAIT

    assert waits == [30 * 2**n for n in range(8)] + [7200.0] * (callbacks.MAX_ATTEMPTS - 9)
    assert (run.callback, run.callback_attempts) == ("failed", callbacks.MAX_ATTEMPTS)
    assert len(frontend.got) == callbacks.MAX_ATTEMPTS


def test_a_message_whose_sender_died_is_sent_again_when_its_lease_ran_out(
    settings: Any, frontend: Frontend, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished(settings, frontend)

    def die(**_: Any) -> None:
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr("integrations.network.callbacks.send", die)
        with pytest.raises(SystemExit):
            callbacks.send_due(now=NOW)

    assert callbacks.send_due(now=NOW + timedelta(seconds=1)) == 0
    assert callbacks.send_due(now=NOW + callbacks.LEASE) == 1


def test_nobody_hears_of_a_scheduled_sync_or_without_an_address(
    settings: Any, frontend: Frontend
) -> None:
    assert finished(settings, frontend, only_changes=True).callback == "none"
    settings.SYNC_CALLBACKS = {}
    run = SyncRun.objects.create(
        organisation_id=account().organisation_id, external_user_id=str(uuid.uuid4())
    )
    sync_runs.settle(run.pk, now=NOW)

    assert callbacks.send_due(now=NOW) == 0
    assert frontend.got == []
