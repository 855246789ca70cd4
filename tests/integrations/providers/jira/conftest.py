"""An account at a fake Jira of either kind that a file's tests share; each test finds it empty, and
leaves no request or answer behind that Atlassian does not describe."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from typing import TYPE_CHECKING

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
    from tests.own_accounts import trusted  # this conftest is read before Django is set up

    with trusted(started(request.param == "cloud"), monkeypatch) as jira:
        yield jira


@pytest.fixture
def box(jira: Jira) -> "Box":
    from tests.integrations.providers.jira.box import Box
    from tests.own_accounts import connected

    me = f"id-{LOGIN}" if jira.is_cloud else LOGIN
    servers = {"base": jira.origin, "is_cloud": jira.is_cloud, "me": me, "only": []}
    row = connected("jira_issues", address=ADDRESS, servers=servers, secret=TOKEN)
    return Box(jira=jira, account=row.ref())
