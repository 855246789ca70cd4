"""How many connections may be open, and how long a sender and a reader may take.

uvicorn has one number for all connections and a deadline for idle ones. It has none for a head or
a body that comes byte by byte, nor for an answer that nobody reads, and none for each address.
"""

import asyncio
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol

from config.door.answers import TOO_MANY_CONNECTIONS, TOO_SLOW
from integrations.web.answers import render_refusal

# One household or server has a whole /64 of IPv6.
V6_PREFIX = 64


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Of one web process. Seconds are for all of a head, for all of a body, and for as long as
    a reader takes nothing of an answer. `proxies` are addresses that speak for many others."""

    most: int
    most_of_address: int
    head_seconds: float
    body_seconds: float
    read_seconds: float
    proxies: Collection[str] = ()


class Connections:
    """The open connections, and which of them wait for their sender, the longest first.

    Where there is no room, the one that has waited longest makes it: who sends at once is
    answered, however many others hold connections open and send slowly.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._open: dict[LimitedProtocol, str] = {}
        self._of_address: Counter[str] = Counter()
        self._waiting: dict[LimitedProtocol, None] = {}

    def __len__(self) -> int:
        return len(self._open)

    def enter(self, connection: "LimitedProtocol", address: str) -> bool:
        """Whether there is room for one more, after the slowest was ended if need be."""
        place = group(address)
        if address not in self.limits.proxies:
            full = self._of_address[place] >= self.limits.most_of_address
            if full and not self._end_slowest(place):
                return False
        if len(self._open) >= self.limits.most and not self._end_slowest(None):
            return False
        self._open[connection] = place
        self._of_address[place] += 1
        return True

    def leave(self, connection: "LimitedProtocol") -> None:
        self._waiting.pop(connection, None)
        place = self._open.pop(connection, None)
        if place is not None:
            self._of_address[place] -= 1
            if not self._of_address[place]:
                del self._of_address[place]

    def wait(self, connection: "LimitedProtocol", *, waits: bool) -> None:
        """Note whether it waits for its sender. One that waits already keeps its turn."""
        if not waits:
            self._waiting.pop(connection, None)
        elif connection in self._open:
            self._waiting.setdefault(connection)

    def _end_slowest(self, place: str | None) -> bool:
        """End the one that has waited longest, of an address or of all."""
        for connection in self._waiting:
            if place is None or self._open[connection] == place:
                self.leave(connection)
                connection.end()
                return True
        return False


def group(address: str) -> str:
    """What counts as one address."""
    try:
        found = ip_address(address)
    except ValueError:
        return address  # a socket file has none
    return str(ip_network((found, V6_PREFIX), strict=False)) if found.version == 6 else address


class LimitedProtocol(H11Protocol):
    """uvicorn's HTTP protocol within limits. `limited` makes the class that a server is given."""

    register: Connections

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._deadline: asyncio.TimerHandle | None = None
        self._awaited: object = None
        self._reader: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self.register.enter(self, self.client[0] if self.client else ""):
            self._look()
        else:
            self.refuse(503, "too_many_connections", TOO_MANY_CONNECTIONS, wait=5)

    def connection_lost(self, exc: Exception | None) -> None:
        self.register.leave(self)
        for timer in (self._deadline, self._reader):
            if timer:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self.transport.is_closing():
            super().data_received(data)

    def handle_events(self) -> None:
        super().handle_events()
        self._look()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._reader = self.loop.call_later(self.register.limits.read_seconds, self._give_up)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._reader:
            self._reader.cancel()
        self._look()

    def end(self) -> None:
        """End what waits for its sender, with a word if a request has started."""
        started = self.conn.their_state is h11.SEND_BODY or self.conn.trailing_data[0]
        if started:
            self.refuse(408, "too_slow", TOO_SLOW)
        self.transport.close()

    def refuse(self, status: int, code: str, sentence: str, *, wait: int = 0) -> None:
        """Answer, where no answer has started, and close. In English while no head has come, which
        would say what language is asked for."""
        if self.transport.is_closing():
            return
        scope: Any = self.scope  # none yet while no head has come
        asked = dict(scope["headers"]) if scope else {}
        headers, body = render_refusal(asked, status, code, sentence, wait=wait)
        headers.append((b"connection", b"close"))
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            reason = STATUS_PHRASES[status]
            for event in (
                h11.Response(status_code=status, headers=headers, reason=reason),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        if self.scope:  # what answers meanwhile is not listened to any more
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.close()

    def _look(self) -> None:
        """Set the deadline of what is awaited now: a head, a body, or nothing."""
        is_free = not (self.transport.is_closing() or self.flow.write_paused)
        awaited = self.conn.their_state if is_free else None
        if awaited is self._awaited:
            return
        self._awaited = awaited
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None
        limits = self.register.limits
        waits = awaited in (h11.IDLE, h11.SEND_BODY)
        if waits:
            seconds = limits.head_seconds if awaited is h11.IDLE else limits.body_seconds
            self._deadline = self.loop.call_later(seconds, self.end)
        self.register.wait(self, waits=waits)

    def _give_up(self) -> None:
        self.transport.abort()


def limited(limits: Limits) -> type[LimitedProtocol]:
    """The protocol with limits and a register of its own, for `uvicorn.Config(http=…)`."""
    return type("Limited", (LimitedProtocol,), {"register": Connections(limits)})
