"""A real authorisation server on loopback, over TLS: Authlib's (BSD-3), which nobody of this
project wrote. It asks for PKCE with S256, names itself in its answers (RFC 9207), takes a code and
a refresh token once, and takes back every token of a consent whose refresh token comes a second
time.

    with running_oauth() as server:
        page = oauth.page_url(server.described, …)
        answer = server.agree(page)
"""

import contextlib
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from authlib.oauth2.rfc6749 import AuthorizationServer, ClientMixin, OAuth2Request, grants
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from authlib.oauth2.rfc6750 import BearerTokenGenerator
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc8628 import (
    DeviceAuthorizationEndpoint,
    DeviceCodeGrant,
    DeviceCredentialDict,
)
from authlib.oauth2.rfc9207.parameter import IssuerParameter
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from integrations.credentials import oauth
from tests.imap_server import certificate
from tests.sandbox_server import serving

CLIENT_ID, CLIENT_SECRET = "remit", "client-secret"
REDIRECT = "https://remit.test/admin/integrations/account/connect/signed-in/"
SCOPE = "mail"
REDIRECTS = [REDIRECT]  # as the client has registered them


class _Client(ClientMixin):  # type: ignore[misc]  # untyped
    def get_client_id(self) -> str:
        return CLIENT_ID

    def get_default_redirect_uri(self) -> str:
        return REDIRECT

    def get_allowed_scope(self, scope: str) -> str:
        return " ".join(one for one in scope.split() if one)

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return redirect_uri in REDIRECTS

    def check_client_secret(self, client_secret: str) -> bool:
        return client_secret == CLIENT_SECRET

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == "client_secret_post"

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return True


@dataclass(kw_only=True)
class _Code:
    code: str
    redirect_uri: str
    scope: str
    challenge: str
    method: str

    def get_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_scope(self) -> str:
        return self.scope

    def is_expired(self) -> bool:
        return False


@dataclass(kw_only=True)
class _Token:
    access: str
    refresh: str
    scope: str
    used: bool = False

    def check_client(self, client: Any) -> bool:
        return True

    def get_scope(self) -> str:
        return self.scope


class _Asked(OAuth2Request):  # type: ignore[misc]  # untyped
    def __init__(self, method: str, url: str, given: dict[str, str]) -> None:
        super().__init__(method, url, headers={})
        self.payload = BasicOAuth2Payload(given)
        self._given = given

    @property
    def args(self) -> dict[str, str]:
        return self._given if self.method == "GET" else {}

    @property
    def form(self) -> dict[str, str]:
        return self._given if self.method == "POST" else {}


@dataclass(kw_only=True)
class _Said:
    status: int
    body: Any
    location: str


@dataclass(kw_only=True)
class OAuthServer:
    """`renewals` are the refresh tokens that were given, in order. `gate`: renewals wait until it
    is set. `lasts` is how long an access token does; `extra` is added to each answer."""

    origin: str = ""
    trusted: Path = Path()
    codes: dict[str, _Code] = field(default_factory=dict)
    given: list[_Token] = field(default_factory=list)
    renewals: list[str] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    gate: threading.Event = field(default_factory=threading.Event)
    lasts: int = 3600
    fail: list[int] = field(default_factory=list)  # statuses of the next answers of tokens
    extra: dict[str, Any] = field(default_factory=dict)
    devices: dict[str, DeviceCredentialDict] = field(default_factory=dict)  # by device code
    said: dict[str, bool] = field(default_factory=dict)  # yes or no, by the code typed in
    hurried: int = 0  # how many of the next polls came too early
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def described(self) -> oauth.AuthorizationServer:
        return oauth.AuthorizationServer(
            name="google",
            label="Google",
            issuer=self.origin,
            authorize=f"{self.origin}/authorize",
            token=f"{self.origin}/token",
            device=f"{self.origin}/device",
        )

    def reset(self) -> None:
        self.codes, self.given, self.renewals = {}, [], []
        self.most_at_once, self.lasts, self.fail, self.extra = 0, 3600, [], {}
        self.devices, self.said, self.hurried = {}, {}, 0
        self.gate.set()

    def type_in(self, user_code: str, *, agree: bool = True) -> None:
        """The user has typed in the code, on a device of theirs, and says yes or no."""
        assert any(one.get_user_code() == user_code for one in self.devices.values())
        self.said[user_code] = agree

    def agree(self, page: str) -> dict[str, str]:
        """The user agrees at the page; the parameters that they come back with."""
        return self._answer(page, user="nora")

    def decline(self, page: str) -> dict[str, str]:
        return self._answer(page, user=None)

    def takes(self, access: str) -> bool:
        return any(one.access == access and not one.used for one in self.given)

    def take_back(self) -> None:
        """The user takes their consent back."""
        for one in self.given:
            one.used = True

    def _answer(self, page: str, *, user: str | None) -> dict[str, str]:
        asked = _Asked("GET", page, dict(parse_qsl(urlsplit(page).query)))
        grant = self._server.get_consent_grant(asked, end_user=user)
        said = self._server.create_authorization_response(asked, user, grant=grant)
        return dict(parse_qsl(urlsplit(said.location).query))

    def ask(self, path: str, form: dict[str, str]) -> tuple[int, Any]:
        renews = form.get("grant_type") == "refresh_token"
        with self._lock:
            self.at_once += renews
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            if renews:
                self.renewals.append(form["refresh_token"])
                self.gate.wait(10)
            if self.fail:
                return self.fail.pop(0), {"error": "later"}
            asked = _Asked("POST", f"{self.origin}{path}", form)
            if path == "/device":
                begun = self._server.create_endpoint_response("device_authorization", asked)
                return begun.status, begun.body
            said = self._server.create_token_response(asked)
            return said.status, {**said.body, **(self.extra if said.status == 200 else {})}
        finally:
            with self._lock:
                self.at_once -= renews

    @property
    def _server(self) -> "_Server":
        return _Server(self)


class _Server(AuthorizationServer):  # type: ignore[misc]  # untyped
    def __init__(self, world: OAuthServer) -> None:
        super().__init__()
        self.world = world
        issuer = IssuerParameter()
        issuer.get_issuer = lambda: world.origin
        self.register_extension(issuer)
        self.register_token_generator(
            "default",
            BearerTokenGenerator(
                lambda **_: f"access-{len(world.given) + 1}-{time.monotonic_ns()}",
                lambda **_: f"refresh-{len(world.given) + 1}-{time.monotonic_ns()}",
                lambda *_: world.lasts,
            ),
        )
        self.register_grant(_CodeGrant, [_Challenge(required=True)])
        self.register_grant(_RefreshGrant)
        self.register_grant(_DeviceGrant)
        self.register_endpoint(_DeviceEndpoint)

    def query_client(self, client_id: str) -> _Client | None:
        return _Client() if client_id == CLIENT_ID else None

    def save_token(self, token: dict[str, Any], request: Any) -> None:
        self.world.given.append(
            _Token(
                access=token["access_token"],
                refresh=token["refresh_token"],
                scope=token.get("scope", ""),
            )
        )

    def create_oauth2_request(self, request: Any) -> Any:
        return request

    def handle_response(self, status: int, body: Any, headers: Any) -> Any:
        return _Said(status=status, body=body, location=dict(headers).get("Location", ""))

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        pass


class _Challenge(CodeChallenge):  # type: ignore[misc]  # untyped
    SUPPORTED_CODE_CHALLENGE_METHOD = ["S256"]  # the library's own form

    def get_authorization_code_challenge(self, authorization_code: _Code) -> str:
        return authorization_code.challenge

    def get_authorization_code_challenge_method(self, authorization_code: _Code) -> str:
        return authorization_code.method


class _CodeGrant(grants.AuthorizationCodeGrant):  # type: ignore[misc]  # untyped
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_post"]

    def save_authorization_code(self, code: str, request: Any) -> None:
        self.server.world.codes[code] = _Code(
            code=code,
            redirect_uri=request.payload.redirect_uri,
            scope=request.payload.scope,
            challenge=request.payload.data["code_challenge"],
            method=request.payload.data["code_challenge_method"],
        )

    def query_authorization_code(self, code: str, client: Any) -> _Code | None:
        found: _Code | None = self.server.world.codes.get(code)
        return found

    def delete_authorization_code(self, authorization_code: _Code) -> None:
        del self.server.world.codes[authorization_code.code]

    def authenticate_user(self, authorization_code: _Code) -> str:
        return "nora"


class _RefreshGrant(grants.RefreshTokenGrant):  # type: ignore[misc]  # untyped
    INCLUDE_NEW_REFRESH_TOKEN = True
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_post"]

    def authenticate_refresh_token(self, refresh_token: str) -> _Token | None:
        given: list[_Token] = self.server.world.given
        found = next((one for one in given if one.refresh == refresh_token), None)
        if found is not None and found.used:
            self.server.world.take_back()  # RFC 9700, 4.14.2
            return None
        return found

    def authenticate_user(self, refresh_token: _Token) -> str:
        return "nora"

    def revoke_old_credential(self, refresh_token: _Token) -> None:
        refresh_token.used = True


class _DeviceEndpoint(DeviceAuthorizationEndpoint):  # type: ignore[misc]  # untyped
    CLIENT_AUTH_METHODS = ["client_secret_post"]

    def get_verification_uri(self) -> str:
        return f"{self.server.world.origin}/device-login"

    def save_device_credential(self, client_id: str, scope: str, data: dict[str, Any]) -> None:
        kept = DeviceCredentialDict(client_id=client_id, scope=scope, **data)
        self.server.world.devices[data["device_code"]] = kept


class _DeviceGrant(DeviceCodeGrant):  # type: ignore[misc]  # untyped
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_post"]

    def query_device_credential(self, device_code: str) -> DeviceCredentialDict | None:
        found: DeviceCredentialDict | None = self.server.world.devices.get(device_code)
        return found

    def query_user_grant(self, user_code: str) -> tuple[str, bool] | None:
        said: dict[str, bool] = self.server.world.said
        return ("nora", said[user_code]) if user_code in said else None

    def should_slow_down(self, credential: DeviceCredentialDict) -> bool:
        self.server.world.hurried -= 1
        return bool(self.server.world.hurried >= 0)


@contextlib.contextmanager
def running_oauth() -> Iterator[OAuthServer]:
    world = OAuthServer()
    world.gate.set()

    def token(request: Request) -> Response:  # in a thread: a renewal may be held
        form = dict(parse_qsl(request.state.body.decode(), keep_blank_values=True))
        status, body = world.ask(request.url.path, form)
        return JSONResponse(body, status)

    async def read(request: Request) -> Response:
        request.state.body = await request.body()
        return await run_in_threadpool(token, request)

    paths = ("/token", "/device")
    app = Starlette(routes=[Route(path, read, methods=["POST"]) for path in paths])
    with tempfile.TemporaryDirectory(prefix="remit-oauth-") as folder:
        pem = certificate(Path(folder))
        with serving(app, certificate=pem) as origin:
            world.origin, world.trusted = origin, Path(folder) / "ca.pem"
            yield world
