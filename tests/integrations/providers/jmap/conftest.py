"""A mailbox of its own for each test, on a real server that a file's tests share."""

from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from tests.cyrus_world import CyrusWorld, running_cyrus
from tests.mail_world import DOMAIN, PASSWORD

if TYPE_CHECKING:
    from tests.integrations.providers.jmap.box import Box


@pytest.fixture(scope="module")
def world() -> Iterator[CyrusWorld]:
    with running_cyrus() as running:
        yield running


@pytest.fixture
def box(world: CyrusWorld, keys: None) -> "Iterator[Box]":
    # This conftest is read before Django is set up.
    from integrations.network import http
    from tests.integrations.providers.jmap.box import Box
    from tests.own_accounts import connected

    address = f"{uuid4().hex[:12]}@{DOMAIN}"
    world.add(address)
    row = connected("jmap", address=address, servers=world.servers, secret=PASSWORD)
    yield Box(world=world, account=row.ref())
    http.close_clients()
