"""Files at a fake Microsoft Graph that a file's tests share; each test finds them empty, and
leaves no request or answer behind that its description does not know."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.microsoft_files_world import (
    ADDRESS,
    TOKEN,
    OneDrive,
    running_onedrive,
)

if TYPE_CHECKING:
    from tests.integrations.providers.microsoft_files.box import Box


@pytest.fixture(scope="package")
def running() -> Iterator[OneDrive]:
    with running_onedrive() as onedrive:
        yield onedrive


@pytest.fixture
def onedrive(running: OneDrive, keys: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[OneDrive]:
    from tests.own_accounts import trusted  # this conftest is read before Django is set up

    with trusted(running, monkeypatch) as onedrive:
        yield onedrive


@pytest.fixture
def box(onedrive: OneDrive) -> "Box":
    from tests.integrations.providers.microsoft_files.box import Box
    from tests.own_accounts import connected, tokens

    servers = onedrive.servers
    row = connected("microsoft_files", address=ADDRESS, servers=servers, secret=tokens(TOKEN))
    return Box(onedrive=onedrive, account=row.ref())
