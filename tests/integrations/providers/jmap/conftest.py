"""A mailbox of its own for each test, on a real server that a file's tests share."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from tests.cyrus_world import CyrusWorld, running_cyrus
from tests.integrations.conftest import PRIVATE
from tests.mail_world import DOMAIN, PASSWORD

if TYPE_CHECKING:
    from tests.integrations.providers.jmap.box import Box


@pytest.fixture(scope="module")
def world() -> Iterator[CyrusWorld]:
    with running_cyrus() as running:
        yield running


@pytest.fixture
def box(world: CyrusWorld, settings: Any, db: None) -> "Iterator[Box]":
    # This conftest is read before Django is set up.
    from integrations.credentials import credentials, sealing
    from integrations.models import Account
    from integrations.network import http
    from tests.integrations.providers.jmap.box import Box
    from tests.knowledge.office import account

    settings.OUTGOING_TO_PRIVATE = True
    settings.CREDENTIALS_PRIVATE_KEY = PRIVATE
    public = sealing.private_key(PRIVATE).public_key()
    settings.CREDENTIALS_PUBLIC_KEY = sealing.to_text(public)
    name = uuid4().hex[:12]
    row = Account.objects.get(id=account(user=name, source="jmap").id)
    row.address = f"{name}@{DOMAIN}"
    row.save()
    world.add(row.address)
    credentials.keep(
        account_id=row.id,
        user_name=row.address,
        servers=world.servers,
        sealed=credentials.seal(PASSWORD, account_id=row.id),
    )
    yield Box(world=world, account=row.ref())
    http.close_clients()
