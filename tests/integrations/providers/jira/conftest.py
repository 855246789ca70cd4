"""An account at a fake Jira of either kind that a file's tests share; each test finds it empty, and
leaves no request or answer behind that Atlassian does not describe."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from tests.jira_world import ADDRESS, LOGIN, TOKEN, Jira, running_jira

if TYPE_CHECKING:
    from tests.integrations.providers.jira.box import Box


@pytest.fixture(scope="package")
def started() -> Iterator[Callable[[bool], Jira]]:
    with ExitStack() as running:
        yield cache(lambda is_cloud: running.enter_context(running_jira(is_cloud=is_cloud)))


@pytest.fixture(params=["cloud", "data center"])
def jira(
    request: pytest.FixtureRequest,
    started: Callable[[bool], Jira],
    keys: None,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Jira]:
    from integrations.network import http  # this conftest is read before Django is set up

    found = started(request.param == "cloud")
    monkeypatch.setenv("SSL_CERT_FILE", str(found.trusted))
    http.close_clients()
    found.clear()
    yield found
    assert found.problems == []


@pytest.fixture
def box(jira: Jira) -> "Box":
    from integrations.credentials import credentials
    from integrations.models import Account
    from tests.integrations.providers.jira.box import Box
    from tests.knowledge.office import account

    row = Account.objects.get(id=account(user=uuid4().hex[:12], source="jira_issues").id)
    row.address = ADDRESS
    row.save()
    me = f"id-{LOGIN}" if jira.is_cloud else LOGIN
    credentials.keep(
        account_id=row.id,
        user_name=ADDRESS,
        servers={"base": jira.origin, "is_cloud": jira.is_cloud, "me": me, "only": []},
        sealed=credentials.seal(TOKEN, account_id=row.id),
    )
    return Box(jira=jira, account=row.ref())
