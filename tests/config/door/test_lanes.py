import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from asgiref.sync import async_to_sync

from config.door import lanes
from config.door.lanes import Backlog, Lane, with_lanes
from config.door.lifespan import App, Message, Receive, Scope, Send


async def never() -> bool:
    return False


async def always() -> bool:
    return True


def lane(**changes: object) -> Lane:
    given = {"at_once": 2, "in_line": 1, "line_seconds": 60.0, "is_full": never} | changes
    return Lane(paths=re.compile("/hooks/.*"), **given)  # type: ignore[arg-type]


@dataclass
class Work:
    """An application that works on each request until the test ends it."""

    started: list[str] = field(default_factory=list)
    most: int = 0
    running: int = 0
    end: asyncio.Event = field(default_factory=asyncio.Event)

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.started.append(scope["path"])
        self.running += 1
        self.most = max(self.most, self.running)
        await self.end.wait()
        self.running -= 1
        await send({"type": "http.response.start", "status": 200, "headers": []})


async def ask(app: App, path: str, method: str = "POST") -> tuple[int, str, str]:
    """Status, code and Retry-After of one request."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    await app({"type": "http", "headers": [], "path": path, "method": method}, receive, send)
    headers = dict(sent[0]["headers"])
    code = re.search(r'"code": "(\w+)"', sent[1]["body"].decode()) if len(sent) > 1 else None
    again = headers.get(b"retry-after", b"").decode()
    return sent[0]["status"], code.group(1) if code else "", again


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():  # noqa: ASYNC110  # what is waited for is no event
        await asyncio.sleep(0)


def test_so_many_are_worked_on_some_wait_and_the_rest_comes_again() -> None:
    async def play() -> None:
        work = Work()
        door = with_lanes(work.app, lanes=(lane(),))
        asked = [asyncio.create_task(ask(door, f"/hooks/{number}")) for number in range(5)]
        await until(lambda: asked[3].done() and asked[4].done())
        other = asyncio.create_task(ask(door, "/pages/1"))
        reading = asyncio.create_task(ask(door, "/hooks/1", "GET"))
        await until(lambda: len(work.started) == 4)

        assert work.started == ["/hooks/0", "/hooks/1", "/pages/1", "/hooks/1"]
        assert [task.result() for task in asked[3:]] == [(503, "busy", "2")] * 2
        work.end.set()
        answers = await asyncio.gather(*asked[:3], other, reading)
        assert {status for status, _, _ in answers} == {200}
        assert work.started[4:] == ["/hooks/2"]

    async_to_sync(play)()


def test_who_waits_too_long_in_line_comes_again_and_the_place_is_not_lost() -> None:
    async def play() -> None:
        work = Work()
        door = with_lanes(work.app, lanes=(lane(at_once=1, line_seconds=0.01),))
        first = asyncio.create_task(ask(door, "/hooks/1"))
        await until(lambda: len(work.started) == 1)

        assert await ask(door, "/hooks/2") == (503, "busy", "2")
        work.end.set()
        await first
        assert (await ask(door, "/hooks/3"))[0] == 200

    async_to_sync(play)()


def test_while_too_much_waits_nothing_of_the_lane_comes_through() -> None:
    async def play() -> None:
        work = Work()
        work.end.set()
        door = with_lanes(work.app, lanes=(lane(is_full=always),))

        assert await ask(door, "/hooks/1") == (503, "queue_full", "30")
        assert (await ask(door, "/pages/1"))[0] == 200
        assert work.started == ["/pages/1"]

    async_to_sync(play)()


def test_a_lane_serves_one_event_loop_after_another() -> None:
    work = Work()
    door = with_lanes(work.app, lanes=(lane(at_once=1),))

    for _ in range(2):

        async def play() -> None:
            work.end = asyncio.Event()
            asked = [asyncio.create_task(ask(door, f"/hooks/{number}")) for number in range(2)]
            await until(lambda: work.running == 1)
            work.end.set()
            assert [status for status, _, _ in await asyncio.gather(*asked)] == [200, 200]

        asyncio.run(play())
    assert work.most == 1


def test_how_much_waits_is_asked_once_in_a_while() -> None:
    asked: list[int] = []

    async def reaches(most: int) -> bool:
        asked.append(most)
        return True

    async def play() -> None:
        backlog = Backlog(7, reaches)
        assert [await backlog.is_full() for _ in range(3)] == [True] * 3
        assert asked == [7]
        backlog._asked -= lanes.ASKED_EVERY
        await backlog.is_full()
        assert asked == [7, 7]

    async_to_sync(play)()
