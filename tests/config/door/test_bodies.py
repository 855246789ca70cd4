import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from config.door.bodies import Sizes, with_bodies
from config.door.lifespan import Scope
from tests.sandbox_server import serving

SIZES = Sizes(most=1000, unknown=100, held=1500, held_of_address=1200)
KNOWN = {"Authorization": "known"}


@dataclass
class Entrance:
    """Echoes the size of a body; notes who was asked about and how many requests came through."""

    port: int = 0
    asked: list[str] = field(default_factory=list)
    passed: int = 0

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def is_known(self, scope: Scope) -> bool:
        self.asked.append(str(scope["path"]))
        return (b"authorization", b"known") in scope["headers"]

    async def size(self, request: Request) -> JSONResponse:
        self.passed += 1
        return JSONResponse(len(await request.body()))

    def half_a_body(self, size: int, address: str = "127.0.0.1") -> socket.socket:
        """A connection of a known caller that has sent so much of a body of 1000 bytes."""
        sender = socket.create_connection(("127.0.0.1", self.port), source_address=(address, 0))
        head = "POST / HTTP/1.1\r\nHost: a\r\nAuthorization: known\r\nContent-Length: 1000\r\n\r\n"
        sender.sendall(head.encode() + b"x" * size)
        return sender


@pytest.fixture
def entrance() -> Iterator[Entrance]:
    entrance = Entrance()
    app = Starlette(routes=[Route("/", entrance.size, methods=["GET", "POST"])])
    with serving(with_bodies(app, sizes=SIZES, is_known=entrance.is_known)) as url:
        entrance.port = int(url.rpartition(":")[2])
        yield entrance


def outcome(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


def test_a_body_within_the_limit_arrives_whole(entrance: Entrance) -> None:
    assert httpx.post(entrance.origin, content=b"x" * 1000, headers=KNOWN).json() == 1000
    assert httpx.get(entrance.origin).json() == 0


def test_a_small_body_is_read_from_anyone_and_nobody_is_looked_up(entrance: Entrance) -> None:
    assert httpx.post(entrance.origin, content=b"x" * 100).json() == 100
    assert entrance.asked == []


def test_a_larger_body_is_not_read_from_a_caller_who_is_not_known(entrance: Entrance) -> None:
    response = httpx.post(entrance.origin, content=b"x" * 101)
    streamed = httpx.post(entrance.origin, content=iter([b"x"]))

    assert outcome(response) == outcome(streamed) == (401, "not_known")
    assert response.headers["connection"] == "close"
    assert entrance.passed == 0


def test_an_announced_body_over_the_limit_is_refused(entrance: Entrance) -> None:
    response = httpx.post(entrance.origin, content=b"x" * 1001, headers=KNOWN)

    assert outcome(response) == (413, "too_large")
    assert entrance.asked == []


def test_a_streamed_body_over_the_limit_is_refused(entrance: Entrance) -> None:
    parts = (b"x" * 100 for _ in range(11))
    response = httpx.post(entrance.origin, content=parts, headers=KNOWN)

    assert outcome(response) == (413, "too_large")
    assert entrance.passed == 0


def test_while_there_is_no_room_a_known_caller_hears_to_come_again(entrance: Entrance) -> None:
    with entrance.half_a_body(900):
        same = httpx.post(entrance.origin, content=b"x" * 400, headers=KNOWN)
        with httpx.Client(transport=httpx.HTTPTransport(local_address="127.0.0.2")) as other:
            elsewhere = other.post(entrance.origin, content=b"x" * 400, headers=KNOWN).json()
            full = other.post(entrance.origin, content=b"x" * 700, headers=KNOWN)
        small = httpx.post(entrance.origin, content=b"x" * 100).json()

    assert outcome(same) == outcome(full) == (503, "no_room")
    assert same.headers["retry-after"] == "2"
    assert (elsewhere, small) == (400, 100)


def test_room_is_given_back_when_the_sender_goes_and_when_the_answer_is_there(
    entrance: Entrance,
) -> None:
    for _ in range(5):
        assert httpx.post(entrance.origin, content=b"x" * 1000, headers=KNOWN).json() == 1000
    sender = entrance.half_a_body(900)
    sender.close()

    deadline = time.monotonic() + 60
    while (answer := httpx.post(entrance.origin, content=b"x" * 1000, headers=KNOWN)).is_error:
        assert time.monotonic() < deadline
        assert outcome(answer) == (503, "no_room")
