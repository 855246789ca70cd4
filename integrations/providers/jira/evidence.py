"""What became of a write to Jira: by the property on what the account's own user wrote, or by what
the issue is now.

A property of an issue can be searched for only where an app has declared it, so Remit lists what
the user wrote since and looks at each.
"""

from collections.abc import Callable
from typing import Any

from integrations.contracts import Issue
from integrations.exceptions import NotFound
from integrations.models import IssueWrite
from integrations.network.answers import parse
from integrations.network.outgoing import segment
from integrations.ports.evidence import CannotTell, Evidence, NotPerformed, Performed
from integrations.providers.jira import listing
from integrations.providers.jira.issues import (
    PROPERTY,
    Marked,
    RawIssue,
    is_me,
)
from integrations.providers.jira.session import JiraSession
from integrations.providers.trackers import writing

MOST = listing.MAX_PAGES * listing.AT_ONCE  # comments: what is behind them was not looked at


def find(session: JiraSession, row: IssueWrite, *, issue: Callable[[str], Issue]) -> Evidence:
    """Raises ProviderError."""
    try:
        if row.operation == "create_issue":
            return _created(session, row)
        if row.operation == "comment_issue":
            return _commented(session, row)
        return writing.judge_change(row, issue(row.issue_key))
    except NotFound:
        return CannotTell(ask_again_at=None)  # its project or issue is gone


def answer_of(session: JiraSession, raw: RawIssue) -> dict[str, Any]:
    url = f"{session.server.base}/browse/{raw.key}"
    return {"id": raw.id, "key": raw.key, "url": url}


def _created(session: JiraSession, row: IssueWrite) -> Evidence:
    since = listing.moment(session, row.begun_at - writing.SKEW)
    query = f'project = "{row.project}" AND creator = currentUser() AND created >= "{since}"'
    place = ""
    for _ in range(listing.MAX_PAGES):
        found, place = listing.search(
            session, f"{query} ORDER BY key ASC", place=place, limit=listing.AT_ONCE
        )
        for raw in found:
            if _has_mark(session, f"/issue/{segment(raw.key)}", row.key):
                return Performed(response=answer_of(session, raw), at=raw.fields.created)
        if not place:
            return NotPerformed(
                proof="Jira lists no issue of this user's with the mark of this write."
            )
    return CannotTell(ask_again_at=None)


def _commented(session: JiraSession, row: IssueWrite) -> Evidence:
    listed = list(listing.comments(session, row.issue_key))
    for raw in listed:
        is_own = raw.author is not None and is_me(raw.author, server=session.server)
        may_be = is_own and raw.created >= row.begun_at - writing.SKEW
        if may_be and _has_mark(session, f"/comment/{segment(raw.id)}", row.key):
            return Performed(response={"id": raw.id}, at=raw.created)
    if len(listed) >= MOST:
        return CannotTell(ask_again_at=None)
    return NotPerformed(proof="The issue has no comment of this user's with the mark of this one.")


def _has_mark(session: JiraSession, path: str, key: str) -> bool:
    try:
        found = parse(Marked, session.get(f"{path}/properties/{PROPERTY}"))
    except NotFound:
        return False
    return found.value.get("key") == key
