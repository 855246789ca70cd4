"""What Jira lists: projects, issues by a query, people and comments."""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from integrations.exceptions import Malformed
from integrations.network.answers import parse, rows
from integrations.network.outgoing import segment
from integrations.providers.jira.issues import (
    FIELDS,
    Comments,
    Person,
    Project,
    RawComment,
    RawIssue,
)
from integrations.providers.jira.session import JiraSession
from integrations.providers.trackers.session import Params

AT_ONCE = 100
MAX_PAGES = 10  # of projects, people or comments; what is behind them is not there for Remit


def moment(session: JiraSession, at: datetime) -> str:
    """As a query has it: to the minute, where the user is."""
    name = parse(Person, session.get("/myself")).timeZone
    zone = ZoneInfo(name if name in _zones() else "UTC")
    return f"{at.astimezone(UTC).astimezone(zone):%Y-%m-%d %H:%M}"


def search(
    session: JiraSession, query: str, *, place: str, limit: int
) -> tuple[list[RawIssue], str]:
    """Issues, and the place behind them; empty: there are no more."""
    body = {"jql": query, "maxResults": limit, "fields": list(FIELDS)}
    if session.server.is_cloud:
        more = {"nextPageToken": place} if place else {}
        data = _object(session.search("/search/jql", {**body, **more}))
        following = "" if data.get("isLast") else str(data.get("nextPageToken") or "")
        return _issues(data), following
    start = int(place or 0)
    data = _object(session.search("/search", {**body, "startAt": start}))
    found = _issues(data)
    end = start + len(found)
    return found, str(end) if found and end < int(data.get("total", 0)) else ""


def projects(session: JiraSession) -> list[Project]:
    """Those in which this account has issues."""
    found = [one for one in _projects(session) if session.server.counts(one.key)]
    return sorted(found, key=lambda one: one.key)


def people(session: JiraSession, params: Params) -> Iterator[Person]:
    """Who may be given an issue."""
    for page in _pages():
        found = rows(session.get("/user/assignable/search", {**params, **page}))
        yield from (parse(Person, one) for one in found)
        if len(found) < AT_ONCE:
            return


def comments(session: JiraSession, key: str) -> Iterator[RawComment]:
    for page in _pages():
        found = parse(Comments, session.get(f"/issue/{segment(key)}/comment", page))
        yield from found.comments
        if page["startAt"] + AT_ONCE >= found.total:
            return


def _projects(session: JiraSession) -> Iterator[Project]:
    if not session.server.is_cloud:
        yield from (parse(Project, one) for one in rows(session.get("/project")))
        return
    for page in _pages():
        data = _object(session.get("/project/search", page))
        yield from (parse(Project, one) for one in rows(data.get("values")))
        if data.get("isLast", True):
            return


def _pages() -> Iterator[dict[str, int]]:
    for number in range(MAX_PAGES):
        yield {"startAt": number * AT_ONCE, "maxResults": AT_ONCE}


def _issues(data: dict[str, Any]) -> list[RawIssue]:
    return [parse(RawIssue, one) for one in rows(data.get("issues"))]


def _object(data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise Malformed("the answer is no object")
    return data


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())
