"""Accounts whose servers only DNS names: tried and connected at a real mail server by the API, on
the page and by the command, and what is not connected so."""

import json
import re
from typing import Any

import pytest
from django.core.management.base import CommandError
from django.test import Client
from django.urls import reverse

from integrations.credentials import credentials
from integrations.models import Account, Organisation, ServiceToken
from integrations.network import outgoing
from tests.clients import log_in
from tests.commands import run_command
from tests.dns_world import Dns, resolve
from tests.integrations.providers.imap.box import Box
from tests.mail_world import PASSWORD, needs_dovecot

pytestmark = [needs_dovecot, pytest.mark.django_db]
ADDRESS, HOST = "maya@office.test", "mail.office.test"
ELSEWHERE = "mail.elsewhere.test"


@pytest.fixture
def dns(dns: Dns, box: Box, monkeypatch: pytest.MonkeyPatch) -> Dns:
    """It names the mail server under the address's own domain."""
    resolve(monkeypatch, {HOST: "127.0.0.1", ELSEWHERE: "127.0.0.1"})
    name(dns, box, HOST)
    return dns


def name(dns: Dns, box: Box, host: str) -> None:
    dns.srv("_imaps._tcp.office.test", f"0 0 {box.world.imap} {host}.")
    dns.srv("_submission._tcp.office.test", f"0 0 {box.world.smtp} {host}.")


@pytest.fixture
def knocked_at(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Servers that were connected to."""
    found, really = list[tuple[str, int]](), outgoing.connect

    def connect(host: str, port: int, *, seconds: float) -> Any:
        sock = really(host, port, seconds=seconds)
        found.append((host, port))
        return sock

    monkeypatch.setattr(outgoing, "connect", connect)
    return found


@pytest.fixture
def organisation() -> Organisation:
    return Organisation.objects.create(slug="acme", name="Acme")


@pytest.fixture
def token(organisation: Organisation) -> str:
    fields = {"name": "web", "scopes": ["accounts"], "user_ids": ["maya"]}
    return ServiceToken.issue(organisation=organisation, **fields)[1]


def call(token: str, path: str, **more: Any) -> Any:
    return Client().post(
        f"/api/v1/accounts{path}",
        json.dumps({"user_id": "maya", **more}),
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )


def signed_in_at(account: Account) -> tuple[str, str]:
    found = credentials.open_sign_in(account.ref()).servers
    return found["imap"]["host"], found["smtp"]["host"]


def test_by_the_api(box: Box, dns: Dns, token: str) -> None:
    tried = call(token, "/try", address=ADDRESS, password=PASSWORD)

    assert tried.status_code == 200, tried.json()
    assert tried.json()["server"] == HOST
    grades = {one["what"]: one["grade"] for one in tried.json()["abilities"]}
    assert grades["Send, answer and forward"] == "C"
    assert call(token, "", offer=tried.json()["offer"]).status_code == 201
    assert signed_in_at(Account.objects.get(address=ADDRESS)) == (HOST, HOST)


def test_on_the_page(box: Box, dns: Dns, organisation: Organisation) -> None:
    client = log_in("olga", "view_account", "add_account", "change_account")
    page = f"{reverse('admin:integrations_account_connect')}?organisation=acme"
    fields = {"user_id": "maya", "address": ADDRESS, "password": PASSWORD, "time_zone": "UTC"}

    shown = client.post(page, fields).content.decode()

    assert "Send, answer and forward</strong>: grade C" in shown
    offer = re.search(r'name="offer" value="([^"]+)"', shown)
    assert offer is not None
    client.post(page, {"offer": offer[1]})
    assert signed_in_at(Account.objects.get(address=ADDRESS)) == (HOST, HOST)

    name(dns, box, ELSEWHERE)
    refused = client.post(page, fields).content.decode()
    assert f"names {ELSEWHERE}:{box.world.imap} and {ELSEWHERE}:" in refused
    assert 'name="offer"' not in refused


def test_by_the_command(
    box: Box, dns: Dns, organisation: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REMIT_MAIL_PASSWORD", PASSWORD)

    said = run_command("connect_mailbox", ADDRESS, user="maya", organisation="acme")

    assert f"Signed in at {HOST}: 0 mails in the inbox." in said
    assert signed_in_at(Account.objects.get(address=ADDRESS)) == (HOST, HOST)


def test_a_server_of_another_site_gets_the_password_once_its_user_names_it(
    box: Box, dns: Dns, token: str, knocked_at: list[tuple[str, int]]
) -> None:
    name(dns, box, ELSEWHERE)

    refused = call(token, "/try", address=ADDRESS, password=PASSWORD)

    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "cannot_connect")
    assert refused.json()["error"]["message"] == (
        f"The DNS of office.test names {ELSEWHERE}:{box.world.imap} and "
        f"{ELSEWHERE}:{box.world.smtp}, which is another site. Nothing was sent there, the "
        "password neither. Name that server, if it is the right one."
    )
    assert knocked_at == []
    imap = {"host": HOST, "port": box.world.imap}
    named = call(token, "/try", address=ADDRESS, password=PASSWORD, imap=imap)
    assert named.status_code == 200, named.json()
    assert knocked_at == [(HOST, box.world.imap)]


def test_the_command_names_another_site_too(
    box: Box,
    dns: Dns,
    organisation: Organisation,
    monkeypatch: pytest.MonkeyPatch,
    knocked_at: list[tuple[str, int]],
) -> None:
    monkeypatch.setenv("REMIT_MAIL_PASSWORD", PASSWORD)
    dns.srv("_jmap._tcp.office.test", "0 0 443 jmap.elsewhere.test.")
    where = {"user": "maya", "organisation": "acme"}

    said = run_command("connect_mailbox", ADDRESS, **where, try_only=True)

    assert said.startswith("Over JMAP: The DNS of office.test names jmap.elsewhere.test:443, which")
    assert f"So it is tried over IMAP.\nSigned in at {HOST}:" in said
    before = list(knocked_at)
    name(dns, box, ELSEWHERE)
    with pytest.raises(CommandError, match=f"names {ELSEWHERE}:{box.world.imap} and"):
        run_command("connect_mailbox", ADDRESS, **where)
    assert knocked_at == before
    assert not Account.objects.filter(address=ADDRESS).exists()


def test_a_name_without_a_certificate_gets_no_password(box: Box, dns: Dns, token: str) -> None:
    """Who forges DNS has none for the domain."""
    elsewhere = "other.office.test"
    with pytest.MonkeyPatch.context() as monkeypatch:
        resolve(monkeypatch, {elsewhere: "127.0.0.1"})
        name(dns, box, elsewhere)
        refused = call(token, "/try", address=ADDRESS, password=PASSWORD)

    assert refused.status_code == 422
    assert (
        f"The certificate of {elsewhere} is for another name. Nothing was sent to it"
        in (refused.json()["error"]["message"])
    )


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_a_private_address_is_not_knocked_at(
    box: Box,
    dns: Dns,
    token: str,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    knocked_at: list[tuple[str, int]],
    address: str,
) -> None:
    settings.OUTGOING_TO_PRIVATE = False
    dns.srv("_imaps._tcp.office.test", f"0 0 993 {HOST}.")
    dns.srv("_submission._tcp.office.test", f"0 0 587 {HOST}.")
    resolve(monkeypatch, {HOST: address})

    refused = call(token, "/try", address=ADDRESS, password=PASSWORD)

    assert refused.status_code == 422
    assert refused.json()["error"]["message"] == (
        "The name leads to an address that is not public."
    )
    assert knocked_at == []


def test_only_ports_of_mail_servers_are_knocked_at(
    box: Box, dns: Dns, token: str, settings: Any, knocked_at: list[tuple[str, int]]
) -> None:
    settings.OUTGOING_TO_PRIVATE = False
    dns.srv("_imaps._tcp.office.test", f"0 0 22 {HOST}.")

    refused = call(token, "/try", address=ADDRESS, password=PASSWORD)

    assert "Port 22 is none of a mail server." in refused.json()["error"]["message"]
    assert knocked_at == []
