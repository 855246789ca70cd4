"""Work that piles up hears to come later, before Django sees it, so that all else stays quick.

A lane is a kind of request that may come in numbers: webhooks, chat. So many of it are worked on at
once in one web process, so many more wait a little, and the rest is answered 503 with Retry-After.
So is every one of them while too much of its work waits in the database.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from time import monotonic
from weakref import WeakKeyDictionary

from config.door.answers import TOO_MANY_AT_ONCE, TOO_MUCH_WAITS, refuse
from config.door.lifespan import App, Receive, Scope, Send

IsFull = Callable[[], Awaitable[bool]]
ASKED_EVERY = 1.0  # seconds, so that asking costs next to nothing


@dataclass(frozen=True, kw_only=True)
class Lane:
    """`paths` is a pattern of the whole path of its POSTs. `is_full` says whether too much waits
    already; then callers come again after `long_wait` seconds."""

    paths: re.Pattern[str]
    at_once: int
    in_line: int
    line_seconds: float
    is_full: IsFull
    short_wait: int = 2
    long_wait: int = 30


@dataclass
class Places:
    """Of one lane, in one event loop."""

    free: asyncio.Semaphore
    in_line: int = 0


@dataclass
class Backlog:
    """Whether `most` or more wait, by `reaches`; asked at most once in ASKED_EVERY."""

    most: int
    reaches: Callable[[int], Awaitable[bool]]
    _full: bool = False
    _asked: float = field(default=float("-inf"))

    async def is_full(self) -> bool:
        if (now := monotonic()) - self._asked >= ASKED_EVERY:
            self._asked = now
            self._full = await self.reaches(self.most)
        return self._full


def with_lanes(app: App, *, lanes: tuple[Lane, ...]) -> App:
    """`app`, with the requests of each lane in its bounds."""
    # An event loop each: the places of one cannot be waited for in another.
    places: dict[Lane, WeakKeyDictionary[asyncio.AbstractEventLoop, Places]]
    places = {lane: WeakKeyDictionary() for lane in lanes}

    async def limited(scope: Scope, receive: Receive, send: Send) -> None:
        lane = _find(lanes, scope)
        if lane is None:
            await app(scope, receive, send)
            return
        if await lane.is_full():
            await refuse(scope, send, 503, "queue_full", TOO_MUCH_WAITS, wait=lane.long_wait)
            return
        loop = asyncio.get_running_loop()
        mine = places[lane].setdefault(loop, Places(asyncio.Semaphore(lane.at_once)))
        if not await _enter(mine, lane):
            await refuse(scope, send, 503, "busy", TOO_MANY_AT_ONCE, wait=lane.short_wait)
            return
        try:
            await app(scope, receive, send)
        finally:
            mine.free.release()

    return limited


def _find(lanes: tuple[Lane, ...], scope: Scope) -> Lane | None:
    if scope["type"] != "http" or scope["method"] != "POST":
        return None
    return next((lane for lane in lanes if lane.paths.fullmatch(str(scope["path"]))), None)


async def _enter(mine: Places, lane: Lane) -> bool:
    """Whether a place became free in time; the caller gives it back."""
    if mine.free.locked() and mine.in_line >= lane.in_line:
        return False
    mine.in_line += 1
    try:
        async with asyncio.timeout(lane.line_seconds):
            return await mine.free.acquire()
    except TimeoutError:
        return False
    finally:
        mine.in_line -= 1
