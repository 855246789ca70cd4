"""Servers that break the protocol, or the connection: what is known of a request afterwards."""

import gzip
from collections.abc import Iterator
from math import inf
from typing import Any

import pytest

from integrations import exceptions
from integrations.network import http
from tests.raw_server import Flood, Step, ok, saying


@pytest.fixture(autouse=True)
def _once(settings: Any) -> Iterator[None]:
    settings.DATA_SERVICE_ATTEMPTS = 3
    yield
    http.close_clients()


def send(url: str) -> Any:
    """A write without a key, so one that is tried once."""
    return http.request(http.client(url), "POST", "/emails/send", body={"to": "omar"})


CUT = [
    "close",
    "reset",
    b"HTTP/1.1 20",
    b"HTTP/1.1 200 OK\r\nContent-Le",
    b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{}",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{} ",
    b"HTTP/1.1 200 OK\r\nno header\r\nContent-Length: 2\r\n\r\n{}",
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"SSH-2.0-OpenSSH_9.2\r\n",
    ok(b"no gzip", b"Content-Encoding: gzip"),
]


@pytest.mark.parametrize("answer", CUT)
def test_a_write_whose_answer_is_not_whole_is_sent_once_and_its_outcome_unknown(
    answer: Step,
) -> None:
    with saying([answer, "close at once"], [ok()]) as server:
        with pytest.raises(exceptions.Unavailable) as caught:
            send(server.url)

        assert (caught.value.code, caught.value.outcome_unknown) == ("unavailable", True)
        assert len(server.heard) == 1


@pytest.mark.parametrize("answer", ["stall", b"HTTP/1.1 200 OK\r\n", ok()[:-1]])
def test_a_write_that_is_not_answered_in_time_is_sent_once_and_its_outcome_unknown(
    answer: Step, settings: Any
) -> None:
    settings.DATA_SERVICE_TIMEOUT_SECONDS = 0.2
    with saying([answer, "stall"], [ok()]) as server:
        with pytest.raises(exceptions.Unavailable) as caught:
            send(server.url)

        assert (caught.value.code, caught.value.outcome_unknown) == ("unavailable", True)
        assert len(server.heard) == 1


@pytest.mark.parametrize("end", ["close", "reset"])
def test_a_write_on_a_connection_that_the_server_gives_up_is_not_sent_again(end: Step) -> None:
    with saying([ok(), end], [ok()]) as server:
        assert send(server.url) == {}
        with pytest.raises(exceptions.Unavailable) as caught:
            send(server.url)

        assert caught.value.outcome_unknown is True
        assert (server.connections, len(server.heard)) == (1, 2)


def test_a_read_is_tried_again_on_another_connection() -> None:
    with saying([ok(), "close"], [ok(b"[1]")]) as server:
        assert send(server.url) == {}
        assert http.request(http.client(server.url), "GET", "/emails") == [1]

        assert (server.connections, len(server.heard)) == (2, 3)


def test_a_connection_that_the_server_closed_meanwhile_is_not_used() -> None:
    closing = ok(b"{}", b"Connection: close")
    with saying([closing, "close at once"], [ok(), "close at once"], [ok()]) as server:
        assert [send(server.url) for _ in range(2)] == [{}, {}]

        assert (server.connections, len(server.heard)) == (2, 2)


def test_no_connection_waits_longer_than_for_its_turn(settings: Any) -> None:
    settings.DATA_SERVICE_TIMEOUT_SECONDS = 0.2
    with saying([ok()], [ok()]) as server:
        upstream = http.client(server.url, most=1)
        held = upstream.answer("GET", "/a", until=inf, read_seconds=5)
        with held, pytest.raises(exceptions.Unavailable):
            http.request(upstream, "POST", "/b")

        assert len(server.heard) == 1


@pytest.mark.parametrize("status", [b"100 Continue", b"102 Processing", b"103 Early Hints"])
def test_an_answer_may_be_announced(status: bytes) -> None:
    first = b"HTTP/1.1 %s\r\nLink: </a.css>\r\n\r\n" % status
    with saying([first + first + ok(b"[1]"), ok(b"[2]")]) as server:
        assert [send(server.url), send(server.url)] == [[1], [2]]
        assert server.connections == 1


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "answer",
    [
        Flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        Flood(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"),
        b"HTTP/1.1 200 OK\r\n",
        CHUNKED,
    ],
)
def test_an_answer_that_does_not_end_is_too_slow_wherever_it_goes_on(
    answer: Step, settings: Any
) -> None:
    settings.DATA_SERVICE_ANSWER_SECONDS = 0.2
    with saying([answer, "stall"]) as server:
        with pytest.raises(exceptions.TooSlow) as caught:
            send(server.url)

        assert caught.value.outcome_unknown is True
        assert len(server.heard) == 1


@pytest.mark.parametrize(
    "answer",
    [
        Flood(CHUNKED + b"0\r\n", b"A: b\r\n"),
        Flood(CHUNKED, b"0" * 60_000 + b"1\r\n \r\n"),
    ],
)
def test_no_end_is_longer_than_its_answer(answer: Step) -> None:
    with saying([answer, "stall"]) as server:
        with pytest.raises(exceptions.Unavailable) as caught:
            send(server.url)

        assert caught.value.outcome_unknown is True
        assert len(server.heard) == 1


def test_what_is_no_header_is_not_sent() -> None:
    with saying([ok()]) as server:
        with pytest.raises(exceptions.Unavailable):
            http.request(
                http.client(server.url), "POST", "/", body={}, headers={"If-Match": "a\r\nB: c"}
            )
        assert server.heard == []


def test_a_large_body_is_sent_whole() -> None:
    body = b"x" * 3_000_000
    with saying([ok()]) as server:
        http.post(f"{server.url}/hook?a=b", body=body, headers={"Content-Type": "text/plain"})

        [heard] = server.heard
        head, _, sent = heard.partition(b"\r\n\r\n")
        assert head.startswith(b"POST /hook?a=b HTTP/1.1\r\n")
        assert b"\r\nContent-Length: 3000000" in head
        assert sent == body


def test_a_cookie_of_a_server_is_not_sent_back() -> None:
    """Its connections are everybody's who has an account there."""
    with saying([ok(b"{}", b"Set-Cookie: session=maya; Path=/"), ok()]) as server:
        assert [send(server.url), send(server.url)] == [{}, {}]

        assert not [one for one in server.heard if b"ookie" in one]


def test_nothing_was_sent_to_a_server_that_speaks_no_tls() -> None:
    with saying(["close at once"]) as server:
        with pytest.raises(exceptions.Unavailable) as caught:
            send(server.url.replace("http:", "https:"))

        assert caught.value.outcome_unknown is False


def exchange(url: str, *, address: str = "127.0.0.1") -> http.Answer:
    return http.exchange(
        http.client(url),
        "GET",
        f"{url}/a%2Fb/./c?d=e%20f#g",
        address=address,
        content=b"",
        headers={"Accept": "text/plain"},
        most_bytes=100,
    )


def test_a_request_goes_to_its_address_by_the_name_of_its_server() -> None:
    lines = (b"ETag: \xe9", b"Link: <a>", b"Link: <b>", b"Content-Encoding: gzip")
    with saying([ok(gzip.compress(b"hello"), *lines)]) as server:
        answer = exchange(f"http://dav.example:{server.port}")

        assert (answer.status, answer.content) == (200, b"hello")
        assert (answer.headers["etag"], answer.headers["link"]) == ("\xe9", "<a>, <b>")
        [heard] = server.heard
        said, *names = heard.decode().strip().split("\r\n")
        assert said == "GET /a%2Fb/c?d=e%20f HTTP/1.1"
        assert sorted(names) == [
            "Accept-Encoding: gzip, deflate",
            "Accept: text/plain",
            "Connection: keep-alive",
            f"Host: dav.example:{server.port}",
            "User-Agent: remit",
        ]


def test_who_stops_listening_hangs_up() -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    with saying([head + b"3\r\none\r\n"]) as server:
        with http.listen(
            f"{server.url}/events", address="127.0.0.1", headers={}, quiet_seconds=10
        ) as stream:
            assert next(stream.chunks()) == b"one"

        assert server.hung_up.wait(10)


def test_what_the_environment_names_is_the_way_to_servers_of_the_settings_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Addresses that a person entered are called directly, and those that NO_PROXY names."""
    with saying([ok(b'"proxy"')]) as proxy, saying([ok(b'"itself"')], [ok()]) as server:
        monkeypatch.setenv("HTTP_PROXY", f"http://me:secret@127.0.0.1:{proxy.port}")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")

        by_proxy = http.request(http.client("http://data.example/v1", "key"), "GET", "/emails")
        directly = http.request(http.client(server.url), "GET", "/emails")
        monkeypatch.delenv("NO_PROXY")
        http.post(f"{server.url}/hook", body=b"{}", headers={})

        assert (by_proxy, directly) == ("proxy", "itself")
        [heard] = proxy.heard
        assert heard.startswith(b"GET http://data.example/v1/emails HTTP/1.1\r\n")
        assert b"\r\nProxy-Authorization: Basic bWU6c2VjcmV0\r\n" in heard
        assert len(server.heard) == 2
