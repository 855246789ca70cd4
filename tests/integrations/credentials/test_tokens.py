"""One process renews a token, nothing is used before it is stored, and nobody is overwritten."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connections
from django.utils import timezone

from integrations.contracts import AccountRef
from integrations.credentials import credentials, oauth, sealing, tokens
from integrations.credentials.oauth import Client, Tokens
from integrations.exceptions import NotPermitted, SignInNeeded, Unavailable
from integrations.models import Account, Credential, Outage
from tests.knowledge.office import account
from tests.oauth_world import CLIENT_ID, CLIENT_SECRET, REDIRECT, SCOPE, OAuthServer
from tests.own_accounts import PRIVATE

pytestmark = pytest.mark.django_db
CLIENT = Client(id=CLIENT_ID, secret=CLIENT_SECRET)


@pytest.fixture
def row(server: OAuthServer, keys: None, settings: Any) -> AccountRef:
    settings.OAUTH_CLIENTS = {"google": (CLIENT_ID, CLIENT_SECRET)}
    return Account.objects.get(id=account(user=uuid4().hex[:12], source="jmap").id).ref()


def agreed(server: OAuthServer) -> Tokens:
    verifier = oauth.new_secret()
    page = oauth.page_url(
        server.described,
        CLIENT,
        scopes=[SCOPE],
        redirect=REDIRECT,
        state="s",
        verifier=verifier,
        address="nora@office.test",
    )
    code = server.agree(page)["code"]
    return oauth.exchange(server.described, CLIENT, code=code, redirect=REDIRECT, verifier=verifier)


def sign_in(row: AccountRef, found: Tokens) -> Tokens:
    sealed = credentials.seal(found.to_text(), account_id=row.id)
    credentials.keep(account_id=row.id, user_name="nora", servers={}, sealed=sealed)
    return found


def ended(found: Tokens) -> Tokens:
    return replace(found, expires_at=timezone.now() - timedelta(seconds=1))


def stored(row: AccountRef) -> Tokens:
    return Tokens.from_text(credentials.open_sign_in(row).secret)


def test_a_good_token_is_used_and_one_that_ends_soon_is_renewed_and_stored(
    row: AccountRef, server: OAuthServer
) -> None:
    first = sign_in(row, agreed(server))
    fingerprint = credentials.fingerprint(row)

    assert tokens.access_token(row, server.described) == first.access
    assert server.renewals == []

    sign_in(row, replace(first, expires_at=timezone.now() + timedelta(minutes=4)))
    fingerprint = credentials.fingerprint(row)
    renewed = tokens.access_token(row, server.described)
    assert (renewed, server.renewals) == (stored(row).access, [first.refresh])
    assert renewed != first.access
    assert stored(row).refresh not in ("", first.refresh)
    assert credentials.fingerprint(row) == fingerprint  # the user's consent is the same


def test_one_that_the_provider_refused_is_renewed_although_it_has_time_left(
    row: AccountRef, server: OAuthServer
) -> None:
    first = sign_in(row, agreed(server))

    renewed = tokens.access_token(row, server.described, refused=first.access)

    assert server.takes(renewed)
    assert tokens.access_token(row, server.described, refused=first.access) == renewed
    assert len(server.renewals) == 1


def test_while_one_renews_others_go_on_with_what_is_good_yet(
    row: AccountRef, server: OAuthServer
) -> None:
    soon = replace(agreed(server), expires_at=timezone.now() + timedelta(minutes=4))
    sign_in(row, soon)
    Credential.objects.update(refreshing_until=timezone.now() + timedelta(minutes=1))

    assert tokens.access_token(row, server.described) == soon.access
    assert server.renewals == []


def test_a_process_that_waits_too_long_sends_nothing(
    row: AccountRef, server: OAuthServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in(row, ended(agreed(server)))
    Credential.objects.update(refreshing_until=timezone.now() + timedelta(minutes=1))
    monkeypatch.setattr(tokens, "WAIT_SECONDS", 0.0)

    with pytest.raises(Unavailable) as late:
        tokens.access_token(row, server.described)

    assert (late.value.outcome_unknown, server.renewals) == (False, [])


def test_a_process_that_died_while_it_renewed_keeps_nobody_out_for_long(
    row: AccountRef, server: OAuthServer
) -> None:
    sign_in(row, ended(agreed(server)))
    Credential.objects.update(refreshing_until=timezone.now() - timedelta(seconds=1))

    assert server.takes(tokens.access_token(row, server.described))


def test_a_server_that_is_away_ends_nothing_and_is_asked_again(
    row: AccountRef, server: OAuthServer
) -> None:
    old = sign_in(row, ended(agreed(server)))
    server.fail = [503]

    with pytest.raises(Unavailable):
        tokens.access_token(row, server.described)

    assert (Credential.objects.get().state, stored(row)) == ("good", old)
    assert server.takes(tokens.access_token(row, server.described))


def test_a_consent_that_was_taken_back_waits_for_its_user(
    row: AccountRef, server: OAuthServer
) -> None:
    sign_in(row, ended(agreed(server)))
    server.take_back()
    asked = len(server.renewals)
    due = timezone.now() + timedelta(minutes=5)
    Outage.objects.create(account_id=row.id, code=SignInNeeded.code, due_at=due)

    for _ in range(2):
        with pytest.raises(SignInNeeded, match="sign in again"):
            tokens.access_token(row, server.described)

    assert (Credential.objects.get().state, len(server.renewals)) == ("sign_in", asked + 1)
    again = sign_in(row, agreed(server))
    assert tokens.access_token(row, server.described) == again.access
    assert Outage.objects.get().due_at <= timezone.now()  # what waited is tried at once


def test_a_client_that_the_server_does_not_know_signs_nobody_out(
    row: AccountRef, server: OAuthServer, settings: Any
) -> None:
    sign_in(row, ended(agreed(server)))
    settings.OAUTH_CLIENTS = {"google": (CLIENT_ID, "wrong")}

    with pytest.raises(NotPermitted, match="check GOOGLE_CLIENT_ID"):
        tokens.access_token(row, server.described)

    found = Credential.objects.get()
    assert (found.state, found.refreshing_until) == ("good", None)


@pytest.mark.parametrize("answer", ["tokens", "no"])
def test_who_signs_in_again_meanwhile_is_not_overwritten(
    row: AccountRef, server: OAuthServer, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    sign_in(row, ended(agreed(server)))
    later = agreed(server)
    ask = oauth.refresh

    def refresh(*given: Any) -> Tokens:
        sign_in(row, later)
        if answer == "no":
            raise oauth.GrantEnded("no")
        return ask(*given)

    monkeypatch.setattr(oauth, "refresh", refresh)

    assert tokens.access_token(row, server.described) == later.access
    assert (stored(row), Credential.objects.get().state) == (later, "good")


def test_what_is_sealed_anew_meanwhile_keeps_its_new_tokens(
    row: AccountRef, server: OAuthServer, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in(row, ended(agreed(server)))
    ask = oauth.refresh

    def refresh(*given: Any) -> Tokens:
        settings.CREDENTIALS_PRIVATE_KEY_BEFORE = PRIVATE
        settings.CREDENTIALS_PRIVATE_KEY = "IB8eHRwbGhkYFxYVFBMSERAPDg0MCwoJCAcGBQQDAgE="
        key = sealing.private_key(settings.CREDENTIALS_PRIVATE_KEY).public_key()
        settings.CREDENTIALS_PUBLIC_KEY = sealing.to_text(key)
        assert credentials.reseal(Credential.objects.all()) == 1
        return ask(*given)

    monkeypatch.setattr(oauth, "refresh", refresh)

    renewed = tokens.access_token(row, server.described)

    assert server.takes(renewed)
    assert stored(row).access == renewed


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as pool:
        yield pool


@pytest.mark.django_db(transaction=True)
def test_of_many_that_find_it_ended_one_renews_it(
    row: AccountRef, server: OAuthServer, threads: ThreadPoolExecutor
) -> None:
    old = sign_in(row, ended(agreed(server)))
    server.gate.clear()
    begun = threading.Barrier(5)

    def use() -> str:
        begun.wait(10)
        try:
            return tokens.access_token(row, server.described)
        finally:
            connections.close_all()

    found = [threads.submit(use) for _ in range(4)]
    begun.wait(10)
    server.gate.set()

    assert len({one.result(20) for one in found}) == 1
    assert (server.renewals, server.most_at_once) == ([old.refresh], 1)
    assert server.takes(stored(row).access)
