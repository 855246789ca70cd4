"""Files at a fake Microsoft Graph that a file's tests share; each test finds them empty, and
leaves no request or answer behind that its description does not know."""

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

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
    from integrations.network import http  # this conftest is read before Django is set up

    monkeypatch.setenv("SSL_CERT_FILE", str(running.trusted))
    http.close_clients()
    running.clear()
    yield running
    assert running.problems == []


@pytest.fixture
def box(onedrive: OneDrive) -> "Box":
    from django.utils import timezone

    from integrations.credentials import credentials
    from integrations.credentials.oauth import Tokens
    from integrations.models import Account
    from tests.integrations.providers.microsoft_files.box import Box
    from tests.knowledge.office import account

    row = Account.objects.get(id=account(user=uuid4().hex[:12], source="microsoft_files").id)
    row.address = ADDRESS
    row.save()
    tokens = Tokens(access=TOKEN, refresh="r", expires_at=timezone.now() + timedelta(hours=1))
    credentials.keep(
        account_id=row.id,
        user_name=ADDRESS,
        servers=onedrive.servers,
        sealed=credentials.seal(tokens.to_text(), account_id=row.id),
    )
    return Box(onedrive=onedrive, account=row.ref())
