"""Requests to GitHub with one user's token."""

import time
from collections.abc import Iterator
from typing import Any

from integrations.contracts import AccountRef
from integrations.credentials.credentials import SignIn
from integrations.exceptions import RateLimited
from integrations.network.answers import parse, rows
from integrations.network.http import Answer
from integrations.providers.github.issues import Repository
from integrations.providers.github.servers import GitHubServer
from integrations.providers.trackers import session
from integrations.providers.trackers.session import Heard, Slot, TrackerSession

# What GitHub asks for where it names no time (“Best practices for using the REST API”).
SECONDARY_SECONDS = 60.0
PER_PAGE = 100
MAX_PAGES = 10  # of repositories, people or comments; what is behind them is not there for Remit


class GitHubSession(TrackerSession):
    def __init__(self, server: GitHubServer, sign_in: SignIn, slot: Slot, refused: Heard):
        headers = {
            "Authorization": f"Bearer {sign_in.secret}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        super().__init__(server.api, headers, limited=limited, slot=slot, refused=refused)
        self.server = server

    def listed(self, path: str, **params: str) -> Iterator[Any]:
        """All there is, up to MAX_PAGES."""
        for page in range(1, MAX_PAGES + 1):
            found = rows(self.get(path, {**params, "per_page": PER_PAGE, "page": page}))
            yield from found
            if len(found) < PER_PAGE:
                return


def session_of(account: AccountRef) -> GitHubSession:
    """Raises NotPermitted where the account is not connected, or signed in no more."""

    def make(sign_in: SignIn, slot: Slot, refused: Heard) -> GitHubSession:
        return GitHubSession(GitHubServer.from_json(sign_in.servers), sign_in, slot, refused)

    return session.session_of(account, make)


def repositories(session: GitHubSession) -> list[Repository]:
    """Those in which this account has issues."""
    found = (parse(Repository, one) for one in session.listed("/user/repos", sort="full_name"))
    return [
        one
        for one in found
        if one.has_issues and not one.archived and session.server.counts(one.full_name)
    ]


def limited(answer: Answer) -> RateLimited | None:
    """A 403 or 429 that says “not so fast”: by its headers, or by what it says."""
    if answer.status not in (403, 429):
        return None
    wait = session.wait_of(answer)
    if wait is None and answer.headers.get("x-ratelimit-remaining") == "0":
        reset = answer.headers.get("x-ratelimit-reset", "")
        wait = max(1.0, float(reset) - time.time()) if reset.isdecimal() else SECONDARY_SECONDS
    if wait is None and b"secondary rate limit" in answer.content[:2_000]:
        wait = SECONDARY_SECONDS
    if wait is None and answer.status == 403:
        return None
    return RateLimited(str(answer.status), retry_after=wait)
