"""An account at a fake GitHub that a file's tests share; each test finds it empty, and leaves no
request or answer behind that GitHub's own description does not know."""

from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from tests.github_world import ADDRESS, LOGIN, TOKEN, GitHub, running_github

if TYPE_CHECKING:
    from tests.integrations.providers.github.box import Box


@pytest.fixture(scope="package")
def running() -> Iterator[GitHub]:
    with running_github() as github:
        yield github


@pytest.fixture
def github(running: GitHub, keys: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[GitHub]:
    from integrations.network import http  # this conftest is read before Django is set up

    monkeypatch.setenv("SSL_CERT_FILE", str(running.trusted))
    http.close_clients()
    running.clear()
    yield running
    assert running.problems == []


@pytest.fixture
def box(github: GitHub) -> "Box":
    from integrations.credentials import credentials
    from integrations.models import Account
    from tests.integrations.providers.github.box import Box
    from tests.knowledge.office import account

    row = Account.objects.get(id=account(user=uuid4().hex[:12], source="github_issues").id)
    row.address = ADDRESS
    row.save()
    credentials.keep(
        account_id=row.id,
        user_name=ADDRESS,
        servers={
            "host": "github.test",
            "api": f"{github.origin}/api/v3",
            "login": LOGIN,
            "only": [],
        },
        sealed=credentials.seal(TOKEN, account_id=row.id),
    )
    return Box(github=github, account=row.ref())
