"""A receiver of webhooks that checks each signature and keeps what it got."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from standardwebhooks.webhooks import Webhook
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.sandbox_server import serving

SECRET = "whsec_c2FuZGJveC13ZWJob29rLXNlY3JldC1mb3ItdGVzdHM="


@dataclass(frozen=True, kw_only=True)
class Delivered:
    """One webhook as it came, its signature checked. `status` is what was answered."""

    event: str
    id: str
    body: dict[str, Any]
    status: int


@dataclass(kw_only=True)
class Receiver:
    """`answer` chooses the status for a delivery from how many came before it."""

    url: str = ""
    secret: str = SECRET
    answer: Callable[[int], int] = lambda earlier: 202
    deliveries: list[Delivered] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def wait_for(self, number: int) -> list[Delivered]:
        """The deliveries, once there are this many. Fails when they do not come."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.deliveries) >= number, timeout=60), (
                f"{len(self.deliveries)} of {number} webhooks came"
            )
            return list(self.deliveries)

    async def take(self, request: Request) -> Response:
        body = Webhook(self.secret).verify(await request.body(), dict(request.headers))
        with self.changed:
            status = self.answer(len(self.deliveries))
            self.deliveries.append(
                Delivered(
                    event=request.path_params["event"],
                    id=request.headers["webhook-id"],
                    body=body,
                    status=status,
                )
            )
            self.changed.notify_all()
        return Response(status_code=status)

    def app(self) -> Starlette:
        return Starlette(routes=[Route("/webhooks/{event}", self.take, methods=["POST"])])


@contextlib.contextmanager
def running_receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    with serving(receiver.app()) as origin:
        receiver.url = f"{origin}/webhooks"
        yield receiver
