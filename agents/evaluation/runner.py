"""Plays tasks: real HTTP on every side, each task on a copy of the same office."""

import logging
import os
import threading
import time
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.cache import cache
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
from django.core.wsgi import get_wsgi_application
from django.db import connections
from django.test import override_settings

from agents.evaluation import checks, endpoint as endpoints, office, programs, tasks
from agents.evaluation.clock import Clock, taken_for_the_present
from agents.evaluation.database import Databases, own_databases
from agents.evaluation.endpoint import (
    OFFLINE_EMBEDDINGS,
    OFFLINE_MODEL,
    OFFLINE_READER,
    Endpoint,
)
from agents.evaluation.outcome import Played
from agents.evaluation.playing import Play
from agents.evaluation.recordings import Misfit, Recorder, Recording
from agents.evaluation.reference import ItemId, Reference
from agents.evaluation.report import Try
from agents.evaluation.sandbox import Sandbox
from agents.evaluation.tasks import Step, Suite, Task
from integrations.llm import llm
from integrations.network import http

_OWN = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
CACHES = {"default": _OWN, "quick": _OWN}
# How fast a model is, is reported and not judged.
TURN_SECONDS = 6 * 3600.0


@dataclass(kw_only=True)
class Runner:
    """A running Remit with its office. Play one task at a time."""

    suite: Suite
    endpoint: Endpoint
    sandbox: Sandbox
    databases: Databases
    origin: str
    clock: Clock
    _bases: dict[datetime, str] = field(default_factory=dict)

    def play(self, task: Task, *, number: int = 1, steps: Sequence[Step] | None = None) -> Played:
        """Play a task once, by the model or by the steps of a reference. `number` tells several
        tries apart. What breaks is said in what is returned. Raises Misfit."""
        moment = task.clock or self.suite.head.clock
        with self.databases.copied(self._base(moment)):
            self._restore(moment)
            reference = Reference(steps, self._item_id(task)) if steps is not None else None
            self.endpoint.begin(f"{task.id}#{number}", reference)
            play = Play(
                task=task,
                head=self.suite.head,
                sandbox=self.sandbox,
                clock=self.clock,
                chat=http.client(self.origin, office.token()),
                moment=moment,
            )
            started = time.monotonic()
            played = play.run()
            played.seconds = time.monotonic() - started
        self.endpoint.task = ""
        if self.endpoint.misfit:
            raise Misfit(self.endpoint.misfit)
        return played

    def judge(self, task: Task, played: Played, *, number: int = 1) -> Try:
        """A task that was played, with all that is wrong about it."""
        zone = zone_of(task, self.suite)
        return Try(
            task=task,
            number=number,
            played=played,
            failures=checks.find_failures(task, played, zone=zone),
            side_effects=len(checks.unexpected(task, played, zone=zone)),
        )

    def _base(self, moment: datetime) -> str:
        """The office as it is at this time, read in once."""
        if moment not in self._bases:
            self.endpoint.begin("")
            self._restore(moment)
            self._bases[moment] = self.databases.migrated()
            office.found(self.suite.head, policy=tasks.POLICY)
        return self._bases[moment]

    def _restore(self, moment: datetime) -> None:
        cache.clear()
        self.clock.stand_at(moment)
        self.sandbox.stand_at(moment)
        self.sandbox.restore()

    def _item_id(self, task: Task) -> ItemId:
        def found(provider_id: str) -> str:
            try:
                return office.item_id(task.user, provider_id)
            finally:
                connections.close_all()  # asked in a thread of the endpoint

        return found


@contextmanager
def running(
    suite: Suite,
    *,
    model: str,
    upstream: http.Upstream | None = None,
    recorder: Recorder | None = None,
    recording: Recording | None = None,
) -> Iterator[Runner]:
    """All that tasks need, until the end of the block. The model answers at `upstream`; without
    one the stand-in does. Raises DidNotStart or NoDatabase."""
    with ExitStack() as stack:
        stack.enter_context(_quiet())
        stand_in = stack.enter_context(
            programs.running("sandbox.offline_model", port_name="MODEL_PORT", environment={})
        )
        between = stack.enter_context(
            endpoints.serving(
                Endpoint(
                    model=model,
                    stand_in=http.client(f"{stand_in}/v1", "offline"),
                    upstream=upstream,
                    recorder=recorder,
                    recording=recording,
                )
            )
        )
        secret = f"whsec_{b64encode(os.urandom(24)).decode()}"
        stack.callback(http.close_clients)
        stack.enter_context(override_settings(**_settings(model, between.url, secret)))
        llm.forget_clients()
        stack.callback(llm.forget_clients)
        origin = stack.enter_context(_serving())
        key = os.urandom(16).hex()
        service = stack.enter_context(
            programs.running(
                "sandbox.data_service",
                port_name="SANDBOX_PORT",
                environment={
                    "DATA_SERVICE_KEY": key,
                    "WEBHOOK_URL": f"{origin}/webhooks/{office.SLUG}",
                    "WEBHOOK_SECRET": secret,
                },
            )
        )
        sandbox = Sandbox(service, key)
        stack.enter_context(
            override_settings(
                DATA_SERVICES={office.SLUG: sandbox.url}, DATA_SERVICE_KEYS={office.SLUG: key}
            )
        )
        databases = stack.enter_context(own_databases())
        clock = Clock(suite.head.clock)
        stack.enter_context(taken_for_the_present(clock))
        yield Runner(
            suite=suite,
            endpoint=between,
            sandbox=sandbox,
            databases=databases,
            origin=origin,
            clock=clock,
        )


def zone_of(task: Task, suite: Suite) -> ZoneInfo:
    return ZoneInfo(next(user.time_zone for user in suite.head.users if user.id == task.user))


def _settings(model: str, url: str, secret: str) -> dict[str, Any]:
    """Items are read in by the stand-in, whichever model is tried: the agent is compared."""
    return {
        "WEBHOOK_SECRETS": {office.SLUG: secret},
        "CACHES": CACHES,
        "ALLOWED_HOSTS": ["127.0.0.1"],
        # Nobody looks at a page.
        "MIDDLEWARE": [one for one in settings.MIDDLEWARE if "static_files" not in one],
        "SECURE_SSL_REDIRECT": False,
        "OPENAI_BASE_URL": url,
        "OPENAI_API_KEY": "evaluation",
        "MODEL_IS_OFFLINE": model == OFFLINE_MODEL,
        "CHAT_MODEL": model,
        "REVIEW_MODEL": model,
        "AGENT_MODELS": {},
        "MODEL_PROVIDERS": dict.fromkeys(settings.MODEL_PROVIDERS, url),
        "INGEST_MODEL": OFFLINE_READER,
        "EMBEDDING_MODEL": OFFLINE_EMBEDDINGS,
        "SEARCH_SELECTION": False,
        "TURN_MAX_SECONDS": TURN_SECONDS,
        "MODEL_TIMEOUT_SECONDS": endpoints.SECONDS,
        "TOOL_TIMEOUT_SECONDS": endpoints.SECONDS,
    }


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """What came of requests is in the answers."""


@contextmanager
def _serving() -> Iterator[str]:
    """Remit's web server on a free port of this machine."""
    server = ThreadedWSGIServer(("127.0.0.1", 0), _Quiet)
    server.set_app(get_wsgi_application())
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def _quiet() -> Iterator[None]:
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
