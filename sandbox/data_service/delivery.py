"""Sends the outbox: signed as Standard Webhooks ask, tried again until the receiver has it."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import httpx
from standardwebhooks.webhooks import Webhook

from sandbox.data_service import outbox
from sandbox.data_service.faults import Faults
from sandbox.data_service.outbox import Pending
from sandbox.data_service.settings import Settings
from sandbox.data_service.store import Store

SIDE_BY_SIDE = 8
IDLE_SECONDS = 1.0
SHORTEST_PAUSE = 0.1
TIMEOUT_SECONDS = 10.0
RETRIED_REFUSALS = frozenset({408, 429})

log = logging.getLogger("sandbox.webhooks")


class Delivery:
    """Sends in the background while `running` is open. At least once: after a crash a
    webhook whose answer was not seen is sent again under the same id."""

    def __init__(self, store: Store, *, settings: Settings, faults: Faults) -> None:
        self._store = store
        self._settings = settings
        self._faults = faults
        self._under_way: set[int] = set()
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Says that there may be something new to send."""
        self._woken.set()
        self._woken.clear()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        if not self._settings.webhook_url:
            yield
            return
        # The environment's proxies have no business between a sandbox and its receiver.
        async with httpx.AsyncClient(timeout=TIMEOUT_SECONDS, trust_env=False) as client:
            tasks = [asyncio.create_task(self._send_all(client)) for _ in range(SIDE_BY_SIDE)]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _send_all(self, client: httpx.AsyncClient) -> None:
        while True:
            webhook = outbox.next_due(
                self._store,
                besides=self._under_way,
                newest_first=self._faults.settings.reorder_webhooks,
            )
            if webhook is None:
                await self._pause()
                continue
            self._under_way.add(webhook.number)
            try:
                await self._send(client, webhook)
            finally:
                self._under_way.discard(webhook.number)
            self.wake()

    async def _pause(self) -> None:
        due = outbox.seconds_until_due(self._store)
        seconds = IDLE_SECONDS if due is None else min(IDLE_SECONDS, max(due, SHORTEST_PAUSE))
        # Not wait_for: in Python 3.11 it forgets that it was cancelled in the moment of its end.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()

    async def _send(self, client: httpx.AsyncClient, webhook: Pending) -> None:
        status = await self._post(client, webhook)
        if status is not None and 200 <= status < 300:
            outbox.mark_delivered(self._store, number=webhook.number)
            if self._faults.settings.duplicate_webhooks:
                await self._post(client, webhook)
            return
        log.info("webhook.not_taken id=%s status=%s", webhook.id, status)
        outbox.mark_failed(
            self._store,
            webhook=webhook,
            refused=status is not None and 400 <= status < 500 and status not in RETRIED_REFUSALS,
            first_pause=self._settings.retry_seconds,
        )

    async def _post(self, client: httpx.AsyncClient, webhook: Pending) -> int | None:
        """The receiver's status; None when it could not be reached."""
        sent_at = datetime.now(UTC)
        signature = Webhook(self._settings.webhook_secret).sign(webhook.id, sent_at, webhook.body)
        try:
            response = await client.post(
                f"{self._settings.webhook_url}/{webhook.event}",
                content=webhook.body,
                headers={
                    "content-type": "application/json",
                    "webhook-id": webhook.id,
                    "webhook-timestamp": str(int(sent_at.timestamp())),
                    "webhook-signature": signature,
                },
            )
        except httpx.HTTPError:
            return None
        return response.status_code
