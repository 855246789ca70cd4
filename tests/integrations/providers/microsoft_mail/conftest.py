"""A mailbox at a fake Microsoft Graph that a file's tests share; each test finds it empty, and
leaves no request or answer behind that its description does not know."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.microsoft_world import ADDRESS, TOKEN, Outlook, running_outlook

if TYPE_CHECKING:
    from tests.integrations.providers.microsoft_mail.box import Box


@pytest.fixture(scope="package")
def running() -> Iterator[Outlook]:
    with running_outlook() as outlook:
        yield outlook


@pytest.fixture
def outlook(running: Outlook, keys: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Outlook]:
    from tests.own_accounts import trusted  # this conftest is read before Django is set up

    with trusted(running, monkeypatch) as outlook:
        yield outlook


@pytest.fixture
def box(outlook: Outlook) -> "Box":
    from tests.integrations.providers.microsoft_mail.box import Box
    from tests.own_accounts import connected, tokens

    servers = {"api": outlook.api, "ends_at": "", "folders": outlook.folders}
    row = connected("microsoft_mail", address=ADDRESS, servers=servers, secret=tokens(TOKEN))
    return Box(outlook=outlook, account=row.ref())
