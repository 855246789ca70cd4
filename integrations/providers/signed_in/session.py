"""JSON to a service in one user's name: over TLS alone, to the very address that was looked at. A
token that is not taken is renewed once; then the user has to sign in again."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, TypeVar
from urllib.parse import urlencode, urlsplit

from django.conf import settings

from integrations.contracts import AccountRef
from integrations.credentials import credentials, tokens
from integrations.credentials.oauth import AuthorizationServer
from integrations.exceptions import Malformed, NotPermitted, SignInNeeded
from integrations.network import http, outgoing, retries
from integrations.network.gate import Gate
from integrations.network.http import Answer
from integrations.network.outgoing import check_url

# A mail of 25 MB in base64, within JSON.
MAX_ANSWER_BYTES = 48 * 1024 * 1024
SAID_CHARS = 300
Params = Mapping[str, str | int | list[str]]
Slot = Callable[[], AbstractContextManager[None]]
Token = Callable[[str], str]
S = TypeVar("S", bound="SignedInSession")


class SignInRefused(SignInNeeded):
    """The provider does not take this user's tokens any more."""


class SignedInSession(ABC):
    """`api` is what all paths stand behind. `token` gives one that is none of those that were
    refused; `refused` hears that none is taken."""

    server: ClassVar[AuthorizationServer]
    always: ClassVar[Mapping[str, str]] = {}
    """Headers of every request."""

    def __init__(
        self,
        api: str,
        token: Token,
        *,
        slot: Slot = nullcontext,
        refused: Callable[[], object] = lambda: None,
    ) -> None:
        self._api, self._token, self._slot, self._refused = api, token, slot, refused
        self.request_id = ""

    def get(self, path: str, params: Params | None = None) -> Any:
        """Reading changes nothing: what may pass is tried again. Raises ProviderError."""
        return read(self._tried(path, params, MAX_ANSWER_BYTES))

    def download(self, path: str, params: Params, *, most_bytes: int) -> bytes:
        """What is there as it is. Raises TooLarge for more, and what `get` raises."""
        return self._tried(path, params, most_bytes).content

    def _tried(self, path: str, params: Params | None, most_bytes: int) -> Answer:
        return retries.tried(
            lambda: self._once("GET", f"{self._api}{path}", params, b"", {}, most_bytes),
            attempts=settings.DATA_SERVICE_ATTEMPTS,
            slot=self._slot,
        )

    def send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        params: Params | None = None,
        etag: str = "",
    ) -> Any:
        """One write, tried once. With `etag` it is for that version alone. Raises ProviderError."""
        headers = {"If-Match": etag} if etag else {}
        if body is not None:
            headers["Content-Type"] = "application/json"
        content = b"" if body is None else json.dumps(body).encode()
        return self._write(method, f"{self._api}{path}", params, content, headers)

    def _write(
        self,
        method: str,
        url: str,
        params: Params | None,
        content: bytes,
        headers: Mapping[str, str],
    ) -> Any:
        with self._slot():
            return read(self._once(method, url, params, content, headers, MAX_ANSWER_BYTES))

    def _once(
        self,
        method: str,
        url: str,
        params: Params | None,
        content: bytes,
        headers: Mapping[str, str],
        most_bytes: int,
    ) -> Answer:
        url += f"?{urlencode(params, doseq=True)}" if params else ""
        check_url(url)
        token = self._token("")
        answer = self._exchange(method, url, content, headers, token, most_bytes)
        if answer.status == 401:
            answer = self._exchange(method, url, content, headers, self._token(token), most_bytes)
        if answer.status == 401:
            self._refused()
            raise SignInRefused(f"{self.server.label} refused the sign-in.")
        self._check(answer)
        return answer

    def _exchange(
        self,
        method: str,
        url: str,
        content: bytes,
        headers: Mapping[str, str],
        token: str,
        most_bytes: int,
    ) -> Answer:
        parts = urlsplit(url)
        sent = {"Authorization": f"Bearer {token}", "User-Agent": "remit", **self.always, **headers}
        return http.exchange(
            http.client(f"{parts.scheme}://{parts.netloc}"),
            method,
            url,
            address=outgoing.public_address(url),
            content=content,
            headers=sent,
            most_bytes=most_bytes,
        )

    @abstractmethod
    def _check(self, answer: Answer) -> None:
        """Raises ProviderError for what is no success."""


def open_session(
    account: AccountRef, kind: type[S], *, service: str = "api"
) -> tuple[S, Mapping[str, Any]]:
    """With what the credential keeps of the provider. Raises NotPermitted where the account is not
    connected, was connected without this service, or is signed in no more. All processes share one
    pace for an account."""
    sign_in = credentials.open_sign_in(account)
    if service not in sign_in.servers:
        raise NotPermitted("The account was connected for less. Its user has to sign in again.")

    def slot() -> AbstractContextManager[None]:
        return Gate(f"{kind.server.name} {account.id}").slot()

    def token(refused: str) -> str:
        return tokens.access_token(account, kind.server, refused=refused)

    def refused() -> None:
        credentials.ask_to_sign_in(account.id)

    session = kind(str(sign_in.servers[service]), token, slot=slot, refused=refused)
    return session, sign_in.servers


def read(answer: Answer) -> Any:
    if not answer.content:
        return None
    try:
        return json.loads(answer.content)
    except (ValueError, RecursionError) as error:
        raise Malformed("the answer is not JSON") from error
