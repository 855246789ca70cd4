"""Accounts tried over the web: calendars by the API and on the page, and what holds for every
kind. Over mailboxes see `tests/integrations/api` and `test_connecting.py`."""

import json
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from integrations.accounts import trials
from integrations.credentials import credentials
from integrations.exceptions import RateLimited, Rejected
from integrations.models import Account, Credential, Organisation, ServiceToken
from integrations.network import http
from integrations.providers.connectable import Given
from tests.calendar_world import ADDRESS, PASSWORD, USER, CalendarServer
from tests.clients import log_in, read_page

pytestmark = pytest.mark.django_db
PAGE = "admin:integrations_account_connect"


@pytest.fixture
def organisation() -> Organisation:
    return Organisation.objects.create(slug="acme", name="Acme")


@pytest.fixture
def token(organisation: Organisation) -> str:
    fields = {"name": "web", "scopes": ["accounts"], "user_ids": ["nora", "tom"]}
    return ServiceToken.issue(organisation=organisation, **fields)[1]


def call(token: str, path: str, body: Any = None) -> Any:
    headers, address = {"Authorization": f"Bearer {token}"}, f"/api/v1/accounts{path}"
    if body is None:
        return Client().get(address, headers=headers)
    return Client().post(
        address, json.dumps(body), content_type="application/json", headers=headers
    )


def wanted(server: CalendarServer, **more: Any) -> dict[str, Any]:
    return {
        "user_id": "nora",
        "source": "caldav",
        "address": ADDRESS,
        "user_name": USER,
        "password": PASSWORD,
        "url": server.origin,
        **more,
    }


def given(server: CalendarServer, **more: str) -> dict[str, str]:
    """The same as a form has it."""
    named: dict[str, str] = wanted(server, time_zone="UTC", **more)
    return {name: text for name, text in named.items() if name != "source"}


def test_calendars_are_tried_shown_and_only_then_stored(
    calendars: CalendarServer, token: str, settings: Any
) -> None:
    private, settings.CREDENTIALS_PRIVATE_KEY = settings.CREDENTIALS_PRIVATE_KEY, ""
    tells = "A" if calendars.name == "xandikos" else ""

    tried = call(token, "/try", wanted(calendars, display_name="Nora Berg"))

    assert tried.status_code == 200, tried.json()
    found = tried.json()
    assert (found["server"], found["mails"], len(found["calendars"])) == ("127.0.0.1", None, 1)
    assert [one["grade"] for one in found["abilities"]] == ["A", "A", "A", tells]
    assert PASSWORD not in tried.content.decode()
    assert not Account.objects.exists()
    assert calendars.held() == {}

    connected = connect(token, found["offer"])

    assert connected | {"id": ""} == {
        "id": "",
        "user_id": "nora",
        "source": "caldav",
        "address": ADDRESS,
        "display_name": "Nora Berg",
        "state": "good",
        "health": "Signed in. It has not been looked at yet.",
        "news": "looked",
        "bcc_self": False,
    }
    account = Account.objects.get(id=connected["id"])
    assert (account.kind, account.allowed_actions.count()) == ("calendar", 0)
    settings.CREDENTIALS_PRIVATE_KEY = private
    assert credentials.open_sign_in(account.ref()).secret == PASSWORD
    assert "somebody else" in message(call(token, "/try", wanted(calendars, user_id="tom")))


def connect(token: str, offer: str) -> dict[str, Any]:
    answer = call(token, "", {"user_id": "nora", "offer": offer})
    assert answer.status_code == 201, answer.json()
    found: dict[str, Any] = answer.json()
    return found


def message(answer: Any) -> str:
    return str(answer.json()["error"]["message"])


def test_calendars_are_disconnected_and_signed_in_again(
    calendars: CalendarServer, token: str
) -> None:
    def offer() -> str:
        return str(call(token, "/try", wanted(calendars)).json()["offer"])

    id = connect(token, offer())["id"]
    credentials.ask_to_sign_in(Account.objects.get(id=id).id)
    (shown,) = call(token, "?user_id=nora").json()
    assert (shown["source"], shown["state"]) == ("caldav", "sign_in")

    assert connect(token, offer())["id"] == id
    gone = call(token, f"/{id}/disconnect", {"user_id": "nora"}).json()

    assert (gone["id"], gone["state"]) == (id, "not_connected")
    assert not Credential.objects.exists()
    assert connect(token, offer()) | {"health": ""} == gone | {"state": "good", "health": ""}


def test_what_is_wrong_with_a_trial_is_said(
    calendars: CalendarServer, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def said(**more: Any) -> str:
        answer = call(token, "/try", wanted(calendars, **more))
        assert answer.status_code == 422, answer.json()
        return message(answer)

    assert "refused the sign-in. Most providers want an app password" in said(password="wrong")
    assert "127.0.0.1:1 does not answer." in said(url="127.0.0.1:1")
    assert "no address of a calendar server" in said(url="https://")
    fields = wanted(calendars, imap={"host": "imap.office.test"})
    refused = call(token, "/try", fields)
    assert (refused.status_code, list(refused.json()["error"]["fields"])) == (400, ["imap"])
    monkeypatch.delenv("SSL_CERT_FILE")
    http.close_clients()
    assert "from nobody whom this machine trusts. Nothing was sent to it" in said()
    assert not Account.objects.exists()


def test_staff_connect_calendars_for_a_user_who_is_offered(
    calendars: CalendarServer, organisation: Organisation
) -> None:
    Account.objects.create(
        organisation=organisation, external_user_id="nora", source="gmail", display_name="Nora B"
    )
    client = log_in("olga", "view_account", "add_account", "change_account")
    page = f"{reverse(PAGE)}?organisation=acme&source=caldav"
    asked = client.get(page).content.decode()
    assert '<option value="nora">Nora B</option>' in asked
    assert 'name="imap"' not in asked

    shown = read_form(client.post(page, given(calendars)).content.decode())
    assert "Create events</strong>: grade A" in shown
    assert "It will be an account of nora.</p>" in shown
    fresh = client.post(page, given(calendars, user_id="tom")).content.decode()
    assert "an account of tom, a user who is new here." in fresh
    assert not Account.objects.filter(source="caldav").exists()

    client.post(page, {"offer": offer_in(shown)})

    account = Account.objects.get(source="caldav")
    assert (account.external_user_id, account.organisation) == ("nora", organisation)
    own = reverse("admin:integrations_account_change", args=[account.id])
    assert "Signed in. It has not been looked at yet." in read_page(client, own)
    assert 'name="address"' not in client.get(own).content.decode()

    credentials.ask_to_sign_in(account.id)
    again = f"{reverse(PAGE)}?organisation=acme&account={account.id}"
    assert 'name="url"' in client.get(again).content.decode()
    client.post(page, {"offer": offer_in(client.post(again, given(calendars)).content.decode())})
    assert "Signed in." in read_page(client, own)

    client.post(reverse("admin:integrations_account_disconnect", args=[account.id]))
    assert "Not connected." in read_page(client, own)
    assert not Credential.objects.exists()


def read_form(html: str) -> str:
    return " ".join(html.split())


def offer_in(html: str) -> str:
    found = re.search(r'name="offer" value="([^"]+)"', html)
    assert found is not None, html
    return found[1]


def given_at(url: str) -> Given:
    return Given(address=ADDRESS, user_name=USER, secret=PASSWORD, url=url)


def test_four_are_tried_at_once_and_no_more(calendars: CalendarServer) -> None:
    asked = given_at(calendars.origin)
    taken = [trials._places.acquire(blocking=False) for _ in range(4)]
    try:
        assert taken == [True] * 4
        with pytest.raises(RateLimited, match="Others connect"):
            trials.try_it("caldav", asked)
    finally:
        for _ in taken:
            trials._places.release()
    assert trials.try_it("caldav", asked).host == "127.0.0.1"


def test_only_ports_of_calendar_servers_are_knocked_at(settings: Any) -> None:
    settings.OUTGOING_TO_PRIVATE = False

    with pytest.raises(Rejected, match=r"Port 22 .* manage\.py connect_calendar"):
        trials.try_it("caldav", given_at("https://example.org:22"))
