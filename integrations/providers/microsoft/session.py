"""JSON to Microsoft Graph in one user's name."""

import json
from collections.abc import Mapping
from typing import Any

from integrations.contracts import AccountRef
from integrations.exceptions import (
    Changed,
    CursorExpired,
    Malformed,
    NotFound,
    NotPermitted,
    ProviderError,
    RateLimited,
    Rejected,
    Unavailable,
)
from integrations.network import retries
from integrations.network.http import Answer
from integrations.providers.microsoft.servers import MICROSOFT
from integrations.providers.signed_in.session import SAID_CHARS, SignedInSession, open_session

REQUEST_ID_CHARS = 100
TAKEN = "errorduplicatetransactionid"
NAME_TAKEN = "namealreadyexists"
NO_ROOM = 507
# A token that Graph takes no more: ask for everything once.
LOST = frozenset({"syncstatenotfound", "syncstateinvalid", "resyncrequired"})


class Busy(RateLimited):
    """It asks to wait, and does not say that a write was left undone before."""

    outcome_unknown = True


class Taken(Rejected):
    """Something was created under the id of this transaction before."""

    outcome_unknown = True


class NameTaken(Rejected):
    """The folder has something of this name already."""


class GraphSession(SignedInSession):
    server = MICROSOFT
    # Else an id changes whenever its mail is moved.
    always = {"Prefer": 'IdType="ImmutableId"'}

    def path_of(self, link: str) -> str:
        """The path of a link that Graph gave, to be asked for as it is. Raises Malformed for one
        that leads elsewhere: the token goes nowhere else."""
        if not link.startswith(f"{self._api}/"):
            raise Malformed("a link to another place")
        return link.removeprefix(self._api)

    def _check(self, answer: Answer) -> None:
        status = answer.status
        self.request_id = answer.headers.get("request-id", "")[:REQUEST_ID_CHARS]
        if 200 <= status < 300:
            return
        wait = retries.retry_after(answer.headers.get("retry-after"))
        if status == 429:
            raise RateLimited(str(status), retry_after=wait)
        # These say “not so fast”, too, where they name a time.
        if status in (503, 504) and wait is not None:
            raise Busy(str(status), retry_after=wait)
        if status == NO_ROOM:
            raise Rejected("There is no room left there. Make some, and ask again.")
        if status == 408 or status >= 500:
            raise Unavailable(str(status))
        raise _refusal(answer)


def session_of(account: AccountRef) -> tuple[GraphSession, Mapping[str, Any]]:
    """With what the credential keeps. Raises NotPermitted where the account is not connected, or
    signed in no more."""
    return open_session(account, GraphSession)


def _refusal(answer: Answer) -> ProviderError:
    status, said = answer.status, answer.content[:SAID_CHARS].decode(errors="replace")
    if status == 410 or _code(answer) in LOST:
        return CursorExpired(str(status))
    if status == 403:
        return NotPermitted(
            "Microsoft does not let this user do that, or they agreed to reading alone. Then sign "
            "in again, and agree to all of it.",
            said=said,
        )
    if status == 404:
        return NotFound("404")
    if status == 412:
        return Changed("it has another version by now")
    if _code(answer) == TAKEN:
        return Taken("it was created before", said=said)
    if _code(answer) == NAME_TAKEN:
        return NameTaken("The folder has a file or folder of this name already.", said=said)
    return Rejected(f"Microsoft said no ({status})", said=said)


def _code(answer: Answer) -> str:
    try:
        return str(json.loads(answer.content)["error"]["code"]).casefold()
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
