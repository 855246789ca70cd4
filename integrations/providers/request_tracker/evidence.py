"""What became of a write to Request Tracker: by the invisible mark in what the account's own user
wrote, or by what the ticket is now."""

from collections.abc import Callable
from typing import Any

from integrations.contracts import Issue
from integrations.exceptions import NotFound
from integrations.models import IssueWrite
from integrations.network.answers import parse
from integrations.ports.evidence import CannotTell, Evidence, NotPerformed, Performed
from integrations.providers.request_tracker import listing
from integrations.providers.request_tracker.session import MAX_PAGES, PER_PAGE, RtSession
from integrations.providers.request_tracker.tickets import (
    CREATED,
    Listed,
    Transaction,
    check_queue,
    marks,
    moment,
)
from integrations.providers.trackers import writing

MOST = MAX_PAGES * PER_PAGE  # what is behind them was not looked at


def find(session: RtSession, row: IssueWrite, *, issue: Callable[[str], Issue]) -> Evidence:
    """Raises ProviderError."""
    try:
        if row.operation == "create_issue":
            return _created(session, row)
        if row.operation == "comment_issue":
            return _commented(session, row)
        return writing.judge_change(row, issue(row.issue_key))
    except NotFound:
        return CannotTell(ask_again_at=None)  # its queue or ticket is gone


def answer_of(base: str, key: str) -> dict[str, Any]:
    return {"id": key, "key": key, "url": f"{base}/Ticket/Display.html?id={key}"}


def _created(session: RtSession, row: IssueWrite) -> Evidence:
    since = moment(row.begun_at - writing.SKEW)
    query = f"Queue = '{check_queue(row.project)}' AND Creator = '__CurrentUser__'"
    params = {"query": f"{query} AND Created > '{since}'", "fields": "LastUpdated,Queue"}
    listed = list(session.listed("/tickets", **params, orderby="id", order="ASC"))
    for one in listed:
        key = parse(Listed, one).id
        for found in listing.transactions(session, key):
            if found.Type == CREATED and _has_mark(session, found, row.key):
                answer = answer_of(session.server.base, key)
                return Performed(response=answer, at=found.Created)
    if len(listed) >= MOST:
        return CannotTell(ask_again_at=None)
    return NotPerformed(proof="RT lists no ticket of this user's with the mark of this write.")


def _commented(session: RtSession, row: IssueWrite) -> Evidence:
    listed = list(listing.transactions(session, row.issue_key))
    for found in listed:
        is_own = found.Type == "Comment" and found.Creator.id == session.server.me
        if (
            is_own
            and found.Created >= row.begun_at - writing.SKEW
            and _has_mark(session, found, row.key)
        ):
            return Performed(response={"id": found.id}, at=found.Created)
    if len(listed) >= MOST:
        return CannotTell(ask_again_at=None)
    return NotPerformed(proof="The ticket has no comment of this user's with the mark of this one.")


def _has_mark(session: RtSession, found: Transaction, key: str) -> bool:
    text = listing.text(session, found)
    return text is not None and key in marks(text.source)
