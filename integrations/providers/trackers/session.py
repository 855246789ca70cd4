"""JSON to one tracker in one user's name: over TLS alone, to the very address that was looked at,
and to no other site. A sign-in that is refused is not tried again."""

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

from django.conf import settings

from integrations.contracts import AccountRef
from integrations.credentials import credentials
from integrations.credentials.credentials import SignIn
from integrations.exceptions import (
    Changed,
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

MAX_ANSWER_BYTES = 32 * 1024 * 1024
SAID_CHARS = 300
Slot = Callable[[], AbstractContextManager[None]]
Heard = Callable[[], None]
Params = Mapping[str, str | int]
S = TypeVar("S", bound="TrackerSession")


class SignInRefused(SignInNeeded):
    """The tracker does not take this token."""


class Refused(Rejected):
    """A 4xx answer without a meaning of its own here."""

    def __init__(self, answer: Answer) -> None:
        said = answer.content[:SAID_CHARS].decode(errors="replace")
        super().__init__(f"the tracker said no ({answer.status})", said=said)
        self.status = answer.status


def wait_of(answer: Answer) -> float | None:
    """For how many seconds the tracker does not want to be asked; None: it does not say."""
    return retries.retry_after(answer.headers.get("retry-after"))


def clock_of(answer: Answer) -> datetime | None:
    """What time it was there (RFC 9110, 6.6.1); None: the tracker does not say."""
    try:
        return parsedate_to_datetime(answer.headers["date"]).astimezone(UTC)
    except (KeyError, ValueError, OverflowError):
        return None


class TrackerSession:
    """`base` is what all paths stand behind. `answered_at` is the time of the last answer by the
    tracker's own clock, None where it has none. `limited` tells an answer that only says “not so
    fast” from a refusal. `refused` hears that the tracker does not take the sign-in."""

    def __init__(
        self,
        base: str,
        headers: Mapping[str, str],
        *,
        limited: Callable[[Answer], RateLimited | None],
        slot: Slot = nullcontext,
        refused: Heard = lambda: None,
    ) -> None:
        self._base, self._limited, self._slot, self._refused = base, limited, slot, refused
        self._headers = {"User-Agent": "remit", "Accept-Encoding": "identity", **headers}
        self.request_id = ""
        self.answered_at: datetime | None = None

    def get(self, path: str, params: Params | None = None) -> Any:
        """Reading changes nothing: what may pass is tried again. Raises ProviderError."""
        return self._asked("GET", path, params, None)

    def search(self, path: str, body: Any) -> Any:
        """A POST that reads."""
        return self._asked("POST", path, None, body)

    def send(self, method: str, path: str, body: Mapping[str, Any], *, condition: str = "") -> Any:
        """One write, tried once. Raises ProviderError; Changed where the tracker itself holds it to
        a version, the `condition`, and has another one."""
        with self._slot():
            return self._once(method, path, None, body, condition)

    def _asked(self, method: str, path: str, params: Params | None, body: Any) -> Any:
        return retries.tried(
            lambda: self._once(method, path, params, body),
            attempts=settings.DATA_SERVICE_ATTEMPTS,
            slot=self._slot,
        )

    def _once(
        self,
        method: str,
        path: str,
        params: Params | None,
        body: Any,
        condition: str = "",
    ) -> Any:
        url = f"{self._base}{path}" + (f"?{urlencode(params)}" if params else "")
        parts = urlsplit(outgoing.check_url(url))
        sent = {} if body is None else {"Content-Type": "application/json"}
        if condition:
            sent["If-Match"] = condition
        answer = http.exchange(
            http.client(f"{parts.scheme}://{parts.netloc}"),
            method,
            url,
            address=outgoing.public_address(url),
            content=b"" if body is None else json.dumps(body).encode(),
            headers={**self._headers, **sent},
            most_bytes=MAX_ANSWER_BYTES,
        )
        self._note(answer)
        self._check(answer)
        return _read(answer)

    def _note(self, answer: Answer) -> None:
        names = ("x-github-request-id", "x-arequestid", "x-request-id")
        found = next((answer.headers[one] for one in names if one in answer.headers), "")
        self.request_id = found if http.REQUEST_ID.fullmatch(found) else ""
        self.answered_at = clock_of(answer)

    def _check(self, answer: Answer) -> None:
        status = answer.status
        if limited := self._limited(answer):
            raise limited
        if status == 401:
            self._refused()
            raise SignInRefused("The tracker refused the sign-in.")
        if status == 408 or status >= 500:
            raise Unavailable(str(status))
        error: ProviderError | None = None
        if status == 403:
            error = NotPermitted("The tracker does not let this user do that.")
        elif status in (404, 410):
            error = NotFound(str(status))
        elif status == 412:
            error = Changed("it has another version by now")
        elif not 200 <= status < 300:
            # A redirect is one, too: what has moved is not what was looked at.
            error = Refused(answer)
        if error is not None:
            raise error


def session_of(account: AccountRef, make: Callable[[SignIn, Slot, Heard], S]) -> S:
    """Raises NotPermitted where the account is not connected, or signed in no more. All processes
    share one pace for an account."""
    sign_in = credentials.open_sign_in(account)

    def slot() -> AbstractContextManager[None]:
        return Gate(f"{account.source} {account.id}").slot()

    def refused() -> None:
        credentials.ask_to_sign_in(account.id)

    return make(sign_in, slot, refused)


def _read(answer: Answer) -> Any:
    if not answer.content:
        return None
    try:
        return json.loads(answer.content)
    except (ValueError, RecursionError) as error:
        raise Malformed("the answer is not JSON") from error
