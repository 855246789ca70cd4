"""Trying and connecting GitHub: by the API, on the page and by the command."""

import json
import re
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from integrations.models import Account, Credential, Organisation, ServiceToken
from integrations.providers.github.servers import read_server
from integrations.web import pushes
from tests.clients import log_in, read_page
from tests.github_world import ADDRESS, TOKEN, GitHub
from tests.tracker_world import Refuse

pytestmark = pytest.mark.django_db
PLANS, OTHER = "octo/plans", "octo/reading"
PAGE = "admin:integrations_account_connect"
GRADES = ["A", "C", "C", "C", "C", ""]


@pytest.fixture
def organisation() -> Organisation:
    return Organisation.objects.create(slug="acme", name="Acme")


@pytest.fixture
def token(organisation: Organisation) -> str:
    fields = {"name": "web", "scopes": ["accounts"], "user_ids": ["nora"]}
    return ServiceToken.issue(organisation=organisation, **fields)[1]


def call(token: str, path: str, body: Any) -> Any:
    headers, address = {"Authorization": f"Bearer {token}"}, f"/api/v1/accounts{path}"
    return Client().post(
        address, json.dumps(body), content_type="application/json", headers=headers
    )


def wanted(github: GitHub, **more: Any) -> dict[str, Any]:
    usual = {"user_id": "nora", "source": "github_issues", "address": ADDRESS, "password": TOKEN}
    return {**usual, "url": github.origin, **more}


def test_what_can_be_done_is_said_before_anything_is_stored(github: GitHub, token: str) -> None:
    tried = call(token, "/try", wanted(github, projects=[PLANS])).json()

    assert [one["grade"] for one in tried["abilities"]] == GRADES
    assert (tried["projects"], tried["mails"], tried["calendars"]) == ([PLANS], None, None)
    assert TOKEN not in json.dumps(tried)
    assert (Account.objects.count(), github.writes) == (0, [])
    connected = call(token, "", {"user_id": "nora", "offer": tried["offer"]}).json()
    account = Account.objects.get(id=connected["id"])
    assert (account.kind, account.provider, connected["state"]) == ("issues", "github", "good")
    assert account.allowed_actions.count() == 0
    servers = Credential.objects.get().servers
    assert (servers["login"], servers["only"]) == ("nora-berg", [PLANS])


def test_a_token_that_may_only_read_is_said_to(github: GitHub, token: str) -> None:
    tried = call(token, "/try", wanted(github, projects=[OTHER])).json()

    grades = {one["what"]: one["grade"] for one in tried["abilities"]}
    assert (grades["Comment on issues"], grades["Set labels and assignees"]) == ("C", "")


@pytest.mark.parametrize(
    ("refusal", "sentence"),
    [
        (Refuse(401), "refused the sign-in. GitHub takes a personal access token"),
        (Refuse(403), "does not let this token read issues"),
        (Refuse(404), "answers, but not as GitHub does"),
        (Refuse(429, headers={"retry-after": "600"}), "takes no more requests now"),
        (Refuse(301, headers={"location": "https://elsewhere.test/"}), "not as GitHub does"),
    ],
)
def test_what_is_wrong_is_said(github: GitHub, token: str, refusal: Refuse, sentence: str) -> None:
    github.refuse = [refusal]

    answer = call(token, "/try", wanted(github))

    assert answer.status_code in (422, 503)
    assert sentence in answer.json()["error"]["message"]
    assert not Account.objects.exists()


def test_fields_of_other_kinds_are_refused(github: GitHub, token: str) -> None:
    refused = call(token, "/try", wanted(github, imap={"host": "imap.office.test"}))
    assert list(refused.json()["error"]["fields"]) == ["imap"]
    refused = call(token, "/try", {**wanted(github, projects=[PLANS]), "source": "caldav"})
    assert list(refused.json()["error"]["fields"]) == ["projects"]


def test_the_page_shows_it_and_then_where_pushes_go(
    github: GitHub, organisation: Organisation
) -> None:
    client = log_in("olga", "view_account", "add_account", "change_account")
    address = f"{reverse(PAGE)}?organisation=acme&source=github_issues"
    fields = wanted(github, time_zone="UTC", projects=f"{PLANS}, {OTHER}")

    shown = client.post(address, fields)

    assert f"Projects: {PLANS}, {OTHER}." in shown.content.decode()
    assert "<strong>Set priorities and due dates</strong>: not here" in shown.content.decode()
    offer = re.search(r'name="offer" value="([^"]+)"', shown.content.decode())
    assert offer
    client.post(address, {"offer": offer[1]})
    account = Account.objects.get()
    page = read_page(client, reverse("admin:integrations_account_change", args=[account.pk]))
    assert f"/webhooks/accounts/{account.pk}" in page
    assert pushes.secret_of(account.pk) in page
    assert TOKEN not in page


def test_the_command_connects_it(
    github: GitHub,
    organisation: Organisation,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("REMIT_MAIL_PASSWORD", TOKEN)
    about: dict[str, Any] = {"user": "nora", "organisation": "acme", "project": [PLANS]}
    about["url"] = github.origin

    call_command("connect_issues", "github", ADDRESS, try_only=True, **about)
    assert not Account.objects.exists()
    call_command("connect_issues", "github", ADDRESS, **about)

    said = capsys.readouterr().out
    assert f"Signed in at 127.0.0.1: {PLANS}." in said
    assert "  C  Create issues." in said
    assert Account.objects.get().source == "github_issues"
    monkeypatch.setenv("REMIT_MAIL_PASSWORD", "wrong")
    with pytest.raises(CommandError, match="refused the sign-in"):
        call_command("connect_issues", "github", ADDRESS, **about)


@pytest.mark.parametrize(
    ("text", "api"),
    [
        ("", "https://api.github.com"),
        ("github.com", "https://api.github.com"),
        ("https://www.github.com/octo", "https://api.github.com"),
        ("acme.ghe.com", "https://api.acme.ghe.com"),
        ("https://github.example.org", "https://github.example.org/api/v3"),
        ("github.example.org:8443", "https://github.example.org:8443/api/v3"),
    ],
)
def test_where_the_api_is(text: str, api: str) -> None:
    assert read_server(text).api == api
