"""A real provider of OpenID Connect on loopback, over TLS: Authlib's (BSD-3) authorisation server
with its OpenID extension. It asks for PKCE with S256 and a nonce, and takes a code once.

    with running_oidc() as provider:
        answer = provider.agree(page)  # what the browser comes back with

In a browser the person agrees, or does not, at its page `/authorize`. What it must never do by
itself, tests make it do: `forge` gets the claims of the next ID tokens and returns the token that
is sent in place of the right one.
"""

import contextlib
import hashlib
import hmac
import html
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from authlib.oauth2.rfc6749 import AuthorizationServer, ClientMixin, OAuth2Request, grants
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from authlib.oauth2.rfc6750 import BearerTokenGenerator
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oidc.core import UserInfo
from authlib.oidc.core.grants import OpenIDCode
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey
from joserfc.util import urlsafe_b64encode
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from tests.imap_server import certificate
from tests.sandbox_server import serving

CLIENT_ID, CLIENT_SECRET = "remit", "oidc-client-secret"
CONSENT = "Log in to remit"  # its page says so
REDIRECT = "http://testserver/accounts/oidc/finish/"
Claims = dict[str, Any]


def new_key(name: str) -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": name, "use": "sig", "alg": "RS256"})


class _Client(ClientMixin):  # type: ignore[misc]  # untyped
    def __init__(self, redirect: str) -> None:
        self.redirect = redirect

    def get_client_id(self) -> str:
        return CLIENT_ID

    def get_allowed_scope(self, scope: str) -> str:
        return scope

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return redirect_uri == self.redirect

    def check_client_secret(self, client_secret: str) -> bool:
        return client_secret == CLIENT_SECRET

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method in ("client_secret_post", "client_secret_basic")

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type == "authorization_code"


@dataclass(kw_only=True)
class _Code:
    """What was agreed to; `asked` are the parameters of the authorisation request."""

    asked: Mapping[str, str]

    def get_redirect_uri(self) -> str:
        return self.asked["redirect_uri"]

    def get_scope(self) -> str:
        return self.asked["scope"]

    def get_nonce(self) -> str:
        return self.asked["nonce"]

    def get_auth_time(self) -> int:
        return int(time.time())

    def get_acr(self) -> None: ...

    def get_amr(self) -> None: ...

    def is_expired(self) -> bool:
        return False


class _Asked(OAuth2Request):  # type: ignore[misc]  # untyped
    def __init__(self, method: str, url: str, given: dict[str, str], headers: Any) -> None:
        super().__init__(method, url, headers=headers)
        self.payload = BasicOAuth2Payload(given)
        self._given = given

    @property
    def args(self) -> dict[str, str]:
        return self._given if self.method == "GET" else {}

    @property
    def form(self) -> dict[str, str]:
        return self._given if self.method == "POST" else {}


def _authorization(page: str) -> _Asked:
    return _Asked("GET", page, dict(parse_qsl(urlsplit(page).query)), {})


@dataclass(kw_only=True)
class OidcProvider:
    """`person` are the claims about who logs in; `described` is added to what the provider says of
    itself; `redirect` is the one address that people are sent back to. While `is_down` every answer
    is a 503. `requests` counts them by path."""

    origin: str = ""
    trusted: Path = Path()
    redirect: str = REDIRECT
    key: RSAKey = field(default_factory=lambda: new_key("first"))
    person: Claims = field(default_factory=dict)
    described: Claims = field(default_factory=dict)
    codes: dict[str, _Code] = field(default_factory=dict)
    forge: Callable[[Claims], str] | None = None
    is_down: bool = False
    requests: list[str] = field(default_factory=list)

    def reset(self) -> None:
        self.person, self.described, self.codes, self.requests = {}, {}, {}, []
        self.forge, self.is_down, self.redirect = None, False, REDIRECT

    def agree(self, page: str) -> dict[str, str]:
        """The person agrees at the page; the parameters that they come back with."""
        return dict(parse_qsl(urlsplit(self._decide(page, "person")).query))

    def _decide(self, page: str, person: str | None) -> str:
        """Where the browser is sent; nobody: who did not agree."""
        server, asked = _Server(self), _authorization(page)
        grant = server.get_consent_grant(asked, end_user="person")
        _, _, headers = server.create_authorization_response(asked, person, grant=grant)
        return str(dict(headers)["Location"])

    def _consent(self, request: Request) -> Response:
        """What it asks of who came, and where it sends who has answered."""
        page = str(request.url)
        if request.method == "POST":
            agreed = dict(parse_qsl(request.state.body.decode())).get("agree") == "yes"
            where = self._decide(page, "person" if agreed else None)
            return Response(status_code=303, headers={"Location": where})
        asked = _authorization(page)
        _Server(self).get_consent_grant(asked, end_user="person")
        wanted = html.escape(asked.payload.scope)
        return HTMLResponse(
            f"<!doctype html><title>{CONSENT}</title><h1>{CONSENT}</h1>"
            f"<p>It asks for: {wanted}</p><form method=post>"
            "<button name=agree value=yes>Agree</button>"
            "<button name=agree value=no>Refuse</button></form>"
        )

    def sign(self, claims: Claims, *, key: Any = None, **header: str) -> str:
        header = {"alg": "RS256", "kid": "first", **header}
        return jwt.encode(header, claims, self.key if key is None else key, [header["alg"]])

    def answer(self, request: Request) -> Response:
        path = request.url.path
        self.requests.append(path)
        if self.is_down:
            return Response(status_code=503)
        if path == "/authorize":
            return self._consent(request)
        if path == "/jwks":
            return JSONResponse(KeySet([self.key]).as_dict(private=False))
        if path == "/token":
            form = dict(parse_qsl(request.state.body.decode(), keep_blank_values=True))
            headers = {name.title(): value for name, value in request.headers.items()}
            asked = _Asked("POST", str(request.url), form, headers)
            status, body, _ = _Server(self).create_token_response(asked)
            return JSONResponse(body, status)
        return JSONResponse(
            {
                "issuer": self.origin,
                "authorization_endpoint": f"{self.origin}/authorize",
                "token_endpoint": f"{self.origin}/token",
                "jwks_uri": f"{self.origin}/jwks",
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
                **self.described,
            }
        )


class _Server(AuthorizationServer):  # type: ignore[misc]  # untyped
    def __init__(self, world: OidcProvider) -> None:
        super().__init__()
        self.world = world
        self.register_token_generator(
            "default", BearerTokenGenerator(lambda **_: f"access-{time.monotonic_ns()}")
        )
        self.register_grant(_CodeGrant, [_Challenge(required=True), _OpenId(require_nonce=True)])

    def query_client(self, client_id: str) -> _Client | None:
        return _Client(self.world.redirect) if client_id == CLIENT_ID else None

    def save_token(self, token: dict[str, Any], request: Any) -> None:
        pass

    def create_oauth2_request(self, request: Any) -> Any:
        return request

    def handle_response(self, status: int, body: Any, headers: Any) -> Any:
        return status, body, headers

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        pass


class _Challenge(CodeChallenge):  # type: ignore[misc]  # untyped
    SUPPORTED_CODE_CHALLENGE_METHOD = ["S256"]  # the library's own form

    def get_authorization_code_challenge(self, authorization_code: _Code) -> str:
        return authorization_code.asked["code_challenge"]

    def get_authorization_code_challenge_method(self, authorization_code: _Code) -> str:
        return authorization_code.asked["code_challenge_method"]


class _CodeGrant(grants.AuthorizationCodeGrant):  # type: ignore[misc]  # untyped
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_post", "client_secret_basic"]

    def save_authorization_code(self, code: str, request: Any) -> None:
        self.server.world.codes[code] = _Code(asked=dict(request.payload.data))

    def query_authorization_code(self, code: str, client: Any) -> _Code | None:
        found: _Code | None = self.server.world.codes.get(code)
        return found

    def delete_authorization_code(self, authorization_code: _Code) -> None:
        self.server.world.codes.clear()

    def authenticate_user(self, authorization_code: _Code) -> str:
        return "person"


class _OpenId(OpenIDCode):  # type: ignore[misc]  # untyped
    def exists_nonce(self, nonce: str, request: Any) -> bool:
        return False

    def resolve_client_private_key(self, client: Any) -> RSAKey:
        return self._world.key

    def get_client_algorithm(self, client: Any) -> str:
        return "RS256"

    def get_client_claims(self, client: Any) -> Claims:
        return {"iss": self._world.origin}

    def get_encode_header(self, client: Any) -> dict[str, str]:
        return {"alg": "RS256", "kid": str(self._world.key.kid)}

    def generate_user_info(self, user: str, scope: str) -> UserInfo:
        return UserInfo(self._world.person)

    def process_token(self, grant: Any, response: Any) -> Any:
        self._world: OidcProvider = grant.server.world
        return super().process_token(grant, response)

    def encode_id_token(self, token: Any, request: Any) -> str:
        made = str(super().encode_id_token(token, request))
        if self._world.forge is None:
            return made
        return self._world.forge(dict(jwt.decode(made, self._world.key, ["RS256"]).claims))


@contextlib.contextmanager
def running_oidc() -> Iterator[OidcProvider]:
    world = OidcProvider()

    async def answer(request: Request) -> Response:
        request.state.body = await request.body()
        return await run_in_threadpool(world.answer, request)

    app = Starlette(routes=[Route("/{path:path}", answer, methods=["GET", "POST"])])
    with tempfile.TemporaryDirectory(prefix="remit-oidc-") as folder:
        pem = certificate(Path(folder))
        with serving(app, certificate=pem) as origin:
            world.origin, world.trusted = origin, Path(folder) / "ca.pem"
            yield world


def unsigned(claims: Claims) -> str:
    """As RFC 7519, 6 has it: no signature at all."""
    return f"{_open({'alg': 'none', 'typ': 'JWT'}, claims)}."


def signed_by_text(claims: Claims, secret: bytes) -> str:
    """HS256 with whatever text; the library refuses to do that with a public key."""
    made = _open({"alg": "HS256", "kid": "first", "typ": "JWT"}, claims)
    signature = hmac.new(secret, made.encode(), hashlib.sha256).digest()
    return f"{made}.{urlsafe_b64encode(signature).decode()}"


def _open(header: Claims, claims: Claims) -> str:
    return ".".join(
        urlsafe_b64encode(json.dumps(one).encode()).decode() for one in (header, claims)
    )
