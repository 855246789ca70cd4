"""Which request bodies are read, and how much of them is held at once.

Django's own limit counts only what a view reads into memory; under ASGI the whole body is
written to a temporary file first, before any view asks who the caller is.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from config.door.answers import NO_ROOM, TOO_LARGE, WHO_ARE_YOU, refuse
from config.door.lifespan import App, Message, Receive, Scope, Send

IsKnown = Callable[[Scope], Awaitable[bool]]


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """In bytes: the largest body, the largest one of a caller who is not known, and how much of
    larger ones is held at once, of all callers and of one address."""

    most: int
    unknown: int
    held: int
    held_of_address: int


class Room:
    """How many bytes of bodies are held."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes
        self._held = 0
        self._of_address: Counter[str] = Counter()

    def take(self, size: int, address: str) -> bool:
        """Whether there is room; it is taken then."""
        fits = self._held + size <= self._sizes.held
        if not fits or self._of_address[address] + size > self._sizes.held_of_address:
            return False
        self._held += size
        self._of_address[address] += size
        return True

    def give_back(self, size: int, address: str) -> None:
        self._held -= size
        self._of_address[address] -= size
        if not self._of_address[address]:
            del self._of_address[address]


def with_bodies(app: App, *, sizes: Sizes, is_known: IsKnown) -> App:
    """`app`, given each request with its whole body.

    A body over `sizes.most`, announced or streamed, is refused with 413. One that may be over
    `sizes.unknown` is only read from a caller who is known (else 401), and only while there is
    room for it (else 503, to come again).
    """
    room = Room(sizes)

    async def limited(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        size = announced_size(dict(scope["headers"]))
        if size is not None and size > sizes.most:
            await refuse(scope, send, 413, "too_large", TOO_LARGE)
            return
        address = scope["client"][0] if scope.get("client") else ""
        if size is not None and size <= sizes.unknown:
            await _pass(app, scope, receive, send, Reading(sizes, None, address))
        elif not await is_known(scope):
            values = {"bytes": sizes.unknown}
            await refuse(scope, send, 401, "not_known", WHO_ARE_YOU, values=values)
        else:
            await _pass(app, scope, receive, send, Reading(sizes, room, address))

    return limited


def announced_size(headers: Mapping[bytes, bytes]) -> int | None:
    """How large the body says it is; None where it does not say. uvicorn lets no length pass
    that is no number."""
    if b"transfer-encoding" in headers:
        return None
    length = headers.get(b"content-length", b"0")
    return int(length) if length.isdigit() else None


class Reading:
    """One body as it comes in. `room` is None for one that needs none."""

    def __init__(self, sizes: Sizes, room: Room | None, address: str) -> None:
        self._most = sizes.most
        self._room = room
        self._address = address
        self._size = 0
        self.messages: list[Message] = []

    def add(self, message: Message) -> tuple[int, str, str, int] | None:
        """Keep a part; why not, for `refuse`, otherwise."""
        size = len(message.get("body", b""))
        if self._size + size > self._most:
            return 413, "too_large", TOO_LARGE, 0
        if self._room and not self._room.take(size, self._address):
            return 503, "no_room", NO_ROOM, 2
        self._size += size
        self.messages.append(message)
        return None

    def end(self) -> None:
        if self._room:
            self._room.give_back(self._size, self._address)


async def _pass(app: App, scope: Scope, receive: Receive, send: Send, reading: Reading) -> None:
    try:
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return  # the sender is gone
            if refusal := reading.add(message):
                status, code, sentence, wait = refusal
                await refuse(scope, send, status, code, sentence, wait=wait)
                return
            if not message.get("more_body", False):
                break

        async def replay() -> Message:
            return reading.messages.pop(0) if reading.messages else await receive()

        await app(scope, replay, send)
    finally:
        reading.end()
