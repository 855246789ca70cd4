"""JSON to one of Google's services in one user's name: over TLS alone, to the very address that was
looked at. A token that is not taken is renewed once; then the user has to sign in again."""

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings

from integrations.contracts import AccountRef
from integrations.credentials import credentials, tokens
from integrations.exceptions import (
    Changed,
    CursorExpired,
    Malformed,
    NotFound,
    NotPermitted,
    ProviderError,
    RateLimited,
    Rejected,
    SignInNeeded,
    Unavailable,
)
from integrations.network import http, outgoing, retries
from integrations.network.gate import Gate
from integrations.network.http import Answer
from integrations.network.outgoing import check_url
from integrations.providers.google.servers import GOOGLE, GoogleService

# A mail of 25 MB in base64, within JSON.
MAX_ANSWER_BYTES = 48 * 1024 * 1024
SAID_CHARS = 300
# Reasons of a 403 that say “not so fast”, and for how long where no header does.
SLOWER = {"rateLimitExceeded": 5.0, "userRateLimitExceeded": 5.0, "quotaExceeded": 600.0}
SLOWER |= {"dailyLimitExceeded": 3600.0}
TOO_NARROW = frozenset({"insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"})
Params = Mapping[str, str | int | list[str]]
Slot = Callable[[], AbstractContextManager[None]]
Token = Callable[[str], str]


class SignInRefused(SignInNeeded):
    """Google does not take this user's tokens any more."""


class Taken(Rejected):
    """409: something has this id already."""

    code = "taken"


class GoogleSession:
    """`api` is what all paths stand behind. `token` gives one that is none of those that were
    refused; `refused` hears that none is taken."""

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
        return _read(self._tried(path, params, MAX_ANSWER_BYTES))

    def download(self, path: str, params: Params, *, most_bytes: int) -> bytes:
        """What is there as it is. Raises TooLarge for more, and what `get` raises."""
        return self._tried(path, params, most_bytes).content

    def _tried(self, path: str, params: Params | None, most_bytes: int) -> Answer:
        return retries.tried(
            lambda: self._once("GET", path, params, None, {}, most_bytes),
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
        with self._slot():
            headers = {"If-Match": etag} if etag else {}
            return _read(self._once(method, path, params, body, headers, MAX_ANSWER_BYTES))

    def _once(
        self,
        method: str,
        path: str,
        params: Params | None,
        body: Mapping[str, Any] | None,
        headers: Mapping[str, str],
        most_bytes: int,
    ) -> Answer:
        url = f"{self._api}{path}" + (f"?{urlencode(params, doseq=True)}" if params else "")
        check_url(url)
        token = self._token("")
        answer = self._exchange(method, url, body, headers, token, most_bytes)
        if answer.status == 401:
            answer = self._exchange(method, url, body, headers, self._token(token), most_bytes)
        if answer.status == 401:
            self._refused()
            raise SignInRefused("Google refused the sign-in.")
        _check(answer)
        return answer

    def _exchange(
        self,
        method: str,
        url: str,
        body: Mapping[str, Any] | None,
        headers: Mapping[str, str],
        token: str,
        most_bytes: int,
    ) -> Answer:
        parts = urlsplit(url)
        sent = {"Authorization": f"Bearer {token}", "User-Agent": "remit", **headers}
        if body is not None:
            sent["Content-Type"] = "application/json"
        return http.exchange(
            http.client(f"{parts.scheme}://{parts.netloc}"),
            method,
            url,
            address=outgoing.public_address(url),
            content=b"" if body is None else json.dumps(body).encode(),
            headers=sent,
            most_bytes=most_bytes,
        )


def session_of(account: AccountRef) -> GoogleSession:
    """Raises NotPermitted where the account is not connected, or signed in no more. All processes
    share one pace for an account."""
    sign_in = credentials.open_sign_in(account)

    def slot() -> AbstractContextManager[None]:
        return Gate(f"google {account.id}").slot()

    def token(refused: str) -> str:
        return tokens.access_token(account, GOOGLE, refused=refused)

    def refused() -> None:
        credentials.ask_to_sign_in(account.id)

    api = GoogleService.from_json(sign_in.servers).api
    return GoogleSession(api, token, slot=slot, refused=refused)


def _check(answer: Answer) -> None:
    """Raises ProviderError for what is no success."""
    status = answer.status
    if 200 <= status < 300:
        return
    reasons = _reasons(answer)
    slower = max((SLOWER[one] for one in reasons if one in SLOWER), default=None)
    if status == 429 or (status == 403 and slower is not None):
        wait = retries.retry_after(answer.headers.get("retry-after"))
        raise RateLimited(str(status), retry_after=slower if wait is None else wait)
    if status == 408 or status >= 500:
        raise Unavailable(str(status))
    raise _refusal(answer, reasons)


def _refusal(answer: Answer, reasons: frozenset[str]) -> ProviderError:
    status = answer.status
    said = answer.content[:SAID_CHARS].decode(errors="replace")
    if status == 403 and reasons & TOO_NARROW:
        return NotPermitted("The user did not agree to this at Google. Sign in again.")
    if status == 403:
        return NotPermitted("Google does not let this user do that.", said=said)
    if status == 404:
        return NotFound("404")
    if status == 409:
        return Taken("something has this id already", said=said)
    if status == 410:
        return CursorExpired("410") if "fullSyncRequired" in reasons else NotFound("410")
    if status == 412:
        return Changed("it has another version by now")
    return Rejected(f"Google said no ({status})", said=said)


def _reasons(answer: Answer) -> frozenset[str]:
    """Google's own words for why, in both of its forms."""
    try:
        error = json.loads(answer.content)["error"]
        rows = [*error.get("errors", ()), *error.get("details", ())]
        return frozenset(str(one["reason"]) for one in rows if "reason" in one)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return frozenset()


def _read(answer: Answer) -> Any:
    if not answer.content:
        return None
    try:
        return json.loads(answer.content)
    except (ValueError, RecursionError) as error:
        raise Malformed("the answer is not JSON") from error
