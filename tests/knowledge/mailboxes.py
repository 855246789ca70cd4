"""A provider's mailbox in memory, and syncs of it."""

from collections.abc import Callable
from typing import Any

from django.utils import timezone

from integrations.contracts import AccountRef, Change, Email, Page, Rejected
from integrations.exceptions import NotFound
from knowledge.models import SyncSource
from knowledge.sync import runs as sync_runs, sync
from tests.knowledge.office import email


class Mailbox:
    """A provider's list of mails, two a page. `before` may raise when a page is asked for."""

    def __init__(self, count: int) -> None:
        self.mails = [email(id=f"m{n}", subject=f"Mail {n}", body_text="x") for n in range(count)]
        self.asked: list[str | None] = []
        self.before: Callable[[str | None], None] = lambda cursor: None
        self.rejected: tuple[Rejected, ...] = ()
        self.removed: tuple[Change, ...] | None = None

    def history(self, *, cursor: str | None, **_: Any) -> Page[Change]:
        """Of a service that keeps none, unless something was removed. Two entries a page."""
        if self.removed is None:
            raise NotFound("no history")
        start = int(cursor or 0)
        following = str(start + 2) if start + 2 < len(self.removed) else None
        return Page(items=self.removed[start : start + 2], next_cursor=following)

    def item(self, item_id: str) -> Email:
        for mail in self.mails:
            if mail.id == item_id:
                return mail
        raise NotFound("no such mail")

    def items(self, *, since: Any, cursor: str | None, limit: int) -> Page[Email]:
        self.asked.append(cursor)
        self.before(cursor)
        start = int(cursor or 0)
        following = str(start + 2) if start + 2 < len(self.mails) else None
        return Page(
            items=tuple(self.mails[start : start + 2]),
            next_cursor=following,
            rejected=self.rejected,
        )

    items_in_window = items


def started(owner: AccountRef) -> SyncSource:
    requested = sync_runs.request_sync(
        organisation_id=owner.organisation_id,
        external_user_id=owner.external_user_id,
        now=timezone.now(),
    )
    assert requested is not None
    [sync_id] = requested.queued
    return SyncSource.objects.get(pk=sync_id)


def advance(row: SyncSource, *, seconds: float = 60.0) -> str:
    result = sync.advance(row.pk, clock=timezone.now, seconds=seconds)
    row.refresh_from_db()
    return result


def counts(row: SyncSource) -> tuple[int, int, int, int]:
    return row.received, row.processed, row.skipped, row.failed
