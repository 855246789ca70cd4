"""What has happened in a mailbox since it was last looked at.

Each folder has a mark (`MailMark`): how its mails were numbered, the next number, how many there
were, and the last change where the server counts them (CONDSTORE, RFC 7162). A folder that is as
its mark says costs one STATUS. Another one says what happened in the answer that opens it (QRESYNC,
in the same RFC); a server that cannot is asked bit by bit. A folder that is seen for the first
time, or is numbered anew, gets a mark and nothing else: what it holds is read in by a sync, and is
no news.
"""

from bisect import bisect_right
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from imapclient.exceptions import (  # type: ignore[import-untyped]
    IMAPClientAbortError,
    IMAPClientError,
)

from integrations.contracts import AccountRef
from integrations.models import MailMark, MailPlace
from integrations.providers import item_events
from integrations.providers.imap.connection import connection
from integrations.providers.imap.mails import Found, Mails

# What lay elsewhere longer than this before it came into a folder is no new mail.
NEW_WITHIN = timedelta(days=2)
READ_AT_ONCE = 50
LAST_UID = 2**32 - 1  # RFC 9051, 2.3.1.1
MOST_CHANGES = 500  # of mails that were there already; the next sync finds the others


@dataclass(frozen=True, kw_only=True)
class Looked:
    """What happened in one folder: events, each with a name of its own that is the same however
    often it is seen. Keep what is seen in one transaction with them."""

    events: tuple[item_events.Event, ...]
    mark: MailMark
    is_gone: bool = False  # the folder is, and all that it held has been seen to

    def keep(self) -> None:
        """The mark. Where deleted mails lay is of use to nobody any more."""
        deleted = [event.source_id for _, event in self.events if event.kind == "deleted"]
        MailPlace.objects.filter(account_id=self.mark.account_id, mail_id__in=deleted).delete()
        if self.is_gone:
            MailMark.objects.filter(
                account_id=self.mark.account_id, folder=self.mark.folder
            ).delete()
            return
        names = ("validity", "next_uid", "modseq", "mails")
        MailMark.objects.update_or_create(
            account_id=self.mark.account_id,
            folder=self.mark.folder,
            defaults={name: getattr(self.mark, name) for name in names},
        )


def look(account: AccountRef, *, seen_at: datetime | None = None) -> Generator[Looked]:
    """Folder by folder, many new mails in several steps. Keep each step before going on. Raises
    ProviderError. `seen_at`: until when all that was new has been seen."""
    new_since = timezone.now() - NEW_WITHIN
    if seen_at is not None:  # a mailbox may have been away for longer
        new_since = min(new_since, seen_at - NEW_WITHIN)
    with connection(account) as own:
        mails = Mails(account, own)
        marks = {one.folder: one for one in MailMark.objects.filter(account_id=account.id)}
        trash = mails.folders.named("trash")
        for folder in [*mails.read_in(), *([trash] if trash else [])]:
            try:
                yield from _look_at(mails, folder, marks.get(folder), new_since=new_since)
            except IMAPClientAbortError:
                raise
            except IMAPClientError:
                own.let_go()
                mails.folders = own.list_again()
                if folder in mails.folders.names:
                    raise
        for folder in marks.keys() - set(mails.folders.names):
            yield _lost(mails, marks[folder])


def _look_at(
    mails: Mails, folder: str, before: MailMark | None, *, new_since: datetime
) -> Iterator[Looked]:
    now = _present(mails, folder)
    if before is None or before.validity != now.validity:
        yield Looked(events=(), mark=now)
    elif _state(before) != _state(now):
        yield from _look(mails, before, now, new_since=new_since)


def _lost(mails: Mails, before: MailMark) -> Looked:
    """Of a folder that somebody deleted or called otherwise."""
    rows = MailPlace.objects.filter(account_id=mails.account.id, folder=before.folder)
    some = list(rows.order_by("id")[:MOST_CHANGES])
    events = _missing(mails, before, some)
    return Looked(events=tuple(events), mark=before, is_gone=len(some) < MOST_CHANGES)


def _present(mails: Mails, folder: str) -> MailMark:
    """The folder as the server says it is."""
    counts = mails.own.client.has_capability("CONDSTORE")
    wanted = ["UIDVALIDITY", "UIDNEXT", "MESSAGES", *(["HIGHESTMODSEQ"] if counts else [])]
    said = mails.own.client.folder_status(folder, wanted)
    return MailMark(
        account_id=mails.account.id,
        folder=folder,
        validity=int(said.get(b"UIDVALIDITY", 0)),
        next_uid=int(said.get(b"UIDNEXT", 1)),
        modseq=int(said.get(b"HIGHESTMODSEQ", 0)),
        mails=int(said.get(b"MESSAGES", 0)),
    )


def _opened(status: MailMark, said: Mapping[bytes, Any]) -> MailMark:
    """The same a moment later, when it was opened: nothing that happened between is seen twice."""
    return MailMark(
        account_id=status.account_id,
        folder=status.folder,
        validity=status.validity,
        next_uid=said.get(b"UIDNEXT", status.next_uid),
        modseq=said.get(b"HIGHESTMODSEQ", status.modseq),
        mails=said.get(b"EXISTS", status.mails),
    )


def _state(mark: MailMark) -> tuple[int, ...]:
    return (mark.next_uid, mark.modseq, mark.mails)


def _look(
    mails: Mails, before: MailMark, now: MailMark, *, new_since: datetime
) -> Iterator[Looked]:
    mails.own.let_go()
    resynced = mails.own.resync(now.folder, validity=before.validity, modseq=before.modseq)
    if _is_renumbered(mails, before):  # since a moment ago
        yield Looked(events=(), mark=_present(mails, now.folder))
        return
    if resynced is None:
        arrived = mails.search(now.folder, after=before.next_uid - 1)
        changed = _marked_otherwise(mails, before, now)
        there = None
        if now.mails < before.mails + len(arrived):
            there = set(mails.search(before.folder))
        gone = [] if there is None else [row for row in _places(before) if row.uid not in there]
    else:
        now = _opened(now, resynced.said)
        arrived = [uid for uid in resynced.changed if uid >= before.next_uid]
        changed = [uid for uid in resynced.changed if uid < before.next_uid]
        gone = _gone(before, resynced.gone)
    events = [*_changed(mails, before, now, changed), *_missing(mails, before, gone)]
    for start in range(0, len(arrived), READ_AT_ONCE):
        if _is_renumbered(mails, before):  # while others were open
            yield Looked(events=tuple(events), mark=_present(mails, now.folder))
            return
        step = arrived[start : start + READ_AT_ONCE]
        events += _arrived(mails, now.folder, step, new_since=new_since)
        reached = MailMark(
            account_id=now.account_id,
            folder=now.folder,
            validity=now.validity,
            next_uid=step[-1] + 1,
            modseq=before.modseq,
            mails=before.mails,
        )
        yield Looked(events=tuple(events), mark=reached)
        events = []
    yield Looked(events=tuple(events), mark=now)


def _is_renumbered(mails: Mails, before: MailMark) -> bool:
    """Whether the folder, which stays open, has its mails under other numbers than the mark."""
    mails.own.select(before.folder)
    return mails.own.validity() != before.validity


def _arrived(
    mails: Mails, folder: str, uids: Sequence[int], *, new_since: datetime
) -> list[item_events.Event]:
    """Mails with new numbers: new ones, and others that were moved here."""
    arrived = list(mails.read(folder, mails.heads_read_in(folder, uids)))
    known = frozenset(
        MailPlace.objects.filter(
            account_id=mails.account.id, mail_id__in=[one.email.id for one in arrived]
        )
        .exclude(folder=folder, validity=mails.own.validity(), uid__in=uids)
        .values_list("mail_id", flat=True)
    )
    return [
        _event(
            mails,
            "created"
            if found.email.id not in known and found.head.arrived >= new_since
            else "updated",
            found,
        )
        for found in arrived
    ]


def _marked_otherwise(mails: Mails, before: MailMark, now: MailMark) -> list[int]:
    """Mails that were there already and are marked otherwise now. Only a server that counts
    changes tells of them; with another one the next sync finds them."""
    if not before.modseq or now.modseq == before.modseq:
        return []
    found = mails.search(now.folder, "MODSEQ", before.modseq + 1)
    return [uid for uid in found if uid < before.next_uid]


def _changed(
    mails: Mails, before: MailMark, now: MailMark, uids: Sequence[int]
) -> list[item_events.Event]:
    heads = mails.heads_read_in(now.folder, uids[-MOST_CHANGES:])
    # A mark may be set, taken off and set again: each time is another event.
    found_now = (_event(mails, "updated", found) for found in mails.read(now.folder, heads))
    return [(f"{name} since {before.modseq}", event) for name, event in found_now]


def _places(before: MailMark) -> QuerySet[MailPlace]:
    """Of the mails that were known in a folder."""
    return MailPlace.objects.filter(
        account_id=before.account_id, folder=before.folder, validity=before.validity
    )


def _gone(before: MailMark, ranges: Sequence[tuple[int, int]]) -> list[MailPlace]:
    """Known mails whose numbers a server says are gone. It may name others beside them, in ranges
    as wide as it likes."""
    if not ranges:
        return []
    lowest, highest = min(ranges[0][0], LAST_UID), min(ranges[-1][1], LAST_UID)
    rows = _places(before).filter(uid__gte=lowest, uid__lte=highest)
    return [row for row in rows if _is_within(row.uid, ranges)]


def _is_within(uid: int, ranges: Sequence[tuple[int, int]]) -> bool:
    """Whether one of these ranges holds it, which are in order and apart."""
    at = bisect_right(ranges, (uid, LAST_UID)) - 1
    return at >= 0 and uid <= ranges[at][1]


def _missing(
    mails: Mails, before: MailMark, missing: Sequence[MailPlace]
) -> list[item_events.Event]:
    events = []
    for row in missing:
        if _is_elsewhere(mails, row):
            row.lose()
            continue
        name = f"imap {before.validity} {row.uid} gone {row.mail_id}"
        events.append((name, item_events.gone(mails.account, row.mail_id)))
    return events


def _is_elsewhere(mails: Mails, row: MailPlace) -> bool:
    others = MailPlace.objects.filter(account_id=row.account_id, mail_id=row.mail_id)
    if others.exclude(pk=row.pk).filter(folder__in=mails.holding).exists():
        return True
    return mails.elsewhere(row.mail_id, row.gmail_id, row.message_id) is not None


def _event(mails: Mails, kind: item_events.Kind, found: Found) -> item_events.Event:
    flags = b" ".join(sorted(found.head.flags)).decode("ascii", "replace")
    name = f"imap {mails.own.validity()} {found.head.uid} {kind} {flags}"
    return name, item_events.seen(mails.account, kind, found.email)
