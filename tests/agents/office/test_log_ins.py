"""Logging in with the limits and the second factor, through the pages."""

import time
from collections import Counter
from typing import Any
from uuid import uuid4

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from django.contrib.auth.models import User
from django.core.cache import caches
from django.test import Client
from django.urls import reverse

from agents.office.log_ins import ACTION_TYPE
from audit.contracts import LEDGER_TENANT, Filters
from audit.ledger.selectors import actions
from integrations.models import SharedEntry
from tests.clients import client_of

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
LOG_IN = "/accounts/login/"
WRONG = "The username and/or password you specified are not correct."
LOCKED = "Too many wrong log-ins. Wait five minutes and try again"


@pytest.fixture
def name() -> str:
    """Of a superuser. What was tried stays in the cache: each test has people of its own."""
    found = f"olga-{uuid4().hex[:8]}"
    User.objects.create_superuser(found, password="right")
    return found


@pytest.fixture
def address() -> str:
    """From which somebody comes."""
    number = uuid4().int
    return f"10.{number % 250}.{number // 250 % 250}.{number // 62500 % 250}"


def try_to(name: str, password: str, address: str, client: Client | None = None) -> Any:
    given = {"login": name, "password": password}
    return (client or Client()).post(LOG_IN, given, REMOTE_ADDR=address)


def said(answer: Any) -> str:
    if answer.status_code == 302:
        return "in"
    text = answer.content.decode()
    return next((one for one in (WRONG, LOCKED, "Too many tries") if one in text), text)


def locks(address: str) -> list[dict[str, Any]]:
    filters = Filters(tenant_id=LEDGER_TENANT, action_type=ACTION_TYPE)
    rows = actions(filters=filters, limit=50).rows
    return [dict(row.payload) for row in rows if row.payload["address"] == address]


def test_of_forty_wrong_log_ins_five_are_answered_and_one_row_says_so(
    name: str, address: str
) -> None:
    answers = Counter(said(try_to(name, f"wrong {number}", address)) for number in range(40))

    assert answers[WRONG] == 5
    assert answers[LOCKED] + answers["Too many tries"] == 35
    assert locks(address) == [
        {
            "description": f"Too many wrong log-ins as {name}",
            "operator": name,
            "address": address,
            "seconds": 300,
        }
    ]


def test_every_web_process_sees_what_others_counted(name: str, address: str) -> None:
    before = SharedEntry.objects.count()
    for _ in range(5):
        try_to(name, "wrong", address)
    caches["quick"].clear()  # what this process keeps for itself is no part of it

    assert SharedEntry.objects.count() > before
    assert said(try_to(name, "right", address)) == LOCKED


def test_a_lock_holds_the_right_password_back_and_ends_by_itself(
    name: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        try_to(name, f"wrong {number}", address)
    assert said(try_to(name, "right", address)) == LOCKED
    now = time.time()

    monkeypatch.setattr(time, "time", lambda: now + 301)

    assert said(try_to(name, "right", address)) == "in"


def test_who_guesses_elsewhere_locks_nobody_out(name: str, address: str) -> None:
    for number in range(8):
        try_to(name, f"wrong {number}", address)

    assert said(try_to(name, "right", "192.0.2.7")) == "in"


def test_nobody_gets_another_address_by_a_header_unless_through_a_trusted_proxy(
    name: str, address: str, settings: Any
) -> None:
    def try_as(seen: str) -> str:
        return said(
            Client().post(
                LOG_IN,
                {"login": name, "password": "wrong"},
                REMOTE_ADDR=address,
                headers={"X-Forwarded-For": f"203.0.113.1, {seen}"},
            )
        )

    assert [try_as(f"198.18.0.{number}") for number in range(6)] == [*[WRONG] * 5, LOCKED]

    settings.TRUSTED_PROXIES = [address]

    assert try_as("198.18.0.7") == WRONG


def test_many_addresses_together_do_not_guess_on(name: str) -> None:
    answers = Counter(
        said(try_to(name, "wrong", f"198.51.{number}.{uuid4().int % 250}")) for number in range(40)
    )

    assert answers == {WRONG: 30, LOCKED: 10}


def test_what_is_no_name_is_not_written_down(address: str) -> None:
    for _ in range(6):
        try_to("my secret password", "x", address)

    assert locks(address) == [
        {
            "description": "Too many wrong log-ins as somebody who is not known",
            "operator": "",
            "address": address,
            "seconds": 300,
        }
    ]


def test_right_log_ins_count_for_nothing(name: str, address: str) -> None:
    assert {said(try_to(name, "right", address)) for _ in range(12)} == {"in"}


def test_the_admin_and_the_console_lead_to_the_one_way_in() -> None:
    for page in ("/admin/", "/console/"):
        answer = Client().get(page, follow=True)
        assert answer.redirect_chain[-1][0].startswith(LOG_IN)
        assert "Log in with a passkey" in answer.content.decode()


def test_nobody_signs_up_or_gets_a_password_by_mail() -> None:
    for page in ("signup/", "password/reset/", "email/"):
        assert Client().get(f"/accounts/{page}").status_code == 404


def code_of(secret: str) -> str:
    counter = next(totp.yield_hotp_counters_from_time())
    return str(totp.format_hotp_value(totp.hotp_value(secret, counter)))


def enrol(client: Client, password: str = "right") -> str:
    """Sets up an authenticator app; returns its secret."""
    client.post(reverse("account_reauthenticate"), {"password": password})
    page = client.get(reverse("mfa_activate_totp"))
    secret = str(page.context["form"].secret)
    answer = client.post(reverse("mfa_activate_totp"), {"code": code_of(secret)})
    assert answer.status_code == 302
    return secret


def test_where_a_second_factor_is_asked_for_nothing_is_open_without_one(
    name: str, address: str, settings: Any
) -> None:
    settings.SECOND_FACTOR = True
    client = Client()
    assert said(try_to(name, "right", address, client)) == "in"

    for page in ("/admin/", "/admin/guardrails/approval/", "/console/"):
        answer = client.get(page, follow=True)
        assert answer.redirect_chain == [(reverse("mfa_index"), 302)]
        assert "Set up a second factor first" in answer.content.decode()
    refused = client.get("/api/v1/conversations?user_id=maya")
    assert refused.status_code in (401, 403)
    assert "Set up a second factor" in refused.content.decode()

    enrol(client)

    assert client.get("/admin/").status_code == 200


def test_who_has_one_is_asked_for_it_and_a_code_counts_once(name: str, address: str) -> None:
    client = Client()
    try_to(name, "right", address, client)
    secret = enrol(client)
    assert secret not in str(Authenticator.objects.filter(user__username=name).values_list("data"))
    recovery = Authenticator.objects.get(user__username=name, type="recovery_codes")

    again = Client()
    asked = try_to(name, "right", address, again)
    assert asked["Location"].startswith(reverse("mfa_authenticate"))
    assert again.get("/admin/").status_code == 302  # not in yet
    code, one = code_of(secret), recovery.wrap().get_unused_codes()[0]
    assert again.post(reverse("mfa_authenticate"), {"code": code}).status_code == 302
    assert again.get("/admin/").status_code == 200

    for used, status in ((code, 200), (one, 302), (one, 200)):
        another = Client()
        try_to(name, "right", address, another)
        answer = another.post(reverse("mfa_authenticate"), {"code": used})
        assert answer.status_code == status


def test_codes_cannot_be_guessed_on(name: str, address: str) -> None:
    client = Client()
    try_to(name, "right", address, client)
    enrol(client)
    guessing = Client()
    try_to(name, "right", address, guessing)

    pages = [
        guessing.post(reverse("mfa_authenticate"), {"code": f"{number:06}"}).content.decode()
        for number in range(8)
    ]

    assert sum("Incorrect code." in page for page in pages) <= 5
    assert "Too many failed login attempts" in pages[-1]


def test_a_lost_second_factor_is_taken_away_by_a_superuser_alone(name: str) -> None:
    user = User.objects.get(username=name)
    row = Authenticator.objects.create(user=user, type="totp", data={"secret": "S3CR3T"})
    boss, staff = (
        User.objects.create_superuser(f"boss-{name}"),
        User.objects.create(username=f"staff-{name}", is_staff=True),
    )
    change = reverse("admin:mfa_authenticator_change", args=[row.pk])
    delete = reverse("admin:mfa_authenticator_delete", args=[row.pk])

    assert client_of(staff).post(delete, {"post": "yes"}).status_code == 403
    assert "S3CR3T" not in client_of(boss).get(change).content.decode()
    assert client_of(boss).post(delete, {"post": "yes"}).status_code == 302
    assert not Authenticator.objects.filter(user=user).exists()
