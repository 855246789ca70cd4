"""Signing in at a provider's own page (OAuth 2.0): an authorisation code with PKCE, and tokens that
are renewed.

From RFC 6749, 7636 (S256 alone) and 9207, as RFC 9700 advises. Each request is sent once: a code
and, at many servers, a refresh token is good for one.
"""

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.utils import timezone
from pydantic import BaseModel, Field, ValidationError

from integrations.exceptions import (
    Malformed,
    NotPermitted,
    RateLimited,
    Rejected,
    SignInNeeded,
    Unavailable,
)
from integrations.network import http, outgoing, retries

MAX_ANSWER_BYTES = 64 * 1024
USUAL_SECONDS = 3600.0  # that a token lasts whose server does not say
SAID_CHARS = 200


@dataclass(frozen=True, kw_only=True)
class AuthorizationServer:
    """Where a provider's users sign in. `name` is that of its client in OAUTH_CLIENTS, `more` what
    it wants to be asked beside the usual. `device`: where codes for signing in on another device
    are asked for; empty where it gives none for what Remit asks."""

    name: str
    label: str
    issuer: str
    authorize: str
    token: str
    more: Mapping[str, str] = field(default_factory=dict)
    device: str = ""


@dataclass(frozen=True, kw_only=True)
class Client:
    """What the provider calls this installation."""

    id: str
    secret: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """What a consent gave. `ends_at`: when the consent itself ends, where the server says so."""

    access: str = field(repr=False)
    refresh: str = field(repr=False)
    expires_at: datetime
    scopes: tuple[str, ...] = ()
    ends_at: datetime | None = None

    def to_text(self) -> str:
        return json.dumps(
            {
                "access": self.access,
                "refresh": self.refresh,
                "expires_at": self.expires_at.isoformat(),
                "scopes": self.scopes,
                "ends_at": self.ends_at.isoformat() if self.ends_at else None,
            }
        )

    @classmethod
    def from_text(cls, text: str) -> "Tokens":
        data = json.loads(text)
        ends_at = data["ends_at"]
        return cls(
            access=data["access"],
            refresh=data["refresh"],
            expires_at=datetime.fromisoformat(data["expires_at"]),
            scopes=tuple(data["scopes"]),
            ends_at=datetime.fromisoformat(ends_at) if ends_at else None,
        )


class GrantEnded(SignInNeeded):
    """The server takes this code or refresh token no more: the user has to sign in again."""


def client_of(server: AuthorizationServer) -> Client:
    """Raises NotPermitted where the installation has none."""
    id, secret = settings.OAUTH_CLIENTS.get(server.name, ("", ""))
    if not id:
        name = server.name.upper()
        raise NotPermitted(
            f"This installation cannot sign in at {server.label}: set {name}_CLIENT_ID and "
            f"{name}_CLIENT_SECRET."
        )
    return Client(id=id, secret=secret)


def new_secret() -> str:
    """A state, or a verifier: 256 bits."""
    return secrets.token_urlsafe(32)


def page_url(
    server: AuthorizationServer,
    client: Client,
    *,
    scopes: Sequence[str],
    redirect: str,
    state: str,
    verifier: str,
    address: str,
) -> str:
    """The provider's page, where the user signs in and agrees."""
    digest = hashlib.sha256(verifier.encode()).digest()
    asked = {
        "response_type": "code",
        "client_id": client.id,
        "redirect_uri": redirect,
        "scope": " ".join(scopes),
        "state": state,
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
        "login_hint": address,
        **server.more,
    }
    return f"{server.authorize}?{urlencode(asked)}"


def read_code(server: AuthorizationServer, answer: Mapping[str, str], *, state: str) -> str:
    """The code, from the parameters that the user came back with. Raises Rejected with a sentence
    for an answer to another question, one of another server (RFC 9207), and for a no."""
    given = answer.get("state", "")
    if not hmac.compare_digest(given.encode(), state.encode()):
        raise Rejected("This is no answer to the sign-in that was begun here. Begin it again.")
    if answer.get("iss", server.issuer) != server.issuer:
        raise Rejected(f"The answer does not come from {server.label}. Begin the sign-in again.")
    if (error := answer.get("error")) is not None:
        if error == "access_denied":
            raise Rejected(f"At {server.label} somebody said no. Nothing was connected.")
        said = error[:SAID_CHARS]
        raise Rejected(f"{server.label} refused the sign-in ({said}).", said=said)
    if not answer.get("code"):
        raise Rejected(f"{server.label} sent no code. Begin the sign-in again.")
    return answer["code"]


def exchange(
    server: AuthorizationServer, client: Client, *, code: str, redirect: str, verifier: str
) -> Tokens:
    """Tokens for a code. Raises ProviderError; Rejected where the server gives none that can be
    renewed."""
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect}
    return first_tokens(server, ask(server, client, {**form, "code_verifier": verifier}))


def first_tokens(server: AuthorizationServer, content: bytes) -> Tokens:
    """Raises Malformed, and Rejected for tokens that nobody can renew."""
    found = read_tokens(content, refresh="")
    if not found.refresh:
        raise Rejected(f"{server.label} gave no lasting consent. Begin the sign-in again.")
    return found


def refresh(server: AuthorizationServer, client: Client, old: Tokens) -> Tokens:
    """New tokens in place of the old; many servers take the old ones no more from here on. Raises
    ProviderError, GrantEnded where the user has to sign in again."""
    form = {"grant_type": "refresh_token", "refresh_token": old.refresh}
    found = read_tokens(ask(server, client, form), refresh=old.refresh)
    return Tokens(
        access=found.access,
        refresh=found.refresh,
        expires_at=found.expires_at,
        scopes=found.scopes or old.scopes,
        ends_at=found.ends_at or old.ends_at,
    )


class _Answer(BaseModel):
    access_token: str = Field(min_length=1, max_length=20_000)
    token_type: str
    expires_in: float = Field(default=USUAL_SECONDS, ge=0, le=10**9)
    refresh_token: str | None = Field(default=None, max_length=20_000)
    refresh_token_expires_in: float | None = Field(default=None, ge=0, le=10**9)
    scope: str = ""


class _Refusal(BaseModel):
    error: str = Field(max_length=SAID_CHARS)


def ask(
    server: AuthorizationServer, client: Client, form: Mapping[str, str], *, url: str = ""
) -> bytes:
    """What the server answers, where tokens are given or at another `url` of its own. Raises
    ProviderError; Rejected with the server's own code for why in `said`."""
    url = url or server.token
    parts = urlsplit(url)
    if parts.scheme != "https":
        raise NotPermitted("Tokens are asked for over https:// alone.")
    sent = {**form, "client_id": client.id, "client_secret": client.secret}
    answer = http.exchange(
        http.client(f"{parts.scheme}://{parts.netloc}"),
        "POST",
        url,
        address=outgoing.public_address(url),
        content=urlencode(sent).encode(),
        headers={
            "Content-Type": "application/x-www-form-urlencoded",
            "Accept": "application/json",
            "User-Agent": "remit",
        },
        most_bytes=MAX_ANSWER_BYTES,
    )
    if answer.status == 429:
        wait = retries.retry_after(answer.headers.get("retry-after"))
        raise RateLimited("429", retry_after=wait)
    if answer.status >= 500:
        raise Unavailable(str(answer.status))
    if answer.status != 200:
        raise _refusal(server, answer.content)
    return answer.content


def _refusal(server: AuthorizationServer, content: bytes) -> NotPermitted | Rejected:
    error = parse(_Refusal, content).error
    if error == "invalid_grant":
        return GrantEnded(f"{server.label} takes this sign-in no more.")
    if error in ("invalid_client", "unauthorized_client"):
        name = f"{server.name.upper()}_CLIENT_ID"
        return NotPermitted(f"{server.label} does not know this installation: check {name}.")
    return Rejected(f"{server.label} refused the sign-in ({error}).", said=error)


def read_tokens(content: bytes, *, refresh: str) -> Tokens:
    found, now = parse(_Answer, content), timezone.now()
    if found.token_type.lower() != "bearer":
        raise Malformed("a token of a kind that Remit does not know")
    ends = found.refresh_token_expires_in
    return Tokens(
        access=found.access_token,
        refresh=found.refresh_token or refresh,
        expires_at=now + timedelta(seconds=found.expires_in),
        scopes=tuple(sorted(found.scope.split())),
        ends_at=now + timedelta(seconds=ends) if ends else None,
    )


def parse(model: Any, content: bytes) -> Any:
    try:
        return model.model_validate_json(content)
    except ValidationError as error:
        fields = sorted({".".join(map(str, one["loc"])) for one in error.errors()})
        raise Malformed(f"the token server's answer: {', '.join(fields)}") from error
