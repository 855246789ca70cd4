"""What connecting files says before anything is stored."""

import json
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from integrations.exceptions import NotFound, NotPermitted, Rejected, Unavailable
from integrations.models import Account, Credential, Organisation, ServiceToken
from integrations.providers.webdav import trial
from tests.clients import log_in, read_page
from tests.commands import run_command
from tests.file_world import ADDRESS, PASSWORD, USER, FileServer, needs_files

pytestmark = [needs_files, pytest.mark.django_db]


@pytest.fixture
def organisation() -> Organisation:
    return Organisation.objects.create(slug="acme", name="Acme")


def grades(server: FileServer, readers: list[str] | None) -> str:
    found = trial.try_url(server.origin, user_name=USER, secret=PASSWORD, readers=readers)
    return "".join(one.grade or "-" for one in found.abilities)


def test_nothing_is_written_where_nobody_knows_who_reads_it(files: FileServer) -> None:
    assert grades(files, []) == grades(files, ["tom@office.test"]) == "AAAB--"
    assert grades(files, None) == "A-----"
    assert files.held() == {}


def test_what_is_wrong_is_said(files: FileServer) -> None:
    files.put("a.txt", "x")

    def said(error: type[Exception], url: str = files.origin, secret: str = PASSWORD) -> str:
        with pytest.raises(error) as caught:
            trial.try_url(trial.read_url(url), user_name=USER, secret=secret, readers=[])
        return str(caught.value)

    assert "refused the sign-in" in said(NotPermitted, secret="wrong")
    assert "no folder" in said(NotFound, f"{files.origin}a.txt")
    assert "does not answer" in said(Unavailable, "https://127.0.0.1:1/")
    with pytest.raises(Rejected, match="mail addresses"):
        grades(files, ["Tom"])


def test_the_command_shows_what_is_there_and_then_stores_it(
    files: FileServer, organisation: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.put("Clients/a.txt", "x")
    monkeypatch.setenv("REMIT_MAIL_PASSWORD", PASSWORD)
    named: dict[str, Any] = {"url": files.origin, "user": "nora", "login": USER, "private": True}
    named["organisation"] = organisation.slug
    assert "Clients" in run_command("connect_files", ADDRESS, **named, try_only=True)
    assert not Account.objects.exists()

    run_command("connect_files", ADDRESS, **named)

    row = Credential.objects.get(account__source="webdav")
    assert row.servers == {"home": files.origin, "readers": []}


def test_over_the_api_who_else_reads_it_is_part_of_what_is_tried(
    files: FileServer, organisation: Organisation
) -> None:
    files.put("Clients/a.txt", "x")
    about = {"name": "web", "scopes": ["accounts"], "user_ids": ["nora"]}
    _, token = ServiceToken.issue(organisation=organisation, **about)

    def call(path: str, **body: Any) -> Any:
        return Client().post(
            f"/api/v1/accounts{path}",
            json.dumps({"user_id": "nora", **body}),
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}"},
        )

    wanted = {"source": "webdav", "address": ADDRESS, "user_name": USER, "password": PASSWORD}
    assert "Name the folder." in call("/try", **wanted).content.decode()
    found = call("/try", **wanted, url=files.origin, readers=["tom@office.test"]).json()
    assert found["folders"] == ["Clients"]
    assert call("", offer=found["offer"]).status_code == 201
    row = Credential.objects.get(account__source="webdav")
    assert row.servers["readers"] == ["tom@office.test"]
    assert row.account.kind == "files"


@pytest.mark.parametrize(
    ("typed", "kept"),
    [("", None), ("Nobody", []), ("tom@a.test, ann@a.test", ["ann@a.test", "tom@a.test"])],
)
def test_on_the_page_staff_say_who_else_reads_it(
    files: FileServer, organisation: Organisation, typed: str, kept: list[str] | None
) -> None:
    client = log_in("olga", "view_account", "add_account", "change_account")
    page = f"{reverse('admin:integrations_account_connect')}?organisation=acme&source=webdav"
    given = {"user_id": "nora", "address": ADDRESS, "user_name": USER, "password": PASSWORD}
    given |= {"url": files.origin, "readers": typed, "time_zone": "UTC"}
    assert "Who else reads it" in read_page(client, page)

    shown = client.post(page, given).content.decode()
    found = re.search(r'name="offer" value="([^"]+)"', shown)
    assert found is not None
    client.post(page, {"offer": found[1]})

    assert Credential.objects.get(account__source="webdav").servers["readers"] == kept
