import asyncio
from typing import Any

import pytest
from django.db import connections

from config.door.lifespan import Message, Receive, Scope, Send, with_lifespan


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "answered"})


def talk(scope: str, *phases: str, refusals: tuple[str, ...] = ()) -> list[Any]:
    """What the application sends when a server goes through these phases."""
    sent: list[Message] = []
    coming = iter(phases)

    async def receive() -> Message:
        return {"type": f"lifespan.{next(coming)}"}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(with_lifespan(app, refusals=lambda: refusals)({"type": scope}, receive, send))
    return sent


def test_the_server_learns_that_we_are_up_and_down() -> None:
    assert [message["type"] for message in talk("lifespan", "startup", "shutdown")] == [
        "lifespan.startup.complete",
        "lifespan.shutdown.complete",
    ]


def test_a_refusal_ends_the_start_and_says_why() -> None:
    assert talk("lifespan", "startup", refusals=("It is broken.", "Mend it.")) == [
        {"type": "lifespan.startup.failed", "message": "It is broken. Mend it."}
    ]


@pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
def test_what_asked_the_database_at_the_start_keeps_no_connection() -> None:
    used = []

    def refusals() -> tuple[str, ...]:
        connections["ledger"].ensure_connection()
        used.append(connections["ledger"])
        return ()

    async def receive() -> Message:
        return {"type": "lifespan.shutdown" if used else "lifespan.startup"}

    async def send(message: Message) -> None:
        pass

    asyncio.run(with_lifespan(app, refusals=refusals)({"type": "lifespan"}, receive, send))
    assert [one.connection for one in used] == [None]


@pytest.mark.parametrize("scope", ["http", "websocket"])
def test_requests_go_to_the_application(scope: str) -> None:
    assert talk(scope) == [{"type": "answered"}]
