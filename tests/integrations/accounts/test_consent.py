"""A mailbox at Gmail is connected by its user's sign-in at a real authorisation server: on the
page, over the API, and by the command."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from integrations.accounts import consent, health, reads
from integrations.credentials import credentials
from integrations.credentials.oauth import Tokens
from integrations.exceptions import SignInNeeded
from integrations.management import sign_in
from integrations.models import Account, Credential, Organisation, ServiceToken
from integrations.network import http
from integrations.providers.connectable import Found
from integrations.providers.google import session
from integrations.providers.google_mail import trial
from tests import oauth_world
from tests.clients import log_in_superuser, read_page
from tests.commands import run_command
from tests.google_world import ADDRESS, Gmail, running_gmail
from tests.oauth_world import CLIENT_ID, CLIENT_SECRET, OAuthServer, running_oauth

pytestmark = pytest.mark.django_db
CONNECT = "admin:integrations_account_connect"
SIGNED_IN = "admin:integrations_account_signed_in"


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[OAuthServer, Gmail, Path]]:
    with running_oauth() as server, running_gmail() as gmail:
        both = tmp_path_factory.mktemp("trusted") / "ca.pem"
        both.write_bytes(server.trusted.read_bytes() + gmail.trusted.read_bytes())
        yield server, gmail, both


@pytest.fixture
def server(
    servers: tuple[OAuthServer, Gmail, Path],
    keys: None,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[OAuthServer]:
    """Where Google's users sign in, and its Gmail, which takes the tokens that were given there."""
    running, gmail, trusted = servers
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    http.close_clients()
    running.reset()
    gmail.clear()
    monkeypatch.setattr(gmail, "takes", running.takes)
    settings.OAUTH_CLIENTS = {"google": (CLIENT_ID, CLIENT_SECRET)}
    settings.PUBLIC_URL = "https://remit.test"

    def try_it(tokens: Tokens, address: str) -> Found:
        tried = trial.try_account(tokens, address=address, api=gmail.api)
        return Found(
            host="gmail.test",
            servers=tried.servers,
            abilities=tried.abilities,
            mails=tried.mails,
        )

    place = replace(consent.PLACES["google_mail"], server=running.described, try_it=try_it)
    monkeypatch.setitem(consent.PLACES, "google_mail", place)
    monkeypatch.setattr(session.GoogleSession, "server", running.described)
    Organisation.objects.create(slug="acme", name="Acme")
    yield running
    assert gmail.problems == []


@pytest.fixture
def gmail(server: OAuthServer, servers: tuple[OAuthServer, Gmail, Path]) -> Gmail:
    return servers[1]


@pytest.fixture
def client(server: OAuthServer) -> Client:
    return log_in_superuser("olga")


def asked(**changes: Any) -> dict[str, Any]:
    return {"user_id": "nora", "address": ADDRESS, "time_zone": "Europe/Stockholm"} | changes


def begin(client: Client, **changes: Any) -> str:
    """The address of the provider's page."""
    page = f"{reverse(CONNECT)}?organisation=acme&source=google_mail"
    shown = client.post(page, asked(**changes)).content.decode()
    found = re.search(r'href="(https://127[^"]+/authorize[^"]+)"', shown)
    assert found, shown
    return found[1].replace("&amp;", "&")


def come_back(client: Client, answer: dict[str, str]) -> str:
    return read_page(client, f"{reverse(SIGNED_IN)}?{urlencode(answer)}")


def connected(client: Client, server: OAuthServer) -> Account:
    shown = come_back(client, server.agree(begin(client)))
    offer = re.search(r'name="offer" value="([^"]+)"', shown)
    assert offer, shown
    client.post(f"{reverse(CONNECT)}?organisation=acme&source=google_mail", {"offer": offer[1]})
    return Account.objects.get(source="google_mail")


def test_on_the_page_it_is_tried_shown_and_then_connected(
    client: Client, server: OAuthServer, gmail: Gmail
) -> None:
    server.extra = {"refresh_token_expires_in": 604_800}
    gmail.receive("Lunch")

    shown = come_back(client, server.agree(begin(client)))

    assert "Send, answer and forward</strong>: grade B" in shown
    assert "There is 1 mail in the inbox" in shown
    assert not any(one.access in shown or one.refresh in shown for one in server.given)
    assert not Account.objects.filter(source="google_mail").exists()

    account = connected(client, server)
    assert (account.kind, account.provider, account.allowed_actions.count()) == (
        *("mail", "google_mail"),
        0,
    )
    assert "The consent ends in 6 days" in health.in_words(account, now=timezone.now())
    found = reads.reader(account.ref()).items(since=None, cursor=None, limit=5).items
    assert [one.subject for one in found if hasattr(one, "subject")] == ["Lunch"]
    page = read_page(client, reverse("admin:integrations_account_change", args=[account.pk]))
    assert "Sign in at Google again" in page


def test_what_comes_back_is_good_once_and_in_that_session_alone(
    client: Client, server: OAuthServer
) -> None:
    answer = server.agree(begin(client))
    elsewhere = log_in_superuser("otto")

    assert "was begun elsewhere" in come_back(elsewhere, answer)
    assert "no answer to the sign-in that was begun here" in come_back(
        client, answer | {"state": "another"}
    )
    # The session's sign-in is over with the first answer, whatever that was.
    assert "was begun elsewhere" in come_back(client, answer)
    assert server.given == []


def test_nobody_connects_a_mailbox_that_another_signed_in_to(
    client: Client, server: OAuthServer
) -> None:
    shown = come_back(client, server.agree(begin(client, address="tom@office.test")))

    assert f"Somebody signed in as {ADDRESS}, and tom@office.test is to be connected" in shown
    assert 'name="offer"' not in shown


def test_a_no_and_half_a_yes_are_said(client: Client, server: OAuthServer) -> None:
    assert "somebody said no" in come_back(client, server.decline(begin(client)))

    server.extra = {"scope": "openid"}
    assert "tick every box on Google" in come_back(client, server.agree(begin(client)))
    assert not Account.objects.filter(source="google_mail").exists()


def test_without_a_client_the_page_says_what_to_set(client: Client, settings: Any) -> None:
    settings.OAUTH_CLIENTS = {}

    shown = client.post(f"{reverse(CONNECT)}?organisation=acme&source=google_mail", asked())

    assert "set GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET" in shown.content.decode()


def test_a_mailbox_whose_consent_ended_waits_and_goes_on_after_a_sign_in(
    client: Client, server: OAuthServer, gmail: Gmail
) -> None:
    account = connected(client, server)
    kept = gmail.receive("Lunch")
    tokens = Tokens.from_text(credentials.open_sign_in(account.ref()).secret)
    ended = replace(tokens, expires_at=timezone.now() - timedelta(seconds=1))
    sealed = credentials.seal(ended.to_text(), account_id=account.pk)
    Credential.objects.update(sealed=sealed.data)
    reader: Any = reads.reader(account.ref())

    assert reader.email(kept.id).subject == "Lunch"  # renewed by itself
    assert len(server.renewals) == 1

    server.take_back()
    for _ in range(2):
        with pytest.raises(SignInNeeded):
            reader.email(kept.id)
    assert len(server.renewals) == 2  # the refused token was renewed once, and then no more
    words = health.in_words(account, now=timezone.now())
    assert words.startswith("Sign in again")
    assert "nothing is lost" in words

    assert connected(client, server).pk == account.pk
    assert reader.email(kept.id).subject == "Lunch"


@pytest.fixture
def call(server: OAuthServer) -> Callable[[str, dict[str, Any]], Any]:
    fields = {"name": "web", "scopes": ["accounts"], "user_ids": ["nora"]}
    token = ServiceToken.issue(organisation=Organisation.objects.get(slug="acme"), **fields)[1]

    def post(path: str, body: dict[str, Any]) -> Any:
        return Client().post(
            f"/api/v1/accounts{path}",
            json.dumps(body),
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}"},
        )

    return post


def test_over_the_api_a_frontend_leads_its_user_there_and_back(
    call: Callable[[str, dict[str, Any]], Any], server: OAuthServer
) -> None:
    wish = {"source": "google_mail", "redirect_url": oauth_world.REDIRECT}
    begun = call("/consents", {"user_id": "nora", "address": ADDRESS, **wish}).json()
    answer = server.agree(begun["page"])
    finish = {"user_id": "nora", "ticket": begun["ticket"], "answer": answer}

    other = call("/consents/finish", finish | {"answer": answer | {"state": "x"}})
    tried = call("/consents/finish", finish)
    account = call("", {"user_id": "nora", "offer": tried.json()["offer"]})

    assert "seven days" in begun["how_long"]
    assert (other.status_code, tried.status_code, tried.json()["mails"]) == (422, 200, 0)
    assert (account.status_code, account.json()["state"]) == (201, "good")
    again = call("/consents/finish", finish)
    assert (again.status_code, len(server.given)) == (422, 1)


def test_over_the_api_a_password_is_not_taken_for_it(
    call: Callable[[str, dict[str, Any]], Any], server: OAuthServer
) -> None:
    asked = {"user_id": "nora", "address": ADDRESS, "password": "x", "source": "google_mail"}

    refused = call("/try", asked)

    assert (refused.status_code, list(refused.json()["error"]["fields"])) == (400, ["source"])


def test_the_command_waits_for_the_browser_to_come_back(
    server: OAuthServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait = sign_in.WayBack.wait

    def browser(page: str) -> None:
        answer = server.agree(page)
        with urlopen(f"{oauth_world.REDIRECTS[-1]}?{urlencode(answer)}") as said:
            assert b"Go back to the command" in said.read()

    pages: list[str] = []
    begin = consent.begin

    def begun(*given: Any, **more: Any) -> consent.Started:
        found = begin(*given, **more)
        pages.append(found.page)
        oauth_world.REDIRECTS.append(more["redirect"])
        return found

    def waited(back: sign_in.WayBack) -> Any:
        there = threading.Thread(target=browser, args=(pages[-1],))
        there.start()
        try:
            return wait(back)
        finally:
            there.join(10)

    monkeypatch.setattr(consent, "begin", begun)
    monkeypatch.setattr(sign_in.WayBack, "wait", waited)
    said = run_command("connect_google", ADDRESS, user="nora", organisation="acme")

    assert "Signed in at gmail.test: 0 mails in the inbox." in said
    assert "  B  Send, answer and forward." in said
    account = Account.objects.get(source="google_mail")
    assert Tokens.from_text(credentials.open_sign_in(account.ref()).secret).refresh
