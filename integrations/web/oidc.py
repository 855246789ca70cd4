"""Logging in at a provider of OpenID Connect: the way there, and who came back.

An authorisation code with PKCE, state and nonce (OpenID Connect Core 1.0, RFC 7636, 9207). Requests
and claims are Authlib's, signatures joserfc's, and what is sent goes through the one HTTP client.
Keys are asked for at each log-in, so that one that the provider has changed is never in the way.
"""

import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlencode, urlsplit

from authlib.common.errors import AuthlibBaseError
from authlib.oauth2.client import OAuth2Client
from authlib.oidc.core import CodeIDToken
from authlib.oidc.discovery import OpenIDProviderMetadata, get_well_known_url
from django.core.cache import caches
from django.utils.translation import gettext
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, KeySetSerialization

from integrations import exceptions
from integrations.credentials.oauth import new_secret
from integrations.network import http

# Signatures that the provider alone can make. “none” is no signature, and the key of an HS… is
# whatever text a stranger says it is.
ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA", "Ed25519"),
)
SCOPE = "openid email profile"
BEGUN_SECONDS = 600  # how long somebody may take at the provider's page
CLOCK_SECONDS = 60  # that the provider's clock may differ
DESCRIBED_SECONDS = 300
AWAY_SECONDS = 15  # until one that did not answer is asked again
MOST_BYTES = 256 * 1024


class SignInFailed(Exception):
    """Nobody is known to have come back. The message is a sentence for who tried; `code` says in
    the ledger what was wrong."""

    def __init__(self, sentence: str, *, code: str) -> None:
        super().__init__(sentence)
        self.code = code


@dataclass(frozen=True, kw_only=True)
class Provider:
    """Where people log in, and as what it knows this installation."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    name: str


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Whom the provider vouches for. `mail` is empty unless the provider says that it is theirs."""

    issuer: str
    subject: str
    mail: str
    name: str


def begin(provider: Provider, *, redirect: str) -> tuple[str, dict[str, Any]]:
    """The provider's page, and what `finish` needs to know again, for the session of who goes
    there. Raises SignInFailed where the provider is away."""
    attempt = {
        "state": new_secret(),
        "nonce": new_secret(),
        "verifier": new_secret(),
        "redirect": redirect,
        "at": time.time(),
    }
    url, _ = _client(provider, attempt).create_authorization_url(
        _describe(provider)["authorization_endpoint"],
        state=attempt["state"],
        nonce=attempt["nonce"],
        code_verifier=attempt["verifier"],
    )
    return str(url), attempt


def finish(
    provider: Provider, answer: Mapping[str, str], attempt: Mapping[str, Any] | None
) -> Identity:
    """Who came back with this answer to what was begun. The caller forgets `attempt` first: it is
    good for one answer. Raises SignInFailed for everything else."""
    code = _read_code(provider, answer, attempt)
    assert attempt is not None  # noqa: S101  # or there was no code
    described = _describe(provider)
    methods = described.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
    method = "client_secret_post" if "client_secret_post" in methods else "client_secret_basic"
    client = _client(provider, attempt, token_endpoint_auth_method=method)
    try:
        tokens = client.fetch_token(
            described["token_endpoint"],
            grant_type="authorization_code",
            code=code,
            code_verifier=attempt["verifier"],
        )
    except (AuthlibBaseError, ValueError, KeyError) as error:
        raise SignInFailed(
            gettext("%(provider)s did not confirm the log-in. Try it again.")
            % {"provider": provider.name},
            code="code_refused",
        ) from error
    keys = _get_json(provider, described["jwks_uri"])
    try:
        return _verify(provider, described, keys, tokens, nonce=attempt["nonce"])
    except (JoseError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise SignInFailed(
            gettext("What %(provider)s says about you could not be verified. Try it again.")
            % {"provider": provider.name},
            code="token_refused",
        ) from error


def _read_code(
    provider: Provider, answer: Mapping[str, str], attempt: Mapping[str, Any] | None
) -> str:
    again = gettext("This is no answer to a log-in that was begun here. Begin it again.")
    if attempt is None or time.time() - attempt["at"] > BEGUN_SECONDS:
        raise SignInFailed(again, code="not_begun")
    if not hmac.compare_digest(answer.get("state", "").encode(), attempt["state"].encode()):
        raise SignInFailed(again, code="state_refused")
    if answer.get("iss", provider.issuer) != provider.issuer:
        raise SignInFailed(again, code="issuer_refused")
    if answer.get("error"):
        words = gettext("%(provider)s did not log you in.") % {"provider": provider.name}
        raise SignInFailed(words, code="provider_refused")
    if not (code := answer.get("code", "")):
        raise SignInFailed(again, code="no_code")
    return code


def _verify(
    provider: Provider,
    described: Mapping[str, Any],
    keys: Mapping[str, Any],
    tokens: Mapping[str, Any],
    *,
    nonce: str,
) -> Identity:
    offered = described["id_token_signing_alg_values_supported"]
    key_set = KeySet.import_key_set(cast("KeySetSerialization", keys))
    token = jwt.decode(tokens["id_token"], key_set, [one for one in ALGORITHMS if one in offered])
    claims = CodeIDToken(
        token.claims,
        token.header,
        options={
            "iss": {"essential": True, "value": provider.issuer},
            "aud": {"essential": True, "value": provider.client_id},
            "sub": {"essential": True},
            "exp": {"essential": True},
        },
        params={
            "nonce": nonce,
            "client_id": provider.client_id,
            "access_token": tokens.get("access_token"),
        },
    )
    claims.validate(leeway=CLOCK_SECONDS)
    subject, mail = claims["sub"], claims.get("email")
    if not isinstance(subject, str) or not 0 < len(subject) <= 255:
        raise ValueError("sub")
    is_theirs = claims.get("email_verified") is True and isinstance(mail, str)
    return Identity(
        issuer=provider.issuer,
        subject=subject,
        mail=str(mail).strip() if is_theirs else "",
        name=str(claims.get("name") or "")[:150],
    )


def _client(provider: Provider, attempt: Mapping[str, Any], **options: Any) -> Any:
    return OAuth2Client(
        _Session(provider),
        client_id=provider.client_id,
        client_secret=provider.client_secret,
        scope=SCOPE,
        redirect_uri=attempt["redirect"],
        code_challenge_method="S256",
        **options,
    )


def _describe(provider: Provider) -> dict[str, Any]:
    """What the provider says of itself. Kept for minutes; one that is away is not asked by
    everybody who presses the button."""
    store, key = caches["quick"], f"oidc:{provider.issuer}"
    found: dict[str, Any] | None = store.get(key)
    if found is None:
        try:
            found = _get_json(provider, get_well_known_url(provider.issuer, external=True))
        except SignInFailed:
            store.set(key, {}, AWAY_SECONDS)
            raise
        store.set(key, found, DESCRIBED_SECONDS)
    if not found:
        raise _away(provider)
    try:
        OpenIDProviderMetadata(found).validate()
        if found["issuer"] != provider.issuer:
            raise ValueError("issuer")
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            if urlsplit(found[name]).scheme != "https":
                raise ValueError(name)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SignInFailed(
            gettext(
                "What %(provider)s says of itself is not right. Tell an operator, and log in with "
                "your password."
            )
            % {"provider": provider.name},
            code="provider_malformed",
        ) from error
    return found


def _away(provider: Provider) -> SignInFailed:
    return SignInFailed(
        gettext("%(provider)s does not answer. Log in with your password, or try again later.")
        % {"provider": provider.name},
        code="provider_away",
    )


def _get_json(provider: Provider, url: str) -> dict[str, Any]:
    answer = _send(provider, "GET", url, b"", {"Accept": "application/json"})
    if answer.status != 200:
        raise _away(provider)
    try:
        found = json.loads(answer.content)
    except (ValueError, RecursionError) as error:
        raise _away(provider) from error
    if not isinstance(found, dict):
        raise _away(provider)
    return found


def _send(
    provider: Provider, method: str, url: str, content: bytes, headers: Mapping[str, str]
) -> http.Answer:
    """The provider stands in the configuration of this installation, often at an address of its own
    network: it is not held to public ones, as what people enter is."""
    parts = urlsplit(url)
    try:
        return http.exchange(
            http.client(f"https://{parts.netloc}"),
            method,
            url,
            address=str(parts.hostname),
            content=content,
            headers=headers,
            most_bytes=MOST_BYTES,
        )
    except exceptions.ProviderError as error:
        raise _away(provider) from error


class _Session:
    """What Authlib's client sends its request with."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    def post(self, url: str, *, data: Mapping[str, str], headers: Any, auth: Any) -> "_Answer":
        url, sent, body = auth.prepare("POST", url, dict(headers), urlencode(data))
        answer = _send(self._provider, "POST", url, body.encode(), sent)
        if answer.status >= 500:
            raise _away(self._provider)
        return _Answer(answer)


class _Answer:
    def __init__(self, answer: http.Answer) -> None:
        self.status_code, self._content = answer.status, answer.content

    def json(self) -> Any:
        return json.loads(self._content)

    def raise_for_status(self) -> None:
        """Of an answer that is none: an error in words is raised by the library."""
        if self.status_code != 200:
            raise ValueError(str(self.status_code))
