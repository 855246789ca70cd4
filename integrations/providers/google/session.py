"""JSON to one of Google's services in one user's name."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from integrations.contracts import AccountRef
from integrations.exceptions import (
    Changed,
    CursorExpired,
    NotFound,
    NotPermitted,
    ProviderError,
    RateLimited,
    Rejected,
    Unavailable,
)
from integrations.network import retries
from integrations.network.http import Answer
from integrations.providers.google.servers import GOOGLE
from integrations.providers.signed_in.session import (
    SAID_CHARS,
    Params,
    SignedInSession,
    open_session,
)

# Reasons of a 403 that say “not so fast”, and for how long where no header does.
SLOWER = {"rateLimitExceeded": 5.0, "userRateLimitExceeded": 5.0, "quotaExceeded": 600.0}
SLOWER |= {"dailyLimitExceeded": 3600.0}
TOO_NARROW = frozenset({"insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"})


class Taken(Rejected):
    """409: something has this id already."""

    code = "taken"


class GoogleSession(SignedInSession):
    server = GOOGLE

    def upload(
        self,
        method: str,
        path: str,
        about: Mapping[str, Any],
        content: bytes,
        *,
        kind: str,
        params: Params,
    ) -> Any:
        """One write of bytes with what is said of them, tried once. Raises ProviderError."""
        parts, edge = urlsplit(self._api), uuid4().hex
        said = json.dumps(about).encode()
        body = (
            f"--{edge}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n".encode()
            + said
            + f"\r\n--{edge}\r\nContent-Type: {kind}\r\n\r\n".encode()
            + content
            + f"\r\n--{edge}--\r\n".encode()
        )
        return self._write(
            method,
            f"{parts.scheme}://{parts.netloc}/upload{parts.path}{path}",
            {**params, "uploadType": "multipart"},
            body,
            {"Content-Type": f"multipart/related; boundary={edge}"},
        )

    def _check(self, answer: Answer) -> None:
        _check(answer)


def session_of(account: AccountRef, *, service: str = "api") -> GoogleSession:
    """With the service that the credential keeps under this name. Raises NotPermitted where the
    account is not connected, or signed in no more."""
    return open_session(account, GoogleSession, service=service)[0]


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
