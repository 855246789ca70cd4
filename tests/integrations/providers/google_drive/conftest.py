"""Files at a fake Google Drive that a file's tests share; each test finds them empty, and leaves no
request or answer behind that Google's discovery document does not know."""

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

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
    from integrations.network import http  # this conftest is read before Django is set up

    monkeypatch.setenv("SSL_CERT_FILE", str(running.trusted))
    http.close_clients()
    running.clear()
    yield running
    assert running.problems == []


@pytest.fixture
def box(google: GoogleDrive) -> "Box":
    from django.utils import timezone

    from integrations.credentials import credentials
    from integrations.credentials.oauth import Tokens
    from integrations.models import Account
    from tests.integrations.providers.google_drive.box import Box
    from tests.knowledge.office import account

    row = Account.objects.get(id=account(user=uuid4().hex[:12], source="google_drive").id)
    row.address = ADDRESS
    row.save()
    tokens = Tokens(access=TOKEN, refresh="r", expires_at=timezone.now() + timedelta(hours=1))
    credentials.keep(
        account_id=row.id,
        user_name=ADDRESS,
        servers=google.servers,
        sealed=credentials.seal(tokens.to_text(), account_id=row.id),
    )
    return Box(google=google, account=row.ref())
