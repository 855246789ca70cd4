"""An account of a real server of files, which all tests share; each test finds it empty."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.file_world import ADDRESS, PASSWORD, USER, FileServer, running_files

if TYPE_CHECKING:
    from tests.integrations.providers.webdav.box import Box


@pytest.fixture(scope="session")
def running() -> Iterator[FileServer]:
    with running_files() as server:
        yield server


@pytest.fixture
def files(running: FileServer, keys: None, monkeypatch: pytest.MonkeyPatch) -> FileServer:
    running.clear()
    monkeypatch.setenv("SSL_CERT_FILE", str(running.trusted))
    return running


@pytest.fixture
def box(files: FileServer) -> "Box":
    # This conftest is read before Django is set up.
    from integrations.providers.webdav import trial
    from tests.integrations.providers.webdav.box import Box
    from tests.own_accounts import connected

    tried = trial.try_url(files.origin, user_name=USER, secret=PASSWORD, readers=[])
    row = connected(
        "webdav", address=ADDRESS, user_name=USER, servers=tried.server.to_json(), secret=PASSWORD
    )
    return Box(server=files, account=row.ref())
