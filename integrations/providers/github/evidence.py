"""What became of a write to GitHub: by the invisible mark in what the account's own user wrote, or
by what the issue is now."""

from collections.abc import Callable
from datetime import UTC

from integrations.contracts import Issue
from integrations.exceptions import NotFound
from integrations.models import IssueWrite
from integrations.network.answers import parse
from integrations.ports.evidence import CannotTell, Evidence, NotPerformed, Performed
from integrations.providers.github.issues import RawComment, RawIssue, marks, path_of, path_of_issue
from integrations.providers.github.session import MAX_PAGES, PER_PAGE, GitHubSession
from integrations.providers.trackers import writing

MOST = MAX_PAGES * PER_PAGE  # what is behind them was not looked at


def find(session: GitHubSession, row: IssueWrite, *, issue: Callable[[str], Issue]) -> Evidence:
    """Raises ProviderError."""
    try:
        if row.operation == "create_issue":
            return _created(session, row)
        if row.operation == "comment_issue":
            return _commented(session, row)
        return writing.judge_change(row, issue(row.issue_key))
    except NotFound:
        return CannotTell(ask_again_at=None)  # its project or issue is gone


def _created(session: GitHubSession, row: IssueWrite) -> Evidence:
    params = {"creator": session.server.login, "state": "all", "since": _since(row)}
    listed = list(session.listed(f"{path_of(row.project)}/issues", **params))
    for one in listed:
        raw = parse(RawIssue, one)
        if raw.pull_request is None and row.key in marks(raw.body):
            return Performed(response=answer_of(raw), at=raw.created_at)
    if len(listed) >= MOST:
        return CannotTell(ask_again_at=None)
    return NotPerformed(proof="GitHub lists no issue of this user's with the mark of this write.")


def _commented(session: GitHubSession, row: IssueWrite) -> Evidence:
    path = f"{path_of_issue(row.issue_key)}/comments"
    listed = list(session.listed(path, since=_since(row)))
    for one in listed:
        raw = parse(RawComment, one)
        is_own = raw.user is not None and raw.user.login == session.server.login
        if is_own and row.key in marks(raw.body):
            return Performed(response=comment_answer(raw), at=raw.created_at)
    if len(listed) >= MOST:
        return CannotTell(ask_again_at=None)
    return NotPerformed(proof="The issue has no comment of this user's with the mark of this one.")


def answer_of(raw: RawIssue) -> dict[str, str]:
    return {"id": raw.key, "key": raw.key, "url": raw.html_url}


def comment_answer(raw: RawComment) -> dict[str, str]:
    return {"id": str(raw.id), "url": raw.html_url}


def _since(row: IssueWrite) -> str:
    return f"{(row.begun_at - writing.SKEW).astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
