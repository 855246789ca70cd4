from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client

from tests.sandbox_server import RunningSandbox, running_sandbox

if TYPE_CHECKING:
    from agents.models import Turn
    from integrations.models import Organisation


@pytest.fixture
def organisation() -> "Organisation":
    from integrations.models import Organisation  # this conftest is read before Django is set up

    return Organisation.objects.create(slug="default", name="Default")


@pytest.fixture
def turn(organisation: "Organisation") -> "Turn":
    """Of Maya's, and nobody works on it yet."""
    from agents.models import Turn
    from tests.agents.waiting import turn_of

    return Turn.objects.get(id=turn_of(organisation, queued=False, message="Find the contract"))


@pytest.fixture
def token(organisation: "Organisation") -> str:
    """Of a caller that may chat."""
    from integrations.models import ServiceToken

    return ServiceToken.issue(organisation=organisation, name="web", scopes=["chat", "approvals"])[
        1
    ]


@pytest.fixture
def operator() -> Client:
    from tests.agents.pages import superuser

    return superuser()


@pytest.fixture
def sandbox(settings: Any) -> Iterator[RunningSandbox]:
    """The sandbox as the organisation's data service."""
    with running_sandbox() as running:
        settings.SANDBOX_PORT = int(running.origin.rpartition(":")[2])
        settings.DATA_SERVICES = {"default": running.url}
        settings.DATA_SERVICE_KEYS = {"default": running.key}
        yield running
