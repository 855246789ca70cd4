"""What has happened in somebody's tracker since it was last looked at.

The tracker lists what was changed since a time of its own. Each look begins a little before the
newest change that was seen, because trackers list a change late; what is seen twice has the same
name both times. At the first look nothing is news: what is there is read in by a sync. That look
reads the tracker's own clock: by Remit's, all that happens until a clock that is behind has caught
up would be hidden.
"""

from collections.abc import Generator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from integrations.contracts import AccountRef, Issue
from integrations.models import IssueMark
from integrations.providers import item_events
from integrations.providers.trackers.reader import TrackerReader

OVERLAP = timedelta(minutes=5)
READ_AT_ONCE = 50


@dataclass(frozen=True, kw_only=True)
class Looked:
    """Events, each with a name of its own, and how far that is. Keep the mark in one transaction
    with them."""

    events: tuple[item_events.Event, ...]
    mark: IssueMark

    def keep(self) -> None:
        IssueMark.objects.update_or_create(
            account_id=self.mark.account_id, defaults={"seen_to": self.mark.seen_to}
        )


def look(account: AccountRef, reader: TrackerReader) -> Generator[Looked]:
    """Page by page. Keep each before going on. Raises ProviderError."""
    mark = IssueMark.objects.filter(account_id=account.id).first()
    if mark is None:
        now = timezone.now()
        reader.items(since=now, cursor=None, limit=1)  # does it answer, and what time is it there?
        seen_to = reader.session.answered_at or now
        yield Looked(events=(), mark=IssueMark(account_id=account.id, seen_to=seen_to))
        return
    since, newest, cursor = mark.seen_to - OVERLAP, mark.seen_to, None
    while True:
        page = reader.items(since=since, cursor=cursor, limit=READ_AT_ONCE)
        issues = [one for one in page.items if isinstance(one, Issue)]
        newest = max([newest, *(one.updated_at for one in issues if one.updated_at)])
        # How far it was looked is known only behind the last page: pages have an order of their
        # own.
        seen_to = mark.seen_to if page.next_cursor else newest
        yield Looked(
            events=tuple(_event(account, one, since) for one in issues),
            mark=IssueMark(account_id=account.id, seen_to=seen_to),
        )
        if page.next_cursor is None:
            return
        cursor = page.next_cursor


def _event(account: AccountRef, issue: Issue, since: datetime) -> item_events.Event:
    kind: item_events.Kind = "created" if issue.created_at >= since else "updated"
    return f"{account.source} {issue.revision}", item_events.seen(account, kind, issue)
