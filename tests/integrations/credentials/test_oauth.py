"""Signing in at a provider's own page, against a real authorisation server."""

from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.utils import timezone

from integrations.credentials import oauth
from integrations.credentials.oauth import Client, GrantEnded, Tokens
from integrations.exceptions import Malformed, NotPermitted, Rejected, Unavailable
from tests.oauth_world import (
    CLIENT_ID,
    CLIENT_SECRET,
    REDIRECT,
    SCOPE,
    OAuthServer,
)

CLIENT = Client(id=CLIENT_ID, secret=CLIENT_SECRET)


def page(server: OAuthServer, *, verifier: str, redirect: str = REDIRECT) -> str:
    return oauth.page_url(
        server.described,
        CLIENT,
        scopes=[SCOPE],
        redirect=redirect,
        state="state-1",
        verifier=verifier,
        address="nora@office.test",
    )


def signed_in(server: OAuthServer) -> Tokens:
    verifier = oauth.new_secret()
    code = oauth.read_code(
        server.described, server.agree(page(server, verifier=verifier)), state="state-1"
    )
    return oauth.exchange(server.described, CLIENT, code=code, redirect=REDIRECT, verifier=verifier)


def test_a_code_becomes_tokens_and_they_are_renewed(server: OAuthServer) -> None:
    server.extra = {"refresh_token_expires_in": 604_800}
    first = signed_in(server)
    second = oauth.refresh(server.described, CLIENT, first)

    assert first.scopes == (SCOPE,)
    assert first.expires_at - timezone.now() > timedelta(minutes=59)
    assert first.ends_at is not None
    assert first.ends_at - timezone.now() > timedelta(days=6)
    assert (second.access != first.access, second.refresh != first.refresh) == (True, True)
    assert not server.takes(first.access)
    assert server.takes(second.access)
    assert Tokens.from_text(second.to_text()) == second


def test_the_page_is_asked_for_s256_and_names_no_secret(server: OAuthServer) -> None:
    asked = page(server, verifier="a-verifier-that-nobody-else-knows-at-all-12345")

    query = parse_qs(urlsplit(asked).query)
    assert query["code_challenge_method"] == ["S256"]
    assert query["redirect_uri"] == [REDIRECT]
    assert query["login_hint"] == ["nora@office.test"]
    assert "a-verifier" not in asked
    assert CLIENT_SECRET not in asked


def test_a_code_is_good_once_with_its_verifier_and_at_its_address(server: OAuthServer) -> None:
    verifier = oauth.new_secret()
    code = server.agree(page(server, verifier=verifier))["code"]
    described = server.described

    for wrong in ({"verifier": oauth.new_secret()}, {"redirect": f"{REDIRECT}x"}):
        with pytest.raises(NotPermitted, match="no more"):
            oauth.exchange(
                described,
                CLIENT,
                code=code,
                **({"redirect": REDIRECT, "verifier": verifier} | wrong),
            )
    oauth.exchange(described, CLIENT, code=code, redirect=REDIRECT, verifier=verifier)
    with pytest.raises(GrantEnded):
        oauth.exchange(described, CLIENT, code=code, redirect=REDIRECT, verifier=verifier)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"state": "state-2"}, "no answer to the sign-in that was begun here"),
        ({"state": ""}, "no answer to the sign-in that was begun here"),
        ({"iss": "https://evil.test"}, "does not come from Google"),
        ({"code": ""}, "sent no code"),
    ],
)
def test_an_answer_to_another_question_is_none(
    server: OAuthServer, changed: dict[str, str], sentence: str
) -> None:
    answer = server.agree(page(server, verifier=oauth.new_secret()))

    assert answer["iss"] == server.origin
    with pytest.raises(Rejected, match=sentence):
        oauth.read_code(server.described, answer | changed, state="state-1")


def test_a_no_at_the_page_is_said(server: OAuthServer) -> None:
    answer = server.decline(page(server, verifier=oauth.new_secret()))

    with pytest.raises(Rejected, match="somebody said no"):
        oauth.read_code(server.described, answer, state="state-1")


def test_a_refresh_token_that_was_used_is_refused(server: OAuthServer) -> None:
    first = signed_in(server)
    oauth.refresh(server.described, CLIENT, first)

    with pytest.raises(GrantEnded):
        oauth.refresh(server.described, CLIENT, first)


def test_a_server_that_is_away_or_knows_no_such_client_ends_no_consent(server: OAuthServer) -> None:
    tokens = signed_in(server)
    server.fail = [503]

    with pytest.raises(Unavailable):
        oauth.refresh(server.described, CLIENT, tokens)
    with pytest.raises(NotPermitted, match="check GOOGLE_CLIENT_ID") as refused:
        oauth.refresh(server.described, Client(id=CLIENT_ID, secret="wrong"), tokens)

    assert not isinstance(refused.value, GrantEnded)
    assert oauth.refresh(server.described, CLIENT, tokens).refresh != tokens.refresh


def test_a_token_of_another_kind_is_not_taken(server: OAuthServer) -> None:
    server.extra = {"token_type": "mac"}

    with pytest.raises(Malformed):
        signed_in(server)


def test_an_installation_without_a_client_says_what_to_set(
    server: OAuthServer, settings: Any
) -> None:
    settings.OAUTH_CLIENTS = {}

    with pytest.raises(NotPermitted, match="set GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET"):
        oauth.client_of(server.described)
