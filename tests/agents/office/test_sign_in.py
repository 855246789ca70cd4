"""Logging in at a real provider of OpenID Connect, through the pages, and what attackers try."""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.test import Client
from joserfc.jwk import RSAKey

from audit.contracts import LEDGER_TENANT, Filters
from audit.ledger.selectors import actions
from config.pages.single_sign_on import SingleSignOn
from integrations.models import Membership, Organisation, SignInIdentity
from integrations.network import http
from tests.oidc_world import (
    CLIENT_ID,
    CLIENT_SECRET,
    OidcProvider,
    new_key,
    running_oidc,
    signed_by_text,
    unsigned,
)

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
BEGIN, FINISH, LOG_IN = "/accounts/oidc/", "/accounts/oidc/finish/", "/accounts/login/"
UNVERIFIED = "could not be verified"
NOT_BEGUN = "This is no answer to a log-in that was begun here"
UNKNOWN = "Nobody here is known by this log-in"
AWAY = "Company Login does not answer. Log in with your password, or try again later."


@pytest.fixture(scope="module")
def running() -> Iterator[OidcProvider]:
    with running_oidc() as provider:
        yield provider


@pytest.fixture
def provider(
    running: OidcProvider, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[OidcProvider]:
    """Configured, without either switch; who comes has a subject of their own."""
    monkeypatch.setenv("SSL_CERT_FILE", str(running.trusted))
    http.close_clients()
    caches["quick"].clear()
    running.reset()
    running.person = {"sub": f"sub-{uuid4().hex}"}
    organisation = Organisation.objects.create(slug=f"bank-{uuid4().hex[:8]}", name="Bank")
    settings.SINGLE_SIGN_ON = SingleSignOn(
        issuer=running.origin,
        client_id=CLIENT_ID,
        client_secret=CLIENT_SECRET,
        name="Company Login",
        organisation=organisation.slug,
        binds_by_mail=False,
        creates_users=False,
    )
    yield running
    http.close_clients()


def switch(settings: Any, **values: Any) -> None:
    settings.SINGLE_SIGN_ON = replace(settings.SINGLE_SIGN_ON, **values)


def person(**values: Any) -> User:
    """Of the staff."""
    return User.objects.create(username=f"olga-{uuid4().hex[:8]}", is_staff=True, **values)


def bound(provider: OidcProvider, **values: Any) -> User:
    """The user whose identity the person at the provider has."""
    user = person(**values)
    SignInIdentity.objects.create(user=user, issuer=provider.origin, subject=provider.person["sub"])
    return user


def member(settings: Any, *, mail: str = "", **values: Any) -> User:
    user = person(email=mail or f"{uuid4().hex}@bank.example", **values)
    organisation = Organisation.objects.get(slug=settings.SINGLE_SIGN_ON.organisation)
    Membership.objects.create(user=user, organisation=organisation)
    return user


def begin(client: Client, following: str = "") -> str:
    answer = client.get(BEGIN, {"next": following} if following else {})
    assert answer.status_code == 302
    return str(answer["Location"])


def come(provider: OidcProvider, client: Client | None = None, following: str = "") -> Any:
    """All of a log-in; the answer to who came back."""
    client = client or Client()
    return client.get(FINISH, provider.agree(begin(client, following)))


def said(client: Client, answer: Any) -> str:
    """What the page for logging in says to who was refused."""
    assert answer["Location"] == LOG_IN
    assert who(client) is None
    return str(client.get(LOG_IN).content.decode())


def who(client: Client) -> str | None:
    return client.session.get("_auth_user_id")


def rows(action_type: str) -> list[dict[str, Any]]:
    filters = Filters(tenant_id=LEDGER_TENANT, action_type=action_type)
    return [dict(row.payload) for row in actions(filters=filters, limit=20).rows]


def reasons(provider: OidcProvider) -> list[str]:
    found = rows("login.refused")
    return [row["reason"] for row in found if row["subject"] == provider.person["sub"]]


def test_a_bound_identity_logs_in_and_the_ledger_says_how(provider: OidcProvider) -> None:
    user, client = bound(provider, is_superuser=True), Client()

    answer = come(provider, client, "/admin/auth/user/")

    assert answer["Location"] == "/admin/auth/user/"
    assert who(client) == str(user.pk)
    assert client.get("/admin/").status_code == 200
    assert rows("login.succeeded")[0] == {
        "description": f"{user.username} logged in",
        "operator": user.username,
        "address": "127.0.0.1",
        "by": ["oidc"],
    }
    assert SignInIdentity.objects.get(user=user).last_used_at is not None
    client.post("/accounts/logout/")
    assert who(client) is None


def test_a_password_is_in_the_ledger_too() -> None:
    user = person()
    user.set_password("right")
    user.save()

    Client().post(LOG_IN, {"login": user.username, "password": "right"})

    assert rows("login.succeeded")[0]["operator"] == user.username
    assert rows("login.succeeded")[0]["by"] == ["password"]


def test_the_provider_is_asked_for_a_code_with_pkce_state_and_nonce(
    provider: OidcProvider,
) -> None:
    page = begin(Client())
    asked = {name: values[0] for name, values in parse_qs(urlsplit(page).query).items()}

    assert page.startswith(f"{provider.origin}/authorize?")
    assert asked["response_type"] == "code"
    assert asked["scope"] == "openid email profile"
    assert asked["code_challenge_method"] == "S256"
    assert len({asked["state"], asked["nonce"], asked["code_challenge"]}) == 3
    assert all(len(asked[name]) == 43 for name in ("state", "nonce", "code_challenge"))
    assert CLIENT_SECRET not in page


def test_who_is_not_bound_hears_what_to_give_an_administrator(provider: OidcProvider) -> None:
    client, before = Client(), User.objects.count()

    page = said(client, come(provider, client))

    assert UNKNOWN in page
    assert provider.person["sub"] in page
    assert User.objects.count() == before
    assert reasons(provider) == ["identity_unknown"]
    come(provider, client)
    assert reasons(provider) == ["identity_unknown"]


def test_a_disabled_user_stays_out(provider: OidcProvider) -> None:
    bound(provider, is_active=False)
    client = Client()

    assert "Your account here is disabled" in said(client, come(provider, client))
    assert reasons(provider) == ["user_disabled"]
    assert SignInIdentity.objects.get(subject=provider.person["sub"]).last_used_at is None


def test_another_subject_with_the_same_mail_is_somebody_else(provider: OidcProvider) -> None:
    user = bound(provider, email="olga@bank.example")
    provider.person = {"sub": "another", "email": user.email, "email_verified": True}
    client = Client()

    assert UNKNOWN in said(client, come(provider, client))


@pytest.mark.parametrize(
    ("forged", "changes"),
    [
        ("wrong nonce", {"nonce": "another"}),
        ("no nonce", {"nonce": None}),
        ("token for another client", {"aud": ["another"]}),
        ("for several, and issued to another", {"aud": [CLIENT_ID, "b"], "azp": "b"}),
        ("wrong issuer", {"iss": "https://evil.example"}),
        ("expired", {"exp": 1_000_000_000}),
        ("not yet valid", {"nbf": 4_000_000_000}),
        ("of the future", {"iat": 4_000_000_000}),
        ("without an end", {"exp": None}),
        ("without a subject", {"sub": None}),
        ("an empty subject", {"sub": ""}),
        ("a subject that is no text", {"sub": ["x"]}),
        ("of another access token", {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}),
    ],
)
def test_a_token_that_says_something_else_logs_nobody_in(
    provider: OidcProvider, forged: str, changes: dict[str, Any]
) -> None:
    bound(provider)
    provider.forge = lambda claims: provider.sign(
        {name: value for name, value in (claims | changes).items() if value is not None}
    )
    client = Client()

    assert UNVERIFIED in said(client, come(provider, client)), forged


def test_a_signature_that_is_not_the_providers_logs_nobody_in(provider: OidcProvider) -> None:
    bound(provider)
    public = provider.key.as_pem(private=False)
    same = RSAKey.import_key(provider.key.as_pem(private=True), {"kid": "first"})
    stranger = new_key("first")
    provider.described = {"id_token_signing_alg_values_supported": ["RS256", "HS256", "none"]}
    forges = {
        "alg none": unsigned,
        "HS256 with the public key": lambda claims: signed_by_text(claims, public),
        "another key under its name": lambda claims: provider.sign(claims, key=stranger),
        "a key that nobody has": lambda claims: provider.sign(claims, kid="third"),
        "an algorithm that is not offered": lambda claims: provider.sign(
            claims, key=same, alg="RS512"
        ),
        "no token": lambda claims: "",
        "no JSON": lambda claims: "a.b.c",
    }
    for forged, provider.forge in forges.items():
        client = Client()
        assert UNVERIFIED in said(client, come(provider, client)), forged

    provider.forge = provider.sign
    assert come(provider)["Location"] == "/admin/"  # the forger's own work is not what is refused


def test_a_new_key_of_the_provider_is_known_at_once(provider: OidcProvider) -> None:
    bound(provider)
    assert come(provider)["Location"] == "/admin/"
    provider.key = new_key("second")
    try:
        assert come(provider)["Location"] == "/admin/"
        old, client = new_key("first"), Client()
        provider.forge = lambda claims: provider.sign(claims, key=old)
        assert UNVERIFIED in said(client, come(provider, client))
    finally:
        provider.key = new_key("first")


def test_an_answer_counts_once_and_only_where_it_was_begun(provider: OidcProvider) -> None:
    bound(provider)
    client, elsewhere, never = Client(), Client(), Client()
    answer = provider.agree(begin(client))
    begin(elsewhere)

    assert NOT_BEGUN in said(never, never.get(FINISH, answer))
    assert NOT_BEGUN in said(elsewhere, elsewhere.get(FINISH, answer))
    assert provider.requests.count("/token") == 0
    assert client.get(FINISH, answer)["Location"] == "/admin/"
    client.logout()
    assert NOT_BEGUN in said(client, client.get(FINISH, answer))
    assert provider.requests.count("/token") == 1


def test_a_code_of_another_log_in_is_worth_nothing(provider: OidcProvider) -> None:
    """Injected into the victim's own log-in, a code has another verifier, and another nonce."""
    bound(provider)
    attacker, victim = Client(), Client()
    stolen = provider.agree(begin(attacker))
    own = provider.agree(begin(victim))

    answer = victim.get(FINISH, own | {"code": stolen["code"]})

    assert "did not confirm the log-in" in said(victim, answer)
    assert provider.requests.count("/jwks") == 0


def test_answers_of_another_issuer_late_ones_and_refusals_log_nobody_in(
    provider: OidcProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound(provider)
    for change, sentence in (
        ({"iss": "https://evil.example"}, NOT_BEGUN),
        ({"error": "access_denied"}, "Company Login did not log you in"),
        ({"code": ""}, NOT_BEGUN),
    ):
        client = Client()
        answer = provider.agree(begin(client)) | change
        assert sentence in said(client, client.get(FINISH, answer))
    client = Client()
    answer = provider.agree(begin(client))
    now = time.time()
    monkeypatch.setattr("integrations.web.oidc.time.time", lambda: now + 601)

    refused = client.get(FINISH, answer)

    monkeypatch.undo()
    assert NOT_BEGUN in said(client, refused)
    assert provider.requests.count("/token") == 0


@pytest.mark.parametrize(
    "address",
    ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"],
)
def test_nobody_is_sent_to_another_site(provider: OidcProvider, address: str) -> None:
    bound(provider)

    assert come(provider, following=address)["Location"] == "/admin/"


def test_where_the_provider_is_away_the_page_says_so_and_a_password_works(
    provider: OidcProvider,
) -> None:
    user = bound(provider)
    user.set_password("right")
    user.save()
    client = Client()
    answer = provider.agree(begin(client))
    provider.is_down = True

    assert AWAY in said(client, client.get(FINISH, answer))
    caches["quick"].clear()
    provider.requests.clear()
    for _ in range(3):
        assert AWAY in said(client, client.get(BEGIN))
    assert provider.requests == ["/.well-known/openid-configuration"]
    client.post(LOG_IN, {"login": user.username, "password": "right"})
    assert who(client) == str(user.pk)


@pytest.mark.parametrize(
    "described",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": "http://127.0.0.1/token"},
        {"jwks_uri": None},
        {"id_token_signing_alg_values_supported": "RS256"},
    ],
)
def test_a_provider_that_describes_itself_wrongly_is_not_gone_to(
    provider: OidcProvider, described: dict[str, Any]
) -> None:
    provider.described, client = described, Client()

    assert "says of itself is not right" in said(client, client.get(BEGIN))


def test_by_mail_somebody_is_bound_once_where_that_is_switched_on(
    provider: OidcProvider, settings: Any
) -> None:
    user = member(settings)
    mail = {"email": user.email.upper(), "email_verified": True}
    provider.person |= mail
    client = Client()
    assert UNKNOWN in said(client, come(provider, client))
    switch(settings, binds_by_mail=True)

    come(provider, client)

    assert who(client) == str(user.pk)
    identity = SignInIdentity.objects.get(user=user)
    assert (identity.subject, identity.by_mail) == (provider.person["sub"], True)
    assert rows("login.bound")[0]["operator"] == user.username
    provider.person = {"sub": provider.person["sub"]}  # from here on the subject counts
    assert come(provider)["Location"] == "/admin/"
    provider.person = {"sub": "the next who has the address", **mail}
    another = Client()
    assert UNKNOWN in said(another, come(provider, another))


def test_by_mail_nobody_else_is_bound(provider: OidcProvider, settings: Any) -> None:
    """Unverified, of two, of a superuser, disabled, of another organisation, of two of them."""
    switch(settings, binds_by_mail=True)
    other = Organisation.objects.create(slug=f"other-{uuid4().hex[:8]}", name="Other")
    plain, boss = member(settings), member(settings, is_superuser=True)
    one = member(settings)
    member(settings, mail=one.email.upper())
    gone = member(settings, is_active=False)
    stranger, both = person(email="s@other.example"), member(settings)
    Membership.objects.create(user=stranger, organisation=other)
    Membership.objects.create(user=both, organisation=other)
    subject = provider.person["sub"]

    for mail, verified in (
        (plain.email, False),
        (plain.email, "true"),
        (plain.email, None),
        (boss.email, True),
        (one.email, True),
        (gone.email, True),
        (stranger.email, True),
        (both.email, True),
        ("", True),
    ):
        provider.person = {"sub": subject, "email": mail, "email_verified": verified}
        client = Client()
        assert UNKNOWN in said(client, come(provider, client)), (mail, verified)
    assert not SignInIdentity.objects.filter(subject=subject).exists()


def test_who_is_in_two_organisations_is_bound_by_hand_and_meets_both(
    provider: OidcProvider, settings: Any
) -> None:
    user, client = bound(provider), Client()
    for slug in (settings.SINGLE_SIGN_ON.organisation, "default"):
        organisation, _ = Organisation.objects.get_or_create(slug=slug, defaults={"name": slug})
        Membership.objects.create(user=user, organisation=organisation)

    come(provider, client)

    assert who(client) == str(user.pk)


def test_a_new_user_has_no_right_until_an_administrator_gives_one(
    provider: OidcProvider, settings: Any
) -> None:
    switch(settings, creates_users=True)
    provider.person |= {"name": "Ola Nova", "preferred_username": "admin"}
    client = Client()

    assert "has no rights yet" in said(client, come(provider, client))

    user = SignInIdentity.objects.get(subject=provider.person["sub"]).user
    assert (user.is_staff, user.is_superuser, user.has_usable_password()) == (False, False, False)
    assert (user.get_all_permissions(), user.email) == (set(), "")
    assert user.username.startswith("oidc-")
    slugs = Membership.objects.filter(user=user).values_list("organisation__slug", flat=True)
    assert list(slugs) == [settings.SINGLE_SIGN_ON.organisation]
    assert rows("login.user_created")[0]["operator"] == user.username
    assert "has no rights yet" in said(client, come(provider, client))
    User.objects.filter(pk=user.pk).update(is_staff=True)
    come(provider, client)
    assert who(client) == str(user.pk)
    SignInIdentity.objects.filter(user=user).delete()
    again = Client()
    assert "was taken away" in said(again, come(provider, again))


def test_remits_own_second_factor_is_asked_for_all_the_same(
    provider: OidcProvider, settings: Any
) -> None:
    settings.SECOND_FACTOR = True
    bound(provider)
    client = Client()

    come(provider, client)

    assert client.get("/admin/")["Location"] == "/accounts/2fa/"


def test_the_button_is_there_where_a_provider_is(provider: OidcProvider, settings: Any) -> None:
    link = '<a class="button" href="/accounts/oidc/?next=/console/">'

    page = Client().get(LOG_IN, {"next": "/console/"}).content.decode()
    assert f"{link}Sign in with Company Login</a>" in page
    settings.SINGLE_SIGN_ON = None
    assert "Sign in with" not in Client().get(LOG_IN).content.decode()
    assert [Client().get(page).status_code for page in (BEGIN, FINISH)] == [404, 404]


def test_superusers_alone_bind_identities(provider: OidcProvider) -> None:
    user, boss, clerk = person(), person(is_superuser=True), person()
    address = f"/admin/auth/user/{user.pk}/change/"
    clients = Client(), Client()
    clients[0].force_login(boss)
    clients[1].force_login(clerk)

    page = clients[0].get(address).content.decode()

    assert "who they are at the provider that they log in at" in page.lower()
    assert clients[1].get(address).status_code in (302, 403)
