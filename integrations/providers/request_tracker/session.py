"""Requests to Request Tracker with one user's token."""

from collections.abc import Iterator, Mapping
from typing import Any

from integrations.contracts import AccountRef
from integrations.credentials.credentials import SignIn
from integrations.exceptions import Malformed, RateLimited
from integrations.network.answers import rows
from integrations.network.http import Answer
from integrations.providers.request_tracker.servers import API, RequestTracker
from integrations.providers.trackers import session
from integrations.providers.trackers.session import Heard, Slot, TrackerSession

PER_PAGE = 100
MAX_PAGES = 10  # of queues or transactions; what is behind them is not there for Remit


class RtSession(TrackerSession):
    """`etag` is what the last answer said of the version of what was asked for, and `created` the
    number of what was created."""

    def __init__(self, server: RequestTracker, sign_in: SignIn, slot: Slot, refused: Heard):
        headers = {"Accept": "application/json", "Authorization": f"token {sign_in.secret}"}
        base = f"{server.base}{API}"
        super().__init__(base, headers, limited=limited, slot=slot, refused=refused)
        self.server = server
        self.etag = self.created = ""

    def listed(self, path: str, **params: str) -> Iterator[Any]:
        """All there is, up to MAX_PAGES."""
        for page in range(1, MAX_PAGES + 1):
            found = items(self.get(path, {**params, "per_page": PER_PAGE, "page": page}))
            yield from found
            if len(found) < PER_PAGE:
                return

    def _note(self, answer: Answer) -> None:
        super()._note(answer)
        self.etag = answer.headers.get("etag", "")
        self.created = answer.headers.get("location", "").rpartition("/")[2]


def session_of(account: AccountRef) -> RtSession:
    """Raises NotPermitted where the account is not connected, or signed in no more."""

    def make(sign_in: SignIn, slot: Slot, refused: Heard) -> RtSession:
        return RtSession(RequestTracker.from_json(sign_in.servers), sign_in, slot, refused)

    return session.session_of(account, make)


def items(data: Any) -> list[Any]:
    """Raises Malformed."""
    if not isinstance(data, Mapping):
        raise Malformed("the answer is no list")
    return rows(data.get("items"))


def limited(answer: Answer) -> RateLimited | None:
    """RT has no limits of its own; what stands before it may."""
    if answer.status != 429:
        return None
    return RateLimited("429", retry_after=session.wait_of(answer))
