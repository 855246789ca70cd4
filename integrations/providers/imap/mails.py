"""Mails as a server keeps them: found by id, read whole, and written down where they are.

The id of a mail is made from its bytes (`integrations.imports.reading`), so it stays the same when
the mail is moved, when the folder is numbered anew, and in another client's hands.
"""

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from integrations.child import Unreadable
from integrations.contracts import AccountRef, Email
from integrations.exceptions import NotFound
from integrations.imports import reading
from integrations.imports.reading import mail_id
from integrations.mail import mail
from integrations.models import MailPlace
from integrations.providers.imap.connection import Connection
from integrations.providers.imap.folders import (
    STARRED,
    SYSTEM_LABELS,
    UNREAD,
)

log = logging.getLogger(__name__)
SEEN, FLAGGED = b"\\Seen", b"\\Flagged"
HEAD = [b"RFC822.SIZE", b"INTERNALDATE", b"FLAGS"]
WHOLE = b"BODY.PEEK[]"
FETCHED_AT_ONCE = 4 * 1024 * 1024
MOST_COPIES = 20
THREAD_MAILS = 50
# Drafts are not mail yet, what is junk or thrown away is not to be learnt from, and a folder of all
# mail holds everything twice.
NOT_READ_IN = frozenset({"drafts", "junk", "trash", "all"})
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Head:
    uid: int
    size: int
    arrived: datetime
    flags: frozenset[bytes]


@dataclass(frozen=True, kw_only=True)
class Found:
    """A mail where it is now."""

    folder: str
    head: Head
    raw: bytes
    email: Email


class Mails:
    """The mails of one account over one connection."""

    def __init__(self, account: AccountRef, own: Connection) -> None:
        self.account, self.own = account, own
        self.folders = own.folders
        self.unreadable: dict[int, str] = {}
        """What `read` left out last because nobody could read it: number and reason."""

    def read_in(self) -> list[str]:
        """The folders whose mails are read in, the inbox first. Raises NotFound for a mailbox
        without any."""
        roles = self.folders.roles
        found = [name for name in self.folders.names if roles.get(name) not in NOT_READ_IN]
        if not found:
            raise NotFound("the mailbox has no folder")
        return sorted(found, key=lambda name: roles.get(name) != "inbox")

    def search(self, folder: str, *criteria: Any, after: int = 0) -> list[int]:
        """The numbers in a folder that fit, in order, above this one."""
        self.own.select(folder)
        wanted = [*criteria, "UID", f"{after + 1}:*"] if after else list(criteria)
        found = self.own.client.search(wanted or "ALL")
        # “n:*” names the last mail also where that has a smaller number.
        return sorted(uid for uid in found if uid > after)

    def heads(self, folder: str, uids: Sequence[int]) -> list[Head]:
        """Those of them that are still there, in order."""
        if not uids:
            return []
        self.own.select(folder)
        found = self.own.client.fetch(uids, HEAD)
        return [
            Head(
                uid=uid,
                size=int(found[uid].get(b"RFC822.SIZE", 0)),
                arrived=aware(found[uid].get(b"INTERNALDATE")),
                flags=frozenset(found[uid].get(b"FLAGS", ())),
            )
            for uid in uids
            if uid in found
        ]

    def read(self, folder: str, heads: Sequence[Head]) -> Iterator[Found]:
        """The mails whole, a few megabytes at a time. One that went meanwhile is left out,
        and so is one that is too large or cannot be read."""
        self.unreadable = {}
        group: list[Head] = []
        for head in heads:
            if head.size > mail.MAX_MESSAGE_BYTES:
                continue
            if group and sum(one.size for one in group) + head.size > FETCHED_AT_ONCE:
                yield from self._read(folder, group)
                group = []
            group.append(head)
        yield from self._read(folder, group)

    def _read(self, folder: str, heads: Sequence[Head]) -> Iterator[Found]:
        if not heads:
            return
        self.own.select(folder)
        validity = self.own.validity()
        answers = self.own.client.fetch([head.uid for head in heads], [WHOLE])
        found: list[Found] = []
        for head in heads:
            if raw := answers.get(head.uid, {}).get(b"BODY[]"):
                try:
                    found.append(self._found(folder, head, raw))
                except Unreadable as error:
                    self.unreadable[head.uid] = error.reason
                    unread = {"account": str(self.account.id), "code": error.reason}
                    log.warning("mailbox.mail_not_read", extra=unread)
        self._note(found, validity)
        yield from found

    def _found(self, folder: str, head: Head, raw: bytes) -> Found:
        read = reading.read_mail(
            raw, fallback_date=head.arrived, trusted_server=self.own.servers.checks_as or None
        )
        # The bytes of the n-th attachment are found again by the mail and n.
        parsed = read.with_files(lambda number: f"{mail_id(raw)}.{number + 1}")
        labels = self.labels(folder, head.flags)
        email = parsed.model_copy(
            update={
                "labels": labels,
                "is_read": SEEN in head.flags,
                "is_starred": FLAGGED in head.flags,
            }
        )
        return Found(folder=folder, head=head, raw=raw, email=email)

    def labels(self, folder: str, flags: Iterable[bytes]) -> tuple[str, ...]:
        """The folder, read or not, and the user's own keywords. A keyword that is called like a
        label of Remit's is none."""
        words = sorted(flag.decode("ascii", "replace") for flag in flags)
        own = [word for word in words if word[:1] not in ("\\", "$")]
        return (
            *self.folders.labels_of(folder),
            *([] if SEEN in flags else [UNREAD]),
            *([STARRED] if FLAGGED in flags else []),
            *(word for word in own if word.upper() not in SYSTEM_LABELS and word.isprintable()),
        )

    def _note(self, found: Iterable[Found], validity: int) -> None:
        MailPlace.objects.bulk_create(
            [
                MailPlace(
                    account_id=self.account.id,
                    mail_id=one.email.id,
                    thread_id=one.email.thread_id,
                    message_id=one.email.message_id,
                    folder=one.folder,
                    validity=validity,
                    uid=one.head.uid,
                )
                for one in found
            ],
            ignore_conflicts=True,
        )

    def find(self, wanted: str) -> Found:
        """The mail with this id, wherever somebody has put it. Raises NotFound."""
        places = list(MailPlace.objects.filter(account_id=self.account.id, mail_id=wanted))
        return next(self._in_places(places), None) or self._anew(wanted, places)

    def in_thread(self, thread_id: str, *, besides: str = "") -> Iterator[Found]:
        """The newest mails of the thread that Remit has seen, without one of them, in no order:
        those of one folder are asked for at once."""
        rows = MailPlace.objects.filter(account_id=self.account.id, thread_id=thread_id)
        places: dict[str, list[MailPlace]] = defaultdict(list)
        for row in rows.order_by("-id") if thread_id else ():
            places[row.mail_id].append(row)
        missing = {one: places[one] for one in list(places)[:THREAD_MAILS] if one != besides}
        for found in self._in_places([row for each in missing.values() for row in each]):
            if missing.pop(found.email.id, None):  # else it lies in a second folder, too
                yield found
        for one, rows_of_it in missing.items():
            with suppress(NotFound):
                yield self._anew(one, rows_of_it)

    def _in_places(self, places: Iterable[MailPlace]) -> Iterator[Found]:
        """The mails that are still in these places. The same mail may lie in several folders; the
        inbox counts before others, the trash last."""
        folders: dict[str, list[MailPlace]] = defaultdict(list)
        for place in places:
            if place.folder in self.folders.names:
                folders[place.folder].append(place)
        order = {"inbox": 0, "trash": 3, "junk": 3}
        for folder in sorted(folders, key=lambda it: order.get(self.folders.roles.get(it, ""), 1)):
            self.own.select(folder)
            validity = self.own.validity()
            there = {one.uid: one for one in folders[folder] if one.validity == validity}
            lost = [one for one in folders[folder] if one.validity != validity]
            for found in self.read(folder, self.heads(folder, list(there))):
                if found.email.id == there[found.head.uid].mail_id:
                    del there[found.head.uid]
                    yield found
            for place in (*lost, *there.values()):
                place.lose()

    def _anew(self, wanted: str, places: Iterable[MailPlace]) -> Found:
        """A mail that is in none of these places any more. Raises NotFound."""
        self.folders = self.own.list_again()
        for message_id in {place.message_id for place in places if place.message_id}:
            if found := self.elsewhere(wanted, message_id):
                return found
        raise NotFound("no such mail")

    def elsewhere(self, wanted: str, message_id: str) -> Found | None:
        """Others may carry the same Message-ID: it is the bytes that count."""
        for folder in self.folders.names:
            uids = self.search(folder, "HEADER", "Message-ID", message_id)
            for found in self.read(folder, self.heads(folder, uids[:MOST_COPIES])):
                if found.email.id == wanted:
                    return found
        return None

    def attachment(self, file_id: str) -> bytes:
        """The bytes of an attachment. Raises NotFound."""
        wanted, _, number = file_id.rpartition(".")
        found = self.find(wanted)
        try:
            contents = reading.read_mail(
                found.raw, fallback_date=found.head.arrived, contents=True
            ).contents
        except Unreadable as error:
            raise NotFound("an attachment that cannot be read") from error
        if not number.isdecimal() or not 1 <= int(number) <= len(contents):
            raise NotFound("no such attachment")
        return contents[int(number) - 1]


def aware(value: object) -> datetime:
    if not isinstance(value, datetime):
        return _EPOCH
    return value if value.tzinfo else value.replace(tzinfo=UTC)
