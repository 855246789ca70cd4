"""Accounts of people's own at the fakes and servers of providers, signed in to as connecting them
leaves it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol, TypeVar
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from integrations.credentials import credentials, sealing
from integrations.credentials.oauth import Tokens
from integrations.models import Account, Organisation
from integrations.network import http
from tests.knowledge.office import account

PRIVATE = "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA="


class Fake(Protocol):
    """Of a provider: `problems` are the requests and answers that its own description does not
    know."""

    trusted: Path  # the certificate, for SSL_CERT_FILE
    problems: list[str]

    def clear(self) -> None: ...


F = TypeVar("F", bound=Fake)


def have_keys(settings: Any) -> None:
    """What passwords are sealed with and opened; servers are on loopback."""
    settings.OUTGOING_TO_PRIVATE = True
    settings.CREDENTIALS_PRIVATE_KEY = PRIVATE
    public = sealing.private_key(PRIVATE).public_key()
    settings.CREDENTIALS_PUBLIC_KEY = sealing.to_text(public)


@contextmanager
def trusted(fake: F, monkeypatch: pytest.MonkeyPatch) -> Iterator[F]:
    """It, empty; at the end it was asked and answered nothing that it has no description of."""
    monkeypatch.setenv("SSL_CERT_FILE", str(fake.trusted))
    http.close_clients()
    fake.clear()
    yield fake
    http.close_clients()  # before its server goes
    assert fake.problems == []


def connected(
    source: str,
    *,
    address: str,
    servers: Mapping[str, Any],
    secret: str,
    user_name: str = "",
    user: str = "",
    organisation: Organisation | None = None,
    **fields: object,
) -> Account:
    """A new account, in a new organisation unless one is given."""
    found = account(user=user or uuid4().hex[:12], source=source, organisation=organisation)
    row = Account.objects.select_related("organisation").get(id=found.id)
    for name, value in {"address": address, **fields}.items():
        setattr(row, name, value)
    row.save()
    sign_in(row.id, user_name=user_name or address, servers=servers, secret=secret)
    return row


def sign_in(account_id: UUID, *, user_name: str, servers: Mapping[str, Any], secret: str) -> None:
    sealed = credentials.seal(secret, account_id=account_id)
    credentials.keep(
        account_id=account_id, user_name=user_name, servers=dict(servers), sealed=sealed
    )


def tokens(access: str) -> str:
    """The secret of an account that its owner signs in to at the provider's page."""
    until = timezone.now() + timedelta(hours=1)
    return Tokens(access=access, refresh="r", expires_at=until).to_text()
