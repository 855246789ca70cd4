"""One running Remit for all attacks: web server and sandbox over real HTTP. Every case has an
organisation of its own in it."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
import pytest_django
from django.core.management import call_command
from django.db import connections

from tests.sandbox_server import RunningSandbox, running_sandbox, serving

if TYPE_CHECKING:
    from tests.attacks.desk import Desk
    from tests.mcp_server import Tracker
    from tests.model_server import ScriptedModel


@pytest.fixture(scope="session")
def sandbox() -> Iterator[RunningSandbox]:
    with running_sandbox() as running:
        yield running


@pytest.fixture(scope="session")
def origin(
    django_db_setup: None, django_db_blocker: pytest_django.DjangoDbBlocker
) -> Iterator[str]:
    """Where the web server listens. It looks at the ledger before it starts."""
    from tests.office import close_shared_connections, entrance  # needs Django set up

    with contextlib.ExitStack() as stack:
        stack.callback(close_shared_connections)
        with django_db_blocker.unblock():
            running = stack.enter_context(serving(entrance()))
            connections.close_all()
        yield running


@pytest.fixture(scope="session")
def model() -> Iterator["ScriptedModel"]:
    from tests.model_server import running_model

    with running_model({}) as running:
        yield running


@pytest.fixture(scope="module")
def one_model_client() -> Iterator[None]:
    """All cases have the same model, and making a client of it takes a tenth of a case."""
    from integrations.llm import llm

    llm.forget_clients()
    yield
    llm._client().close()
    llm.forget_clients()


@pytest.fixture(scope="session")
def tracker() -> Iterator["Tracker"]:
    from tests.mcp_server import running_tracker

    with running_tracker() as running:
        yield running


@pytest.fixture(scope="module")
def committed_rows(
    django_db_setup: None, django_db_blocker: pytest_django.DjangoDbBlocker
) -> Iterator[None]:
    """Real commits, emptied once after all cases: each has an organisation of its own, and
    emptying takes as long as a case."""
    with django_db_blocker.unblock():
        yield
        call_command("flush", verbosity=0, interactive=False)
        connections.close_all()


@pytest.fixture
def _django_db_helper(committed_rows: None) -> None:
    """Instead of pytest-django's, which empties the database after every test."""


@pytest.fixture
def desk(
    origin: str,
    sandbox: RunningSandbox,
    model: "ScriptedModel",
    tracker: "Tracker",
    committed_rows: None,
    one_model_client: None,
    settings: Any,
) -> "Desk":
    from tests.attacks.desk import House, seated

    settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL = "scripted", model.url
    settings.OUTGOING_TO_PRIVATE = True
    tracker.forget()
    return seated(House(origin=origin, sandbox=sandbox, model=model, tracker=tracker))
