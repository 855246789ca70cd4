"""A mailbox over JMAP is tried before anything is stored, and its command prefers it."""

import json
import re
from typing import Any

import pytest
from django.core.management.base import CommandError
from django.urls import reverse

from integrations.credentials import credentials
from integrations.exceptions import Rejected, Unavailable
from integrations.models import Account, Credential, ServiceToken
from integrations.network import http
from integrations.providers.jmap import trial
from integrations.providers.jmap.session import SignInRefused
from tests.clients import log_in_superuser
from tests.commands import run_command
from tests.cyrus_world import needs_cyrus
from tests.dns_world import Dns, resolve
from tests.integrations.providers.jmap.box import Box
from tests.mail_world import PASSWORD

pytestmark = [needs_cyrus, pytest.mark.django_db]


def test_a_trial_says_what_can_be_done_and_learns_who_checks_senders(box: Box) -> None:
    for _ in range(10):
        box.deliver(Authentication_Results="mail.office.test; dmarc=pass")

    tried = trial.try_server(box.world.url, user_name=box.address, secret=PASSWORD)

    assert tried.mails == 10
    assert tried.server.session == f"https://127.0.0.1:{box.world.jmap}/jmap"
    assert (tried.server.scheme, tried.server.checks_as) == ("basic", "mail.office.test")
    assert {one.what: one.grade for one in tried.abilities} == {
        "Read and search": "A",
        "Mark as read": "B",
        "Label": "B",
        "Archive and move": "B",
        "Put into the trash": "B",
        "Write drafts and take them back": "B",
        "Send, answer and forward": "B",
        "Recall a sent mail": "",
        "Know who really sent a mail": "B",
    }


def test_a_trial_says_whether_and_for_how_long_mail_is_held_back(box: Box, settings: Any) -> None:
    settings.JMAP_RECALL_SECONDS = 30

    tried = trial.try_server(box.world.url, user_name=box.address, secret=PASSWORD)

    (found,) = (one for one in tried.abilities if one.what == "Recall a sent mail")
    assert (found.grade, "holds each mail back for 30 seconds" in found.why) == ("B", True)


def test_a_wrong_password_and_another_server_have_their_sentences(box: Box) -> None:
    with pytest.raises(SignInRefused, match="app password or a token"):
        trial.try_server(box.world.url, user_name=box.address, secret="wrong")
    with pytest.raises(Rejected, match="No mail server that speaks JMAP"):
        trial.try_server(
            box.world.url.replace("/.well-known/jmap", "/nothing"),
            user_name=box.address,
            secret=PASSWORD,
        )
    with pytest.raises(Unavailable, match="Nothing answers"):
        trial.try_server("https://127.0.0.1:9/", user_name=box.address, secret=PASSWORD)


def test_a_server_that_asks_for_a_sign_in_there_alone_speaks_jmap(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert trial.speaks(box.world.url)

    asked = []

    def exchange(upstream: Any, method: str, url: str, **sent: Any) -> http.Answer:
        asked.append((url, sent["headers"]))
        return http.Answer(status=401, headers={}, content=b"")

    monkeypatch.setattr(http, "exchange", exchange)
    assert not trial.speaks(box.world.url)  # it asks everywhere
    assert len(asked) == 2
    assert all("Authorization" not in headers for _, headers in asked)


def test_a_mailbox_is_where_dns_says(box: Box, dns: Dns, monkeypatch: pytest.MonkeyPatch) -> None:
    resolve(monkeypatch, {"jmap.office.test": "127.0.0.1"})
    dns.srv("_jmap._tcp.office.test", f"0 0 {box.world.jmap} jmap.office.test.")

    url = trial.find_url("maya@office.test")

    assert url == f"https://jmap.office.test:{box.world.jmap}/.well-known/jmap"
    assert trial.speaks(url)
    tried = trial.try_server(url, user_name=box.address, secret=PASSWORD)
    assert tried.server.session == f"https://jmap.office.test:{box.world.jmap}/jmap"
    dns.srv("_jmap._tcp.office.test", "0 0 443 jmap.evil.test.")
    with pytest.raises(Rejected, match=r"names jmap\.evil\.test:443, which is another site"):
        trial.find_url("maya@office.test")
    assert trial.find_url("maya@fastmail.com").startswith("https://api.fastmail.com/")


def test_the_command_prefers_it_and_takes_a_new_password(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    credentials.forget(box.account.id)
    Account.objects.filter(id=box.account.id).update(address="old@office.test")
    monkeypatch.setenv("REMIT_MAIL_PASSWORD", PASSWORD)
    monkeypatch.setattr(trial, "find_url", lambda address: box.world.url)
    who = {"user": "maya", "organisation": box.account.organisation_slug}

    said = run_command("connect_mailbox", box.address, **who)

    account = Account.objects.get(address=box.address)
    assert (account.source, account.kind) == ("jmap", "mail")
    assert account.allowed_actions.count() == 0
    assert "B  Send, answer and forward." in said
    assert "--source jmap import" in said
    assert credentials.open_sign_in(account.ref()).secret == PASSWORD

    credentials.ask_to_sign_in(account.id)
    run_command("connect_mailbox", box.address, **who)
    assert Credential.objects.get(account=account).state == "good"


def test_it_is_tried_shown_and_then_connected_on_the_page_and_by_the_api(box: Box) -> None:
    credentials.forget(box.account.id)
    Account.objects.filter(id=box.account.id).update(address="old@office.test")
    organisation = Account.objects.get(id=box.account.id).organisation
    asked = {"user_id": "maya", "address": box.address, "password": PASSWORD, "url": box.world.url}
    client = log_in_superuser("olga")
    page = reverse("admin:integrations_account_connect")
    page += f"?source=jmap&organisation={organisation.slug}"

    shown = client.post(page, asked | {"time_zone": "UTC"}).content.decode()

    assert "Send, answer and forward</strong>: grade B" in shown
    assert PASSWORD not in shown
    assert not Account.objects.filter(address=box.address).exists()
    offer = re.search(r'name="offer" value="([^"]+)"', shown)
    assert offer is not None
    client.post(page, {"offer": offer[1]})
    account = Account.objects.get(address=box.address)
    assert (account.source, account.allowed_actions.count()) == ("jmap", 0)
    assert credentials.open_sign_in(account.ref()).secret == PASSWORD

    credentials.forget(account.id)
    fields = {"name": "web", "scopes": ["accounts"], "user_ids": ["maya"]}
    token = ServiceToken.issue(organisation=organisation, **fields)[1]
    headers = {"Authorization": f"Bearer {token}"}
    tried = client.post(
        "/api/v1/accounts/try",
        json.dumps(asked | {"source": "jmap"}),
        content_type="application/json",
        headers=headers,
    )
    assert (tried.status_code, tried.json()["mails"]) == (200, 0), tried.json()
    assert not Credential.objects.filter(account=account).exists()
    offered = json.dumps({"user_id": "maya", "offer": tried.json()["offer"]})
    connected = client.post(
        "/api/v1/accounts", offered, content_type="application/json", headers=headers
    )
    assert connected.json()["source"] == "jmap"
    assert credentials.open_sign_in(account.ref()).secret == PASSWORD


def test_one_mailbox_is_not_connected_in_two_ways(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REMIT_MAIL_PASSWORD", PASSWORD)

    with pytest.raises(CommandError, match="connected over JMAP"):
        run_command(
            "connect_mailbox",
            box.address,
            user=box.account.external_user_id,
            organisation=box.account.organisation_slug,
            imap=f"127.0.0.1:{box.world.imap}",
        )

    assert not Account.objects.filter(address=box.address, source="imap").exists()


def test_a_refused_sign_in_is_not_tried_again(box: Box) -> None:
    box.world.set_password(box.address, "another")

    with pytest.raises(SignInRefused):
        box.reader.mailbox()

    assert Credential.objects.get(account_id=box.account.id).state == "sign_in"
    with pytest.raises(Exception, match="sign in again"):
        box.reader.mailbox()
