"""Files at a fake Google Drive that a file's tests share; each test finds them empty, and leaves no
request or answer behind that Google's discovery document does not know."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.google_drive_world import (
    ADDRESS,
    TOKEN,
    GoogleDrive,
    running_google_drive,
)

if TYPE_CHECKING:
    from tests.integrations.providers.google_drive.box import Box


@pytest.fixture(scope="package")
def running() -> Iterator[GoogleDrive]:
    with running_google_drive() as google:
        yield google


@pytest.fixture
def google(
    running: GoogleDrive, keys: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[GoogleDrive]:
    from tests.own_accounts import trusted  # this conftest is read before Django is set up

    with trusted(running, monkeypatch) as google:
        yield google


@pytest.fixture
def box(google: GoogleDrive) -> "Box":
    from tests.integrations.providers.google_drive.box import Box
    from tests.own_accounts import connected, tokens

    servers = google.servers
    row = connected("google_drive", address=ADDRESS, servers=servers, secret=tokens(TOKEN))
    return Box(google=google, account=row.ref())
