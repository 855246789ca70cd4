"""An account at a fake GitHub that a file's tests share; each test finds it empty, and leaves no
request or answer behind that GitHub's own description does not know."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

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
    from tests.own_accounts import trusted  # this conftest is read before Django is set up

    with trusted(running, monkeypatch) as github:
        yield github


@pytest.fixture
def box(github: GitHub) -> "Box":
    from tests.integrations.providers.github.box import Box
    from tests.own_accounts import connected

    servers = {
        "host": "github.test",
        "api": f"{github.origin}/api/v3",
        "login": LOGIN,
        "only": [],
    }
    row = connected("github_issues", address=ADDRESS, servers=servers, secret=TOKEN)
    return Box(github=github, account=row.ref())
