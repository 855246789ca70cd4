"""Clients of mail servers that go to the very address that was looked at, take no answer beyond a
size, and can be given a time by which they end."""

import imaplib
import io
import smtplib
import socket
import ssl
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from imapclient import IMAPClient  # type: ignore[import-untyped]
from imapclient.exceptions import (  # type: ignore[import-untyped]
    IMAPClientAbortError,
    IMAPClientError,
)
from imapclient.imap4 import IMAP4WithTimeout  # type: ignore[import-untyped]
from imapclient.response_parser import parse_fetch_response  # type: ignore[import-untyped]
from imapclient.tls import IMAP4_TLS  # type: ignore[import-untyped]

from integrations.mail.mail import MAX_MESSAGE_BYTES
from integrations.network import outgoing

MOST_BYTES = MAX_MESSAGE_BYTES + 1024 * 1024  # of one value in an answer: a mail and no more


class _Deadline:
    """When it is over, connections of the block are cut, and it gets no more."""

    def __init__(self, seconds: float) -> None:
        self._lock = threading.Lock()
        self._is_over = False
        # Copies of what the clients hold, which wrap their own for TLS.
        self._copies: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True
        self._timer.start()

    def watch(self, sock: socket.socket) -> None:
        with self._lock:
            if self._is_over:
                sock.close()
                raise TimeoutError("no time is left")
            self._copies.append(sock.dup())

    def end(self) -> None:
        self._timer.cancel()
        with self._lock:
            for one in self._copies:
                one.close()
            self._copies.clear()

    def _cut(self) -> None:
        with self._lock:
            self._is_over = True
            for one in self._copies:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)


_deadline: ContextVar[_Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def ended_after(seconds: float) -> Iterator[None]:
    """All that the block's clients wait for ends by then, also where a server says a little now
    and then: reads fail as from a server that went away."""
    deadline = _Deadline(seconds)
    token = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(token)
        deadline.end()


def _connect(host: str, port: int, seconds: float) -> socket.socket:
    sock = outgoing.connect(host, port, seconds=seconds)
    if deadline := _deadline.get():
        deadline.watch(sock)
    return sock


def _wrapped(sock: socket.socket, context: ssl.SSLContext, host: str) -> ssl.SSLSocket:
    try:
        return context.wrap_socket(sock, server_hostname=host)
    except BaseException:
        sock.close()
        raise


class _Bounded(imaplib.IMAP4):
    """What the clients of both kinds of encryption have in common."""

    def read(self, size: int) -> bytes:
        if size > MOST_BYTES:
            raise self.abort("the server sends more than a mail")
        return super().read(size)


class _Plain(IMAP4WithTimeout, _Bounded):  # type: ignore[misc]  # imapclient is untyped
    def _create_socket(self, timeout: float | None = None) -> socket.socket:
        return _connect(self.host, self.port, timeout or self._timeout)


class _Tls(IMAP4_TLS, _Bounded):  # type: ignore[misc]
    def _create_socket(self, timeout: float | None = None) -> socket.socket:
        sock = _connect(self.host, self.port, timeout or self._timeout)
        return _wrapped(sock, self.ssl_context, self.host)


@dataclass(frozen=True, kw_only=True)
class Resynced:
    """What a folder says of itself, and what became of its mails since: the numbers of those that
    were changed or came, and of those that went, as ranges; both in order."""

    said: dict[bytes, object]
    changed: tuple[int, ...]
    gone: tuple[tuple[int, int], ...]


class Imap(IMAPClient):  # type: ignore[misc]
    """imapclient's, over such a connection. It asks for both time-outs and a context for TLS."""

    def enable_resync(self) -> bool:
        """Right after signing in: whether the server resynchronises folders (QRESYNC). One that
        announces it and refuses does not."""
        if not self.has_capability("QRESYNC"):
            return False
        try:
            return b"QRESYNC" in self.enable("QRESYNC")
        except IMAPClientAbortError:
            raise
        except IMAPClientError:
            return False

    def resync_folder(self, folder: str, *, validity: int, modseq: int) -> Resynced:
        """Opens it to be read, and hears in the same answer what happened since the server counted
        `modseq` (RFC 7162, 3.2.5). A folder that is numbered anew says nothing of that. imapclient
        has no such command; this is its `select_folder` with a parameter."""
        own = self._imap
        own.untagged_responses, own.is_readonly = {}, True
        known = f"(QRESYNC ({validity} {modseq}))"
        typ, data = own._simple_command("EXAMINE", self._normalise_folder(folder), known)
        own.state = "SELECTED" if typ == "OK" else "AUTH"
        self._checkok("EXAMINE", typ, data)
        said = dict(own.untagged_responses)
        found = parse_fetch_response(said.pop("FETCH", []), self.normalise_times)
        return Resynced(
            changed=tuple(sorted(found)),
            gone=read_ranges(said.pop("VANISHED", [])),
            said=self._process_select_response(said),
        )

    def store_gmail_labels(self, uid: int, sign: str, labels: Sequence[str]) -> None:
        """Puts labels on a mail (“+”) or takes them off (“-”). imapclient's own fails where the
        answer says nothing of labels."""
        names = b"(" + b" ".join(self._normalise_labels(labels)) + b")"
        self._command_and_check("store", str(uid), f"{sign}X-GM-LABELS", names, uid=True)

    def _create_IMAP4(self) -> Any:  # noqa: N802  # imapclient's name
        seconds = self._timeout.connect
        if self.ssl:
            return _Tls(self.host, self.port, self.ssl_context, seconds)  # type: ignore[call-arg]
        return _Plain(self.host, self.port, seconds)


def read_ranges(lines: Sequence[bytes]) -> tuple[tuple[int, int], ...]:
    """Of “(EARLIER) 300:310,405”, in order and apart from each other. What is no number is left
    out."""
    found: list[tuple[int, int]] = []
    for line in lines:
        for one in line.rpartition(b" ")[2].split(b","):
            first, _, last = one.partition(b":")
            with suppress(ValueError):
                low, high = sorted((int(first), int(last or first)))
                found.append((low, high))
    apart: list[tuple[int, int]] = []
    for low, high in sorted(found):
        if apart and low <= apart[-1][1] + 1:
            apart[-1] = (apart[-1][0], max(apart[-1][1], high))
        else:
            apart.append((low, high))
    return tuple(apart)


class _WholeLines(io.BufferedReader):
    """A line that broke off before its end is none: else half of an answer would be taken for a
    short one."""

    def readline(self, size: int | None = -1) -> bytes:
        line = super().readline(size)
        return line if line.endswith(b"\n") or len(line) == size else b""


class Smtp(smtplib.SMTP):
    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        return _connect(host, port, timeout)

    def getreply(self) -> tuple[int, bytes]:
        if self.file is None and self.sock:
            self.file = _WholeLines(self.sock.makefile("rb", buffering=0))
        return super().getreply()


class SmtpTls(smtplib.SMTP_SSL, Smtp):
    def _get_socket(self, host: str, port: int, timeout: float) -> ssl.SSLSocket:
        sock = _connect(host, port, timeout)
        return _wrapped(sock, self.context, host)
