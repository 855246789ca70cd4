"""One folder of a mail server, read over IMAP (RFC 3501) and never changed: it is opened with
EXAMINE and mails are fetched with PEEK, so that not even a mark of having been read is left.
"""

import contextlib
import imaplib
import re
import ssl
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from integrations.child import Unreadable
from integrations.contracts import Email, Page, Rejected
from integrations.exceptions import (
    CursorExpired,
    Malformed,
    NotFound,
    NotPermitted,
    Unavailable,
)
from integrations.imports import imap_text, reading
from integrations.imports.imports import PAGE, place
from integrations.imports.spool import Spool
from integrations.mail import mail

TIMEOUT_SECONDS = 60
SEARCHED_AT_ONCE = 50_000  # ids in one answer: a line of imaplib has a million bytes at most
FETCHED_AT_ONCE = 4 * 1024 * 1024
_UID, _SIZE = re.compile(rb"\bUID (\d{1,10})\b"), re.compile(rb"\bRFC822\.SIZE (\d{1,19})\b")
_FLAGS = re.compile(rb"\bFLAGS \(([^()]*)\)")


@dataclass(frozen=True, kw_only=True)
class Login:
    """Where the mail is. The connection is encrypted: from the start, or with `starttls` before
    anything is said. The server's certificate must be valid."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    starttls: bool = False


@dataclass(frozen=True, kw_only=True)
class _Head:
    uid: int
    size: int
    arrived: datetime
    seen: bool


class Folder:
    """The mails of one folder that arrived since a day, oldest first, page by page.

    A cursor names the folder's UIDVALIDITY and the last UID that was read: it is good for as long
    as the server keeps its numbers, and goes on with what arrived meanwhile. `attached` holds the
    attachments of the last two pages.
    """

    def __init__(self, login: Login, *, folder: str, since: date | None, now: datetime) -> None:
        self._login, self._folder, self._since, self._now = login, folder, since, now
        self.attached = Spool()
        self.place = place("imap", login.host.lower(), str(login.port), login.user, folder)
        self._imap: imaplib.IMAP4 | None = None
        self._validity = 0
        self._left: list[int] = []
        self._last = -1

    def open(self) -> None:
        """Log in and open the folder. Raises NotPermitted, NotFound, Unavailable, Malformed."""
        with self._watched():
            self._connected()

    def close(self) -> None:
        if self._imap is not None:
            with contextlib.suppress(imaplib.IMAP4.error, OSError):
                self._imap.logout()
        self._drop()
        self.attached.close()

    def page(self, cursor: str | None) -> Page[Email]:
        """The mails after `cursor`. Raises CursorExpired when the server has new numbers for
        its mails, and what `open` raises."""
        self.attached.next_page()
        with self._watched():
            imap = self._connected()
            validity, last = map(int, cursor.split(" ")[1:]) if cursor else (self._validity, 0)
            if validity != self._validity:
                raise CursorExpired("the server has renumbered its mails")
            if last != self._last:
                self._left = self._search(imap, after=last)
            wanted, self._left = self._left[:PAGE], self._left[PAGE:]
            found = list(self._mails(imap, wanted))
            self._last = wanted[-1] if wanted else last
            here = f"{self.place} {self._validity} {self._last}"
            return Page(
                items=tuple(one for one in found if isinstance(one, Email)),
                rejected=tuple(one for one in found if isinstance(one, Rejected)),
                next_cursor=here if self._left else None,
                end=here,
                remaining=len(self._left),
            )

    @contextlib.contextmanager
    def _watched(self) -> Iterator[None]:
        """What a connection does not survive, in the terms of a provider."""
        try:
            yield
        except ssl.SSLCertVerificationError as error:
            self._drop()
            raise NotPermitted(f"the server's certificate: {error.verify_message}") from error
        except (imaplib.IMAP4.abort, OSError, EOFError) as error:
            self._drop()
            raise Unavailable(str(error)) from error
        except imaplib.IMAP4.error as error:
            self._drop()
            raise Malformed(str(error)) from error
        except Unavailable:
            self._drop()  # or what was asked for would be taken as read
            raise

    def _drop(self) -> None:
        if self._imap is not None:
            with contextlib.suppress(imaplib.IMAP4.error, OSError):
                self._imap.shutdown()
        self._imap, self._left, self._last = None, [], -1

    def _connected(self) -> imaplib.IMAP4:
        if self._imap is not None:
            return self._imap
        try:
            self._imap = self._reached()
            self._log_in(self._imap)
            self._validity = self._examined(self._imap)
        except BaseException:
            self._drop()
            raise
        return self._imap

    def _reached(self) -> imaplib.IMAP4:
        login, context = self._login, ssl.create_default_context()
        if not login.starttls:
            return imaplib.IMAP4_SSL(
                login.host, login.port, ssl_context=context, timeout=TIMEOUT_SECONDS
            )
        imap = imaplib.IMAP4(login.host, login.port, timeout=TIMEOUT_SECONDS)
        self._imap = imap
        imap.starttls(context)
        return imap

    def _examined(self, imap: imaplib.IMAP4) -> int:
        """The UIDVALIDITY of the folder, opened to be read alone."""
        answer, _ = imap.select(imap_text.folder_name(self._folder), readonly=True)
        if answer != "OK":
            raise NotFound(f"there is no folder {self._folder!r}")
        number = imap.response("UIDVALIDITY")[1][0]
        if not isinstance(number, bytes) or not number.isdigit():
            raise Malformed("the server does not number its mails")
        return int(number)

    def _log_in(self, imap: imaplib.IMAP4) -> None:
        login = self._login
        try:
            if "AUTH=PLAIN" in imap.capabilities:
                secret = f"\0{login.user}\0{login.password}".encode()
                imap.authenticate("PLAIN", lambda _: secret)
            else:
                imap.login(imap_text.string(login.user), login.password)
        except imaplib.IMAP4.abort:
            raise
        except (imaplib.IMAP4.error, UnicodeEncodeError, ValueError) as error:
            raise NotPermitted("the server refused the login") from error

    def _search(self, imap: imaplib.IMAP4, *, after: int) -> list[int]:
        """The numbers after this one, in order."""
        exists, ahead = (imap.response(name)[1][0] for name in ("EXISTS", "UIDNEXT"))
        there = imap.untagged_responses.get("EXISTS") or [exists]
        few = isinstance(there[0], bytes) and int(there[0]) <= SEARCHED_AT_ONCE
        if few or not isinstance(ahead, bytes):
            return self._searched(imap, f"{after + 1}:*", after)
        found: list[int] = []
        for first in range(after + 1, int(ahead), SEARCHED_AT_ONCE):
            found += self._searched(imap, f"{first}:{first + SEARCHED_AT_ONCE - 1}", after)
        return found

    def _searched(self, imap: imaplib.IMAP4, numbers: str, after: int) -> list[int]:
        day = self._since
        since = ("SINCE", f"{day.day}-{imap_text.MONTHS[day.month - 1]}-{day.year}") if day else ()
        answer, lines = imap.uid("SEARCH", "UID", numbers, *since)
        if answer != "OK":
            raise Malformed("the server does not search")
        found = {int(text) for line in lines if line for text in line.split() if text.isdigit()}
        # “n:*” names the last mail also where that has a smaller number.
        return sorted(number for number in found if number > after)

    def _mails(self, imap: imaplib.IMAP4, uids: Sequence[int]) -> Iterator[Email | Rejected]:
        """A mail that was removed meanwhile is not there, and no loss."""
        if not uids:
            return
        heads = self._heads(imap, uids)
        group: list[_Head] = []
        for head in heads:
            if head.size > mail.MAX_MESSAGE_BYTES:
                yield self._rejected(head.uid, "too_large")
                continue
            if group and sum(one.size for one in group) + head.size > FETCHED_AT_ONCE:
                yield from self._bodies(imap, group)
                group = []
            group.append(head)
        if group:
            yield from self._bodies(imap, group)

    def _heads(self, imap: imaplib.IMAP4, uids: Sequence[int]) -> list[_Head]:
        what = "(UID RFC822.SIZE INTERNALDATE FLAGS)"
        found: dict[int, _Head] = {}
        for line, _ in _fetched(imap, uids, what):
            uid, size, flags = _UID.search(line), _SIZE.search(line), _FLAGS.search(line)
            if uid and size and int(uid[1]) in set(uids):
                found[int(uid[1])] = _Head(
                    uid=int(uid[1]),
                    size=int(size[1]),
                    arrived=imap_text.arrived(line) or self._now,
                    seen=bool(flags and b"\\seen" in flags[1].lower().split()),
                )
        return [found[uid] for uid in uids if uid in found]

    def _bodies(self, imap: imaplib.IMAP4, heads: Sequence[_Head]) -> Iterator[Email | Rejected]:
        most = mail.MAX_MESSAGE_BYTES + 1
        answers = _fetched(imap, [head.uid for head in heads], f"(UID BODY.PEEK[]<0.{most}>)")
        raws = {int(uid[1]): raw for line, raw in answers if (uid := _UID.search(line)) and raw}
        for head in heads:
            raw = raws.pop(head.uid, b"")
            if not raw.strip():
                yield self._rejected(head.uid, "empty")
            elif len(raw) > mail.MAX_MESSAGE_BYTES:
                yield self._rejected(head.uid, "too_large")
            else:
                yield self._read(head, raw)

    def _read(self, head: _Head, raw: bytes) -> Email | Rejected:
        try:
            read = reading.read_mail(raw, fallback_date=head.arrived, contents=True)
        except Unreadable as error:
            return self._rejected(head.uid, error.reason)
        email = read.with_files(lambda number: self.attached.keep(read.contents[number]))
        labels = (self._folder,) if head.seen else (self._folder, "UNREAD")
        return email.model_copy(update={"labels": labels, "is_read": head.seen})

    def _rejected(self, uid: int, reason: str) -> Rejected:
        return Rejected(source_id=f"{self._folder[:400]} UID {uid}", reason=reason)


def _fetched(
    imap: imaplib.IMAP4, uids: Sequence[int], what: str
) -> Iterator[tuple[bytes, bytes | None]]:
    """Each answer: what is said about a mail, on one line, and the mail where it was asked for."""
    answer, parts = imap.uid("FETCH", ",".join(map(str, uids)), what)
    if answer != "OK":
        raise Malformed("the server does not hand out mails")
    pending: tuple[bytes, bytes] | None = None
    for part in parts:
        if isinstance(part, tuple):
            if pending:
                yield pending
            pending = (part[0], part[1])
        elif isinstance(part, bytes) and pending:
            yield pending[0] + part, pending[1]  # a UID may come before the mail or after it
            pending = None
        elif isinstance(part, bytes):
            yield part, None
    if pending:
        yield pending
