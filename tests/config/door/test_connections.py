"""Over real sockets on this machine. 127.0.0.2 and its neighbours are other addresses."""

import contextlib
import json
import socket
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_network

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from config.door.connections import Limits, group, limited
from config.local.variables import Networks
from tests.sandbox_server import serving

LIMITS = Limits(most=1000, most_of_address=1000, head_seconds=60, body_seconds=60, read_seconds=60)
LARGE = 20_000_000  # more than the system keeps for one who does not read


async def echo(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def large(request: Request) -> Response:
    return PlainTextResponse("x" * LARGE)


APP = Starlette(routes=[Route("/", echo, methods=["GET", "POST"]), Route("/large", large)])


class Sender:
    """A connection from one address, which sends what the test says and no more."""

    def __init__(self, port: int, address: str) -> None:
        place = ("127.0.0.1", port)
        self.socket = socket.create_connection(place, timeout=60, source_address=(address, 0))

    def send(self, data: bytes) -> "Sender":
        self.socket.sendall(data)
        return self

    def hear(self) -> bytes:
        """All that is answered until the other side closes."""
        heard = b""
        with contextlib.suppress(ConnectionResetError):
            while data := self.socket.recv(65536):
                heard += data
        return heard

    def status(self) -> int:
        """Of the next answer, on a connection that stays open."""
        with self.socket.makefile("rb") as answer:
            status = int(answer.readline().split()[1])
            length = 0
            while line := answer.readline().strip().lower():
                if line.startswith(b"content-length:"):
                    length = int(line.split()[1])
            answer.read(length)
        return status


class Door:
    def __init__(self, port: int) -> None:
        self.port = port
        self.senders: list[Sender] = []

    def sender(self, address: str = "127.0.0.1") -> Sender:
        self.senders.append(Sender(self.port, address))
        return self.senders[-1]


@contextlib.contextmanager
def door(limits: Limits) -> Iterator[Door]:
    with serving(APP, protocol=limited(limits)) as origin:
        opened = Door(int(origin.rpartition(":")[2]))
        try:
            yield opened
        finally:
            for sender in opened.senders:
                sender.socket.close()


def status(answer: bytes) -> int:
    return int(answer.split()[1])


def test_a_head_that_does_not_come_whole_in_time_is_ended() -> None:
    with door(replace(LIMITS, head_seconds=0.2)) as opened:
        silent, slow = opened.sender(), opened.sender().send(b"GET / HTTP/1.1\r\nHost: a\r\nX: ")

        assert silent.hear() == b""
        answer = slow.hear()

    assert status(answer) == 408
    assert b'"code": "too_slow"' in answer
    assert b"content-language: en\r\n" in answer.lower()  # of half a head nothing is read


def test_a_body_that_does_not_come_whole_in_time_is_ended() -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n"
    with door(replace(LIMITS, body_seconds=0.2)) as opened:
        assert status(opened.sender().send(head + b"abc").hear()) == 408
        assert opened.sender().send(head + b"0123456789").status() == 200


def test_who_was_too_slow_hears_it_in_the_language_that_the_head_asked_for() -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nAccept-Language: it\r\nContent-Length: 10\r\n\r\n"
    with door(replace(LIMITS, body_seconds=0.2)) as opened:
        answer = opened.sender().send(head + b"abc").hear()

    fields, _, body = answer.partition(b"\r\n\r\n")
    assert (status(answer), json.loads(body)["code"]) == (408, "too_slow")
    assert json.loads(body)["detail"] == "La richiesta non è arrivata intera in tempo."
    assert b"content-language: it" in fields.lower()


def test_an_answer_that_nobody_reads_is_ended() -> None:
    with door(replace(LIMITS, read_seconds=0)) as opened:
        sender = opened.sender().send(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")

        assert len(sender.hear()) < LARGE


def test_a_second_request_on_a_connection_has_its_own_time() -> None:
    with door(replace(LIMITS, head_seconds=2)) as opened:
        sender = opened.sender()
        for _ in range(2):
            assert sender.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").status() == 200
        sender.send(b"GET / HT")

        assert status(sender.hear()) == 408


def test_slow_senders_make_room_for_one_who_sends_at_once() -> None:
    with door(replace(LIMITS, most=5)) as opened:
        slow = [opened.sender().send(b"GET / HTTP/1.1\r\nHost: a\r\n") for _ in range(5)]
        slow[0].send(b"X: 1\r\n")

        assert opened.sender().send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").status() == 200
        assert b"200 OK" not in slow[0].hear()
        # The others wait as before.
        assert slow[1].send(b"\r\n").status() == 200


def test_an_address_with_all_its_connections_ends_its_own_slowest_and_nobody_elses() -> None:
    with door(replace(LIMITS, most_of_address=2)) as opened:
        other = opened.sender("127.0.0.2").send(b"GET / HTTP/1.1\r\n")
        own = [opened.sender().send(b"GET / HTTP/1.1\r\n") for _ in range(3)]

        assert b"200 OK" not in own[0].hear()
        assert other.send(b"Host: a\r\n\r\n").status() == 200
        assert own[2].send(b"Host: a\r\n\r\n").status() == 200


def test_where_everyone_is_being_answered_a_new_connection_hears_to_come_again() -> None:
    with door(replace(LIMITS, most=2)) as opened:
        for _ in range(2):
            opened.sender().send(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n").socket.recv(1)
        answer = opened.sender().hear()

    assert status(answer) == 503
    assert b"retry-after: 5\r\n" in answer.lower()
    assert b'"code": "too_many_connections"' in answer


@pytest.mark.parametrize("network", ["127.0.0.1", "127.0.0.0/24"])
def test_a_proxy_speaks_for_many(network: str) -> None:
    proxies = Networks((ip_network(network),))
    with door(replace(LIMITS, most_of_address=1, proxies=proxies)) as opened:
        senders = [opened.sender() for _ in range(3)]
        for sender in senders:
            assert sender.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").status() == 200


def test_hundreds_of_slow_connections_change_nothing_for_others() -> None:
    with door(replace(LIMITS, most=200, most_of_address=100)) as opened:
        for number in range(300):
            opened.sender(f"127.0.0.{2 + number % 3}").send(b"POST / HTTP/1.1\r\nX: 1\r\n")
        with httpx.Client(base_url=f"http://127.0.0.1:{opened.port}") as others:
            answers = [others.post("/", content=b"x" * 1000).text for _ in range(20)]

    assert answers == ["1000"] * 20


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("", ""),
    ],
)
def test_a_network_of_ipv6_counts_as_one_address(address: str, place: str) -> None:
    assert group(address) == place
