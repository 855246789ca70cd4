"""The whole of Remit around one test: web server, sandbox, offline model, demo office, queue.

    def test_something(office: Office) -> None:
        office.sync("gmail")
        office.deliver("newsletter")
        office.drain()

It needs committed rows (`django_db(databases=["default", "ledger"], transaction=True)`),
because the web server works in other threads with connections of their own. Nothing runs in
the background unless a test asks: tasks wait until `drain()`, or are worked off while
`with office.worker()` lasts.
"""

import contextlib
import importlib
import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

import httpx
from asgiref.sync import SyncToAsync
from django.conf import settings
from django.core.management import call_command
from django.db import connections
from django_q.models import OrmQ

from agents import tasks
from agents.journal import leases
from agents.turns import turns
from integrations.contracts import AccountRef
from integrations.llm import llm
from integrations.models import Account, Delivery, Organisation
from tests import copies
from tests.offline_model_server import running_offline_model
from tests.sandbox_server import RunningSandbox, running_sandbox, serving

OFFLINE = "offline"
PASSWORD = "open sesame, said the operator"
SECRET = "whsec_b2ZmaWNlLW9mLXRoZS10ZXN0cw=="
PATIENCE_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class Office:
    """A running Remit: its address, and the sandbox that is its other side."""

    origin: str
    sandbox: RunningSandbox
    copy: copies.Copy

    @property
    def organisation(self) -> Organisation:
        return Organisation.objects.get(slug="default")

    def account(self, user: str, source: str) -> AccountRef:
        row = Account.objects.select_related("organisation").get(
            organisation__slug="default", external_user_id=user, source=source
        )
        return row.ref()

    def environment(self) -> dict[str, str]:
        """What a program of the product needs beside a database to work in this office."""
        return {
            "MODEL_PORT": str(urlsplit(settings.OPENAI_BASE_URL).port),
            "DATA_SERVICES": f"default={self.sandbox.url}",
            "DATA_SERVICE_KEYS": f"default={self.sandbox.key}",
            "WEBHOOK_SECRETS": f"default={settings.WEBHOOK_SECRETS['default']}",
            "LEDGER_STOP_MINUTES": str(settings.LEDGER_STOP_MINUTES),
            "DEBUG": "True",
        }

    def sync(self, *sources: str, user: str = "maya", copied: bool = True) -> None:
        """The first sync of these sources (of all, without any), here and now. What it makes of
        this office is copied from an earlier test, unless the way itself is what is tested."""
        if not copied or settings.OPENAI_API_KEY != OFFLINE:
            self._sync(sources, user)
            return
        with self.copy.syncing(
            (sources, user, settings.INGEST_MODEL, settings.EMBEDDING_MODEL)
        ) as done:
            if not done:
                self._sync(sources, user)

    def _sync(self, sources: Sequence[str], user: str) -> None:
        accounts = Account.objects.filter(organisation__slug="default", external_user_id=user)
        if sources:
            accounts = accounts.filter(source__in=sources)
        for account in accounts:
            call_command("first_sync", account=account.id, inline=True, verbosity=0)

    def control(self, method: str, path: str, **options: Any) -> Any:
        """One call of the sandbox's control API; its decoded answer."""
        url = f"{self.sandbox.control}{path}"
        answer = httpx.request(method, url, headers=self.sandbox.headers, timeout=30, **options)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def deliver(self, name: str, *, user: str = "maya") -> dict[str, Any]:
        """Let a scripted mail arrive, and wait until Remit has accepted its webhook."""
        mail: dict[str, Any] = self.control("POST", f"/users/{user}/deliver/{name}")
        self.settle_webhooks()
        return mail

    def settle_webhooks(self) -> None:
        """Wait until the sandbox has no webhook left to send."""
        until(lambda: not self.control("GET", "/webhooks").get("pending"))

    def calls(self, *, after: int = 0) -> list[dict[str, Any]]:
        """The writes that reached the provider."""
        answer: dict[str, Any] = self.control("GET", f"/calls?after={after}")
        return list(answer["items"])

    def mail(self, email_id: str, *, user: str = "maya") -> dict[str, Any]:
        """A mail as the provider has it now."""
        url = f"{self.sandbox.url}/users/{user}/emails/{email_id}"
        answer = httpx.get(url, headers=self.sandbox.headers)
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        return found

    def thread(self, thread_id: str, *, user: str = "maya") -> list[dict[str, Any]]:
        """The mails of a thread as the provider has them now."""
        url = f"{self.sandbox.url}/users/{user}/threads/{thread_id}"
        answer = httpx.get(url, headers=self.sandbox.headers)
        answer.raise_for_status()
        found: list[dict[str, Any]] = answer.json()["messages"]
        return found

    def drain(self) -> int:
        """Run queued tasks one after another, and those that their writes cause by webhooks,
        until none is left. Returns how many ran; their errors are raised."""
        count = before = 0
        while run_next_task():
            count += 1
        while count > before:
            before = count
            self.settle_webhooks()
            while run_next_task():
                count += 1
        return count

    @contextlib.contextmanager
    def worker(self) -> Iterator[None]:
        """Run queued tasks in a thread while the block lasts. Errors are raised at its end."""
        stop = threading.Event()
        outcome: Future[None] = Future()

        def work() -> None:
            try:
                while not stop.is_set():
                    if not run_next_task():
                        stop.wait(0.02)
                outcome.set_result(None)
            except BaseException as error:  # noqa: BLE001  # raised again below
                outcome.set_exception(error)
            finally:
                connections.close_all()

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()
        outcome.result()


def run_next_task() -> bool:
    """Take the oldest queued task, or else what waits of deliveries or turns, and run it. False
    when there is none."""
    row = OrmQ.objects.order_by("id").first()
    if row is None and Delivery.objects.waiting().exists():
        tasks.react()
        return True
    if row is None:
        return run_next_turn()
    if OrmQ.objects.filter(id=row.id).delete()[0]:
        task = row.task
        task["func"](*task.get("args", ()), **task.get("kwargs", {}))
    return True


def run_next_turn() -> bool:
    waiting = leases.claim_waiting(1)
    return any(turns.work(lease, stream=True) for lease in waiting)


def until(condition: Any, *, seconds: float = PATIENCE_SECONDS) -> None:
    """Wait for a condition. Raises AssertionError when it does not come true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.01)


@contextlib.contextmanager
def running_office(settings: Any, *, state_dir: Path) -> Iterator[Office]:
    """Everything up with the demo loaded and nothing synced. `settings` is pytest-django's."""
    settings.STATE_DIR = state_dir
    settings.WEBHOOK_SECRETS = {"default": SECRET}
    settings.MODEL_IS_OFFLINE = True
    # The organisation is the same in all tests of a process, and some leave records unsealed.
    settings.LEDGER_STOP_MINUTES = 10**6
    rooms, original = state_dir / "sandbox.sqlite", copies.known()
    if original:
        rooms.write_bytes(original.sandbox)
    with contextlib.ExitStack() as stack:
        origin = stack.enter_context(serving(entrance()))
        sandbox = stack.enter_context(
            running_sandbox(
                state=str(rooms), webhook_url=f"{origin}/webhooks", webhook_secret=SECRET
            )
        )
        settings.SANDBOX_PORT = int(sandbox.origin.rpartition(":")[2])
        settings.DATA_SERVICES = {"default": sandbox.url}
        settings.DATA_SERVICE_KEYS = {"default": sandbox.key}
        settings.OPENAI_BASE_URL = stack.enter_context(running_offline_model())
        settings.OPENAI_API_KEY = OFFLINE
        llm._client.cache_clear()
        stack.callback(forget_model_client)
        stack.callback(close_shared_connections)
        stack.enter_context(mock.patch.dict(os.environ, {"OPERATOR_PASSWORD": PASSWORD}))
        copy = copies.copied(original, rooms) if original else load_demo(rooms)
        running = Office(origin=origin, sandbox=sandbox, copy=copy)
        # A webhook under way while the servers stop would leave its connection open.
        stack.callback(running.settle_webhooks)
        yield running


def load_demo(rooms: Path) -> copies.Copy:
    with copies.loading(rooms) as found:
        call_command("load_demo", verbosity=0)
    return found[0]


def entrance() -> Any:
    """The web process's own ASGI application. Its module names the process in the environment,
    which is nothing for other tests to inherit."""
    with mock.patch.dict(os.environ):
        return importlib.import_module("config.asgi").application


def forget_model_client() -> None:
    llm._client().close()
    llm._client.cache_clear()


def close_shared_connections() -> None:
    """What the server asks at its start it asks in one thread, which keeps its connection."""
    SyncToAsync.single_thread_executor.submit(connections.close_all).result()
