"""The office for tests that go through the database and over HTTP.

pytest loads this file before Django is set up when this folder is named on its command
line, so what needs models is imported when it is used.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.sandbox_server import RunningSandbox, running_sandbox

if TYPE_CHECKING:
    from django.test import Client

    from integrations.models import Account
    from tests.guardrails.office import Office


@pytest.fixture(scope="session")
def provider() -> Iterator[RunningSandbox]:
    with running_sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def office(provider: RunningSandbox, settings: Any) -> Iterator[Office]:
    from tests.guardrails.office import settle

    found = settle(provider, settings)
    yield found
    if found.in_trouble:
        found.faults()


@pytest.fixture
def mailbox(db: None) -> Account:
    """An account that nothing is asked of at its provider."""
    from integrations.models import Account, Organisation

    organisation = Organisation.objects.create(slug="default", name="Company")
    return Account.objects.create(
        organisation=organisation, external_user_id="maya", source="gmail", address="maya@x.com"
    )


@pytest.fixture
def client(db: None) -> Client:
    """Olga, who may do everything in the admin."""
    from tests.clients import log_in_superuser

    return log_in_superuser("olga")


@pytest.fixture
def not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """This thread is the web process: it cannot open the secrets of accounts."""
    from integrations.accounts import reads

    web = threading.current_thread()
    monkeypatch.setattr(reads, "can_be_asked_here", lambda _: threading.current_thread() is not web)


@pytest.fixture
def cluster() -> Iterator[None]:
    """Another thread that works on tasks, from the first that is queued to the last."""
    from django.db import connections
    from django_q.models import OrmQ

    from tests.office import run_next_task, until

    def work() -> None:
        try:
            until(OrmQ.objects.exists)
            while run_next_task():
                pass
        finally:
            connections.close_all()

    thread = threading.Thread(target=work)
    thread.start()
    yield
    thread.join()
