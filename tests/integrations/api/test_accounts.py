"""Mailboxes tried, connected and disconnected by their users' frontend."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from integrations.accounts import connecting
from integrations.api.accounts import TrialThrottle
from integrations.credentials import credentials
from integrations.exceptions import NotPermitted
from integrations.models import Account, Credential, Organisation, ServiceToken
from tests.integrations.providers.imap.box import Box
from tests.knowledge.office import account
from tests.mail_world import PASSWORD, needs_dovecot
from tests.own_accounts import PRIVATE

pytestmark = [needs_dovecot, pytest.mark.django_db]


@pytest.fixture
def token(box: Box) -> str:
    organisation = Organisation.objects.get(id=box.account.organisation_id)
    fields = {"name": "web", "scopes": ["accounts"], "user_ids": ["maya", "tom"]}
    return ServiceToken.issue(organisation=organisation, **fields)[1]


def call(token: str, path: str, body: Any = None) -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    address = f"/api/v1/accounts{path}"
    if body is None:
        return Client().get(address, headers=headers)
    return Client().post(
        address, json.dumps(body), content_type="application/json", headers=headers
    )


def patch(token: str, path: str, body: Any) -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    address = f"/api/v1/accounts{path}"
    return Client().patch(
        address, json.dumps(body), content_type="application/json", headers=headers
    )


def wanted(box: Box, **more: Any) -> dict[str, Any]:
    """A mailbox of Maya's own on the server."""
    return {
        "user_id": "maya",
        "address": f"maya-{uuid4().hex[:8]}@office.test",
        "password": PASSWORD,
        "imap": {"host": "127.0.0.1", "port": box.world.imap},
        "smtp": {"host": "127.0.0.1", "port": box.world.smtp, "security": "starttls"},
        **more,
    }


def test_a_mailbox_is_tried_shown_and_only_then_stored(box: Box, token: str, settings: Any) -> None:
    settings.CREDENTIALS_PRIVATE_KEY = ""  # as in the web process
    asked = wanted(box, display_name="Maya Berg", time_zone="Europe/Berlin")

    tried = call(token, "/try", asked)

    assert tried.status_code == 200, tried.json()
    found = tried.json()
    assert (found["server"], found["mails"]) == ("127.0.0.1", 0)
    assert [one["grade"] for one in found["abilities"]] == ["A", "B", "B", "B", "B", "B", "C", ""]
    assert all(one["why"] for one in found["abilities"])
    assert PASSWORD not in tried.content.decode()
    assert not Account.objects.filter(address=asked["address"]).exists()

    connected = call(token, "", {"user_id": "maya", "offer": found["offer"]})

    assert connected.status_code == 201
    assert connected.json() | {"id": ""} == {
        "id": "",
        "user_id": "maya",
        "source": "imap",
        "address": asked["address"],
        "display_name": "Maya Berg",
        "bcc_self": False,
        "state": "good",
        "health": "Signed in. It has not been looked at yet.",
        "news": "listened",
    }
    account = Account.objects.get(address=asked["address"])
    assert (account.allowed_actions.count(), account.time_zone) == (0, "Europe/Berlin")
    with pytest.raises(NotPermitted):
        credentials.open_sign_in(account.ref())
    settings.CREDENTIALS_PRIVATE_KEY = PRIVATE
    assert credentials.open_sign_in(account.ref()).secret == PASSWORD
    assert [one["id"] for one in call(token, "?user_id=maya").json()] == [str(account.id)]


def test_what_goes_wrong_is_a_sentence_and_stores_nothing(box: Box, token: str) -> None:
    before = Account.objects.count()

    wrong = call(token, "/try", wanted(box, password="wrong"))
    away = call(token, "/try", wanted(box, imap={"host": "127.0.0.1", "port": 1}))
    zone = call(token, "/try", wanted(box, time_zone="Mars"))
    taken = call(token, "/try", wanted(box, address=box.address))
    outlook = call(token, "/try", {**wanted(box, address="m@outlook.com"), "imap": {"host": ""}})

    assert (wrong.status_code, wrong.json()["error"]["code"]) == (422, "cannot_connect")
    assert "app password" in wrong.json()["error"]["message"]
    assert "does not answer at port 1" in away.json()["error"]["message"]
    assert (zone.status_code, list(zone.json()["error"]["fields"])) == (400, ["time_zone"])
    assert "connected for somebody else" in taken.json()["error"]["message"]
    assert outlook.status_code == 400
    assert Account.objects.count() == before


def test_an_offer_is_good_for_who_asked_for_ten_minutes(
    box: Box, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer = call(token, "/try", wanted(box)).json()["offer"]

    for body in (
        {"user_id": "tom", "offer": offer},
        {"user_id": "maya", "offer": offer[:-1] + ("a" if offer[-1] != "a" else "b")},
        {"user_id": "maya", "offer": "nonsense"},
    ):
        assert call(token, "", body).status_code == 422
    monkeypatch.setattr(connecting, "GOOD_FOR", -1)
    assert (
        "ten minutes"
        in call(token, "", {"user_id": "maya", "offer": offer}).json()["error"]["message"]
    )
    assert not Account.objects.filter(external_user_id="maya").exists()


def test_a_copy_of_what_goes_out_is_switched_on_and_off(box: Box, token: str) -> None:
    offer = call(token, "/try", wanted(box)).json()["offer"]
    id = call(token, "", {"user_id": "maya", "offer": offer}).json()["id"]
    office = Organisation.objects.get(id=box.account.organisation_id)
    files = account(source="webdav", organisation=office)

    assert patch(token, f"/{id}?user_id=maya", {"bcc_self": True}).json()["bcc_self"] is True
    assert patch(token, f"/{id}?user_id=maya", {}).json()["bcc_self"] is True
    assert Account.objects.get(id=id).bcc_self
    refused = patch(token, f"/{id}?user_id=tom", {"bcc_self": False})
    unnamed = patch(token, f"/{id}", {"bcc_self": False})
    nothing = patch(token, f"/{files.id}?user_id=maya", {"bcc_self": True})

    assert (refused.status_code, unnamed.status_code) == (404, 400)
    assert nothing.status_code == 400
    assert nothing.json()["error"]["fields"] == {
        "bcc_self": "Only mail that is sent over SMTP needs a copy."
    }
    assert Account.objects.get(id=id).bcc_self
    assert not Account.objects.get(id=files.id).bcc_self
    assert patch(token, f"/{id}?user_id=maya", {"bcc_self": False}).json()["bcc_self"] is False
    assert not Account.objects.get(id=id).bcc_self


def test_disconnecting_forgets_the_password_and_nothing_else(box: Box, token: str) -> None:
    offer = call(token, "/try", wanted(box)).json()["offer"]
    id = call(token, "", {"user_id": "maya", "offer": offer}).json()["id"]

    assert call(token, f"/{id}/disconnect", {"user_id": "tom"}).status_code == 404
    assert Credential.objects.filter(account_id=id).exists()
    gone = call(token, f"/{id}/disconnect", {"user_id": "maya"})

    assert gone.json()["state"] == "not_connected"
    assert not Credential.objects.filter(account_id=id).exists()
    assert Account.objects.filter(id=id).exists()

    again = call(token, "", {"user_id": "maya", "offer": offer}).json()
    assert (again["id"], again["state"]) == (id, "good")


def test_a_user_signs_in_again_and_keeps_the_account(box: Box, token: str) -> None:
    asked = wanted(box)
    offer = call(token, "/try", asked).json()["offer"]
    id = call(token, "", {"user_id": "maya", "offer": offer}).json()["id"]
    credentials.ask_to_sign_in(Account.objects.get(id=id).id)
    (shown,) = call(token, "?user_id=maya").json()
    assert shown["state"] == "sign_in"
    assert "Sign in again" in shown["health"]

    offer = call(token, "/try", asked).json()["offer"]
    again = call(token, "", {"user_id": "maya", "offer": offer}).json()

    assert (again["id"], again["state"]) == (id, "good")


def test_who_may_not_connect_or_asks_too_often_tries_nothing(
    box: Box, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    organisation = Organisation.objects.get(id=box.account.organisation_id)
    chat = ServiceToken.issue(organisation=organisation, name="chat", scopes=["chat"])[1]
    assert call(chat, "/try", wanted(box)).status_code == 403
    assert call(token, "/try", wanted(box, user_id="nina")).status_code == 404
    assert call(token, "?user_id=nina").status_code == 404
    assert call(token, "").status_code == 400

    monkeypatch.setattr(TrialThrottle, "rate", "1/hour")
    call(token, "/try", wanted(box, user_id="tom"))
    assert call(token, "/try", wanted(box, user_id="tom")).status_code == 429


def test_ports_of_other_servers_are_not_knocked_at(box: Box, token: str, settings: Any) -> None:
    settings.OUTGOING_TO_PRIVATE = False

    refused = call(token, "/try", wanted(box, imap={"host": "example.org", "port": 22}))

    assert "Port 22" in refused.json()["error"]["message"]


def test_without_a_key_nothing_is_offered(box: Box, token: str, settings: Any) -> None:
    settings.CREDENTIALS_PUBLIC_KEY = settings.CREDENTIALS_PRIVATE_KEY = ""

    assert call(token, "/try", wanted(box)).json()["error"]["code"] == "no_key"
