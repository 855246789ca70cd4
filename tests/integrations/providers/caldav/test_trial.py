"""Calendars found, tried, and said in words, before anything is stored."""

from typing import Any

import pytest
from django.core.management.base import CommandError

from integrations.accounts import connectables
from integrations.exceptions import NotPermitted, Rejected, Unavailable
from integrations.models import Account, Credential
from integrations.network import http
from integrations.providers.caldav import trial
from tests.calendar_world import PASSWORD, USER
from tests.commands import run_command
from tests.dns_world import Dns, resolve
from tests.integrations.providers.caldav.box import Box
from tests.own_accounts import sign_in

pytestmark = pytest.mark.django_db


def test_what_can_be_done_is_said_with_its_grade(box: Box) -> None:
    found = trial.try_urls([box.server.origin], user_name=USER, secret=PASSWORD)

    told = "A" if box.server.name == "xandikos" else ""
    assert {one.what: one.grade for one in found.abilities} == {
        "Read and search": "A",
        "Create events": "A",
        "Change and cancel events": "A",
        "Invite people": told,
    }
    assert found.server.write_to == f"{box.server.origin}{box.server.calendar}"
    assert found.server.schedules is bool(told)
    assert box.server.held() == {}


def test_a_wrong_password_is_said_and_nothing_is_tried_on(box: Box) -> None:
    with pytest.raises(NotPermitted, match="refused the sign-in"):
        trial.try_urls([box.server.origin] * 2, user_name=USER, secret="wrong")


def test_the_server_is_found_behind_others_that_are_none(box: Box) -> None:
    urls = ["https://127.0.0.1:1/", f"{box.server.origin}/nothing/here"]

    found = trial.try_urls(urls, user_name=USER, secret=PASSWORD)

    assert found.server.write_to.startswith(box.server.origin)


def test_a_server_that_is_away_is_said_with_its_name(box: Box) -> None:
    with pytest.raises(Unavailable, match=r"127\.0\.0\.1:1 does not answer\."):
        trial.try_urls(["https://127.0.0.1:1/"], user_name=USER, secret=PASSWORD)


def test_a_certificate_that_nobody_vouches_for_is_said(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    http.close_clients()

    with pytest.raises(NotPermitted, match="certificate"):
        trial.try_urls([box.server.origin], user_name=USER, secret=PASSWORD)
    http.close_clients()


def test_nothing_is_sent_without_tls(box: Box) -> None:
    plain = box.server.origin.replace("https", "http")

    with pytest.raises(NotPermitted, match="https"):
        trial.try_urls([plain], user_name=USER, secret=PASSWORD)


@pytest.mark.parametrize(
    ("address", "first"),
    [
        ("maya@icloud.com", "https://caldav.icloud.com/.well-known/caldav"),
        ("maya@Example.org", "https://example.org/.well-known/caldav"),
    ],
)
def test_where_calendars_may_be(address: str, first: str) -> None:
    assert trial.find_urls(address)[0] == first


def test_calendars_are_where_dns_says(box: Box, dns: Dns, monkeypatch: pytest.MonkeyPatch) -> None:
    resolve(monkeypatch, {"dav.office.test": "127.0.0.1"})
    port = box.server.origin.rpartition(":")[2]
    dns.srv("_caldavs._tcp.office.test", f"0 0 {port} dav.office.test.")

    urls = trial.find_urls("nora@office.test")

    assert urls[:2] == (
        f"https://dav.office.test:{port}/.well-known/caldav",
        "https://office.test/.well-known/caldav",
    )
    found = trial.try_urls(urls, user_name=USER, secret=PASSWORD)
    assert found.server.write_to == f"https://dav.office.test:{port}{box.server.calendar}"

    dns.records["_caldavs._tcp.office.test.", "TXT"] = ('"path=/named/"',)
    assert trial.find_urls("nora@office.test")[0] == f"https://dav.office.test:{port}/named/"


@pytest.mark.parametrize(
    ("target", "why"), [(".", "no such service"), ("dav.evil.test.", "names dav.evil.test:443")]
)
def test_where_dns_says_there_are_none_or_names_another_site(
    dns: Dns, target: str, why: str
) -> None:
    dns.srv("_caldavs._tcp.office.test", f"0 0 443 {target}")

    with pytest.raises(Rejected, match=why):
        trial.find_urls("nora@office.test")


@pytest.mark.parametrize(
    ("address", "provider"), [("maya@gmail.com", "Google"), ("maya@outlook.com", "Microsoft")]
)
def test_who_signs_in_at_the_providers_page_is_sent_there(address: str, provider: str) -> None:
    title = connectables.of(f"{provider.lower()}_calendar").title
    with pytest.raises(Rejected, match=f"own page: choose “{title}”"):
        trial.find_urls(address)


@pytest.mark.parametrize("address", ["maya", "maya@", "a b@c.de"])
def test_where_there_are_none(address: str) -> None:
    with pytest.raises(Rejected):
        trial.find_urls(address)


def test_the_command_stores_a_sealed_password_and_takes_a_new_one(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REMIT_MAIL_PASSWORD", PASSWORD)
    name = {
        "user": "olga",
        "login": USER,
        "url": box.server.origin,
        "organisation": box.account.organisation_slug,
    }

    said = run_command("connect_calendar", "olga@office.test", **name, try_only=True)
    assert "A  Create events" in said
    assert not Account.objects.filter(external_user_id="olga").exists()
    for _ in range(2):
        run_command("connect_calendar", "olga@office.test", **name)

    row = Credential.objects.get(account__external_user_id="olga")
    assert (row.account.source, row.account.kind) == ("caldav", "calendar")
    assert PASSWORD.encode() not in bytes(row.sealed)
    assert PASSWORD not in str(row.servers)
    monkeypatch.setenv("REMIT_MAIL_PASSWORD", "wrong")
    with pytest.raises(CommandError, match="refused the sign-in"):
        run_command("connect_calendar", "olga@office.test", **name)
    assert Credential.objects.get(account=row.account).sealed == row.sealed


def test_a_refused_sign_in_is_not_tried_again(box: Box, settings: Any) -> None:
    sign_in(
        box.account.id,
        user_name=USER,
        servers=Credential.objects.get(account_id=box.account.id).servers,
        secret="wrong",
    )

    with pytest.raises(NotPermitted, match="refused"):
        box.look()
    assert Credential.objects.get(account_id=box.account.id).state == "sign_in"
    with pytest.raises(NotPermitted, match="sign in again"):
        box.look()
