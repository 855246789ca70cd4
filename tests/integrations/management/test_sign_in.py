"""Connecting a mailbox at Microsoft by the command, with a code that its user types in."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management.base import CommandError

from integrations.accounts import consent
from integrations.credentials import credentials, device_code
from integrations.credentials.oauth import Tokens
from integrations.models import Account, Organisation
from integrations.network import http
from integrations.providers.connectable import Found
from integrations.providers.microsoft_mail import trial
from tests.commands import run_command
from tests.microsoft_world import ADDRESS, Outlook, running_outlook
from tests.oauth_world import CLIENT_ID, CLIENT_SECRET, OAuthServer, running_oauth

pytestmark = pytest.mark.django_db


@pytest.fixture
def server(
    keys: None, settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[OAuthServer]:
    """Where Microsoft's users sign in, and Graph, which takes the tokens that are given there."""
    with running_oauth() as running, running_outlook() as outlook:
        both = tmp_path / "ca.pem"
        both.write_bytes(running.trusted.read_bytes() + outlook.trusted.read_bytes())
        monkeypatch.setenv("SSL_CERT_FILE", str(both))
        http.close_clients()
        monkeypatch.setattr(Outlook, "_knows", lambda self, call: running.takes(_token(call)))
        settings.OAUTH_CLIENTS = {"microsoft": (CLIENT_ID, CLIENT_SECRET)}

        def try_it(tokens: Tokens, address: str) -> Found:
            tried = trial.try_account(tokens, address=address, api=outlook.api)
            return Found(
                host="graph.test",
                servers=tried.servers,
                abilities=tried.abilities,
                mails=tried.mails,
            )

        described = replace(running.described, name="microsoft", label="Microsoft")
        place = replace(consent.PLACES["microsoft_mail"], server=described, try_it=try_it)
        monkeypatch.setitem(consent.PLACES, "microsoft_mail", place)
        Organisation.objects.create(slug="acme", name="Acme")
        yield running
        http.close_clients()  # before their servers go
        assert outlook.problems == []


def _token(call: Any) -> str:
    return str(call.headers.get("authorization", "")).removeprefix("Bearer ")


def connect(**more: Any) -> str:
    return run_command("connect_microsoft", ADDRESS, user="nora", organisation="acme", **more)


def test_the_command_shows_a_code_and_goes_on_once_it_was_typed_in(
    server: OAuthServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def type_in(seconds: float) -> None:
        (known,) = server.devices.values()
        server.type_in(known.get_user_code())

    monkeypatch.setattr(device_code, "sleep", type_in)
    said = connect(device_code=True)

    (known,) = server.devices.values()
    assert f"open {server.origin}/device-login and type in {known.get_user_code()}" in said
    assert "within 30 minutes" in said
    assert "Signed in at graph.test: 0 mails in the inbox." in said
    assert "  B  Send, answer and forward." in said
    assert "policy --user nora --source microsoft_mail import" in said
    account = Account.objects.get(source="microsoft_mail")
    kept = Tokens.from_text(credentials.open_sign_in(account.ref()).secret)
    assert server.takes(kept.access)
    assert kept.refresh not in said


def test_a_no_connects_nothing(server: OAuthServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def decline(seconds: float) -> None:
        (known,) = server.devices.values()
        server.type_in(known.get_user_code(), agree=False)

    monkeypatch.setattr(device_code, "sleep", decline)
    with pytest.raises(CommandError, match="somebody said no"):
        connect(device_code=True)

    assert not Account.objects.exists()


def test_at_google_nobody_signs_in_with_a_code(settings: Any) -> None:
    settings.OAUTH_CLIENTS = {"google": (CLIENT_ID, CLIENT_SECRET)}
    Organisation.objects.create(slug="acme", name="Acme")

    with pytest.raises(CommandError, match="Sign in with a browser"):
        run_command("connect_google", ADDRESS, user="nora", organisation="acme", device_code=True)
