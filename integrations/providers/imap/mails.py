"""Mails as a server keeps them: found by id, read whole, and written down where they are.

The id of a mail is made from its bytes (`integrations.imports.reading`), so it stays the same when
the mail is moved, when the folder is numbered anew, and in another client's hands.
"""

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from integrations.child import Unreadable
from integrations.contracts import AccountRef, Email
from integrations.exceptions import NotFound
from integrations.imports import reading
from integrations.imports.reading import mail_id
from integrations.mail import mail
from integrations.models import MailPlace
from integrations.providers.imap import gmail
from integrations.providers.imap.connection import Connection
from integrations.providers.mailboxes.labels import FOLDER_PREFIX, STARRED, SYSTEM_LABELS, UNREAD

log = logging.getLogger(__name__)
SEEN, FLAGGED = b"\\Seen", b"\\Flagged"
HEAD = [b"RFC822.SIZE", b"INTERNALDATE", b"FLAGS"]
WHOLE = b"BODY.PEEK[]"
FETCHED_AT_ONCE = 4 * 1024 * 1024
MOST_COPIES = 20
THREAD_MAILS = 50
# Drafts are not mail yet, what is junk or thrown away is not to be learnt from, and folders of all,
# starred and important mail hold everything twice.
NOT_READ_IN = frozenset({"drafts", "junk", "trash", "all", "starred", "important"})
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Head:
    uid: int
    size: int
    arrived: datetime
    flags: frozenset[bytes]
    names: gmail.Names = field(default_factory=gmail.Names)


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
        if self.own.has_labels:
            return [name for name, role in roles.items() if role == "all"]
        found = [name for name in self.folders.names if roles.get(name) not in NOT_READ_IN]
        if not found:
            raise NotFound("the mailbox has no folder")
        return sorted(found, key=lambda name: roles.get(name) != "inbox")

    @property
    def holding(self) -> list[str]:
        """The folders that hold each mail once. Those of Gmail that are labels show what lies in
        its folder of all mail."""
        if not self.own.has_labels:
            return list(self.folders.names)
        apart = {"all", "trash", "junk"}
        return [name for name, role in self.folders.roles.items() if role in apart]

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
        named = [gmail.MAIL, gmail.THREAD, gmail.LABELS] if self.own.has_labels else []
        found = self.own.client.fetch(uids, [*HEAD, *named])
        return [
            Head(
                uid=uid,
                size=int(found[uid].get(b"RFC822.SIZE", 0)),
                arrived=aware(found[uid].get(b"INTERNALDATE")),
                flags=frozenset(found[uid].get(b"FLAGS", ())),
                names=gmail.read_names(found[uid]) if named else gmail.Names(),
            )
            for uid in uids
            if uid in found
        ]

    def heads_read_in(self, folder: str, uids: Sequence[int]) -> list[Head]:
        """The same without drafts, which lie among all mail at Gmail."""
        return [head for head in self.heads(folder, uids) if "DRAFT" not in head.names.labels]

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
        email = parsed.model_copy(
            update={
                "labels": self._labels(folder, head),
                "thread_id": head.names.thread or parsed.thread_id,
                "is_read": SEEN in head.flags,
                "is_starred": FLAGGED in head.flags,
            }
        )
        return Found(folder=folder, head=head, raw=raw, email=email)

    def _labels(self, folder: str, head: Head) -> tuple[str, ...]:
        """The folder, read or not, and the user's own keywords. A keyword that is called like a
        label of Remit's is none."""
        marks = [*([] if SEEN in head.flags else [UNREAD])]
        marks += [STARRED] if FLAGGED in head.flags else []
        if self.own.has_labels:
            # Gmail leaves the folder that is open out.
            here = [one.removeprefix(FOLDER_PREFIX) for one in self.folders.labels_of(folder)]
            found = dict.fromkeys((*here, *marks, *head.names.labels))
            if {*gmail.APART} & {*here}:
                found.pop("INBOX", None)
            return tuple(found)
        words = sorted(flag.decode("ascii", "replace") for flag in head.flags)
        own = [word for word in words if word[:1] not in ("\\", "$")]
        return (
            *self.folders.labels_of(folder),
            *marks,
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
                    gmail_id=one.head.names.mail,
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
        those of one folder are asked for at once. Gmail knows its threads itself."""
        number = gmail.thread_number(thread_id) if self.own.has_labels else None
        if number is not None:
            for folder in self.read_in():
                uids = self.search(folder, "X-GM-THRID", number)[-THREAD_MAILS:]
                for found in self.read(folder, self.heads_read_in(folder, uids)):
                    if found.email.id != besides:
                        yield found
            return
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
        for names in {(place.gmail_id, place.message_id) for place in places}:
            if found := self.elsewhere(wanted, *names):
                return found
        raise NotFound("no such mail")

    def elsewhere(self, wanted: str, gmail_id: str, message_id: str) -> Found | None:
        """By what Gmail calls it, else by its Message-ID. Others may carry the same: it is the
        bytes that count."""
        named: list[Any] = ["HEADER", "Message-ID", message_id] if message_id else []
        if gmail_id and self.own.has_labels:
            named = ["X-GM-MSGID", gmail_id]
        for folder in self.holding if named else ():
            uids = self.search(folder, *named)
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
