import json
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from config.door import rates
from config.door.lifespan import Message, Receive, Scope, Send
from config.door.rates import Buckets, Rate, with_rates

WANTS_ITALIAN = [(b"accept-language", b"tlh, it;q=0.8")]


def test_so_many_at_once_and_then_one_at_a_time() -> None:
    buckets = Buckets(Rate(a_second=2, at_once=3))

    assert [buckets.take("192.0.2.1", now=0) for _ in range(4)] == [0, 0, 0, 0.5]
    assert buckets.take("192.0.2.1", now=0.25) == 0.25
    assert buckets.take("192.0.2.1", now=0.5) == 0
    assert buckets.take("192.0.2.1", now=0.5) == 0.5
    assert [buckets.take("192.0.2.1", now=60) for _ in range(4)] == [0, 0, 0, 0.5]


def test_each_address_has_its_own_and_a_network_of_ipv6_one() -> None:
    buckets = Buckets(Rate(a_second=1, at_once=1))

    assert [buckets.take(address, now=0) for address in ("192.0.2.1", "192.0.2.2")] == [0, 0]
    assert buckets.take("2001:db8::1", now=0) == 0
    assert buckets.take("2001:db8::2", now=0) == 1


def test_only_so_many_addresses_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "MOST_ADDRESSES", 2)
    buckets = Buckets(Rate(a_second=1, at_once=1))
    for address in ("192.0.2.1", "192.0.2.2", "192.0.2.1", "192.0.2.3"):
        buckets.take(address, now=0)

    assert len(buckets._left) == 2
    assert buckets.take("192.0.2.1", now=0) == 1


def test_an_address_that_asks_too_often_hears_when_to_come_again() -> None:
    passed: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        passed.append(scope["path"])

    door = with_rates(app, rate=Rate(a_second=0.1, at_once=1))
    sent: list[Any] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    for path in ("/api/v1/chat", "/api/v1/chat", "/health", "/ready"):
        scope = {"type": "http", "path": path, "client": ("192.0.2.1", 1), "headers": WANTS_ITALIAN}
        async_to_sync(door)(scope, receive, send)

    assert passed == ["/api/v1/chat", "/health", "/ready"]
    assert sent[0]["status"] == 429
    assert (b"retry-after", b"10") in sent[0]["headers"]
    assert (b"content-language", b"it") in sent[0]["headers"]
    said = json.loads(sent[1]["body"])
    assert (said["code"], said["title"]) == ("throttled", "Troppe richieste")
    assert said["detail"] == "Da questo indirizzo arrivano troppe richieste. Torna più tardi."
