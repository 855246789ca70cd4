"""One sandbox for most tests, back in its first state before each."""

from collections.abc import Iterator

import httpx
import pytest

from tests.sandbox.data_service.client import Client
from tests.sandbox.data_service.receiver import Receiver, running_receiver
from tests.sandbox_server import RunningSandbox, running_sandbox


@pytest.fixture(scope="session")
def shared_sandbox() -> Iterator[RunningSandbox]:
    with running_sandbox() as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def http() -> Iterator[httpx.Client]:
    with httpx.Client(trust_env=False, timeout=30) as client:
        yield client


@pytest.fixture
def office(shared_sandbox: RunningSandbox, http: httpx.Client) -> Client:
    """The freshly loaded office, without webhooks."""
    client = Client(sandbox=shared_sandbox, http=http)
    client.control("POST", "/reset")
    return client


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with running_receiver() as receiver:
        yield receiver


@pytest.fixture
def sending(receiver: Receiver, http: httpx.Client) -> Iterator[Client]:
    """An office whose webhooks go to `receiver`."""
    with running_sandbox(webhook_url=receiver.url, webhook_secret=receiver.secret) as sandbox:
        yield Client(sandbox=sandbox, http=http)
