"""Gmail's IMAP for tests: a real Dovecot, and in front of it a program that adds what Google
documents (X-GM-EXT-1) and takes away what Gmail does not announce.

    with running_gmail_imap() as world:
        world.deliver("maya@office.test", b"From: …")

Dovecot's inbox is the folder of all mail, and each label a keyword there that no client sees. The
inbox, sent mail, drafts, starred mail and what the user made are views of it: opened, they have a
numbering of their own, and a search finds what has the label. Trash and junk lie apart. What goes
out is filed by the server, with bytes of its own. Where Google's document leaves something open
this does what is worst for a client: an open view's own label is left out, and system labels come
as atoms or as quoted strings.
"""

import contextlib
import hashlib
import re
import select
import socket
import ssl
import threading
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from email import message_from_bytes
from typing import Any

from imapclient import IMAPClient  # type: ignore[import-untyped]

from tests.mail_world import PASSWORD, SECONDS, MailWorld, running_mail_world

ALL, TRASH, SPAM = "[Gmail]/All Mail", "[Gmail]/Trash", "[Gmail]/Spam"
HELD = {ALL: "INBOX", TRASH: "Trash", SPAM: "Junk"}  # Dovecot's names
ARCHIVED, SENT, IMPORTANT = "gm-archived", "gm-sent", "gm-important"
VIEWS = {
    "INBOX": f"UNKEYWORD {ARCHIVED} UNDRAFT",
    "[Gmail]/Sent Mail": f"KEYWORD {SENT}",
    "[Gmail]/Drafts": "DRAFT",
    "[Gmail]/Starred": "FLAGGED",
    "[Gmail]/Important": f"KEYWORD {IMPORTANT}",
}
USES = {
    ALL: "\\All",
    TRASH: "\\Trash",
    SPAM: "\\Junk",
    "[Gmail]/Sent Mail": "\\Sent",
    "[Gmail]/Drafts": "\\Drafts",
    "[Gmail]/Starred": "\\Flagged",
    "[Gmail]/Important": "\\Important",
}
VIEW_LABELS = {
    "INBOX": "\\Inbox",
    "[Gmail]/Sent Mail": "\\Sent",
    "[Gmail]/Drafts": "\\Draft",
    "[Gmail]/Starred": "\\Starred",
    "[Gmail]/Important": "\\Important",
}
ANNOUNCED = (
    "IMAP4rev1 UNSELECT IDLE NAMESPACE QUOTA ID CHILDREN X-GM-EXT-1 UIDPLUS ENABLE MOVE CONDSTORE "
    "ESEARCH SPECIAL-USE"
)
EACH = "1:*"
NAMED = r'("(?:[^"\\]|\\.)*"|[^\s()"]+)'
LITERAL = re.compile(rb"\{(\d+)\+?\}\r\n\Z")


@dataclass(frozen=True, kw_only=True)
class GmailWorld(MailWorld):
    proxy: "Proxy"

    @property
    def servers(self) -> dict[str, Any]:
        return super().servers | {"files_sent": True}


@contextlib.contextmanager
def running_gmail_imap(*, shows_all: bool = True) -> Iterator[GmailWorld]:
    """Serves until the block ends. `shows_all`: whether the folder of all mail is shown."""
    with running_mail_world() as world:
        proxy = Proxy(world=world, shows_all=shows_all)
        world.sink.file = proxy.file
        with proxy.serving() as port:
            yield GmailWorld(
                folder=world.folder,
                imap=port,
                smtp=world.smtp,
                lmtp=world.lmtp,
                sink=world.sink,
                proxy=proxy,
            )


@dataclass
class Proxy:
    """`labels`: keywords by a label's name as it travels (modified UTF-7), by user."""

    world: MailWorld
    shows_all: bool = True
    labels: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    asked: list[str] = field(default_factory=list)

    def make(self, user: str, label: str) -> str:
        own = self.labels[user]
        return own.setdefault(label, f"gm-l{len(own)}")

    def file(self, sender: str, raw: bytes) -> None:
        """As the server that sends keeps a copy: not byte for byte."""
        with self.world.client(sender) as client:
            flags = (b"\\Seen", ARCHIVED.encode(), SENT.encode())
            client.append("INBOX", b"X-Received: by 2002:a17:90b\r\n" + raw, flags)

    @contextlib.contextmanager
    def serving(self) -> Iterator[int]:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.world.folder / "server.pem")
        listening = socket.create_server(("127.0.0.1", 0))

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    taken, _ = listening.accept()
                    threading.Thread(target=self._talk, args=(taken, context), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield int(listening.getsockname()[1])
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            listening.close()

    def _talk(self, taken: socket.socket, context: ssl.SSLContext) -> None:
        with contextlib.suppress(OSError), contextlib.ExitStack() as open_:
            open_.enter_context(taken)
            client = open_.enter_context(context.wrap_socket(taken, server_side=True))
            trusted = ssl.create_default_context(cafile=str(self.world.folder / "ca.pem"))
            # Later versions say things that are no data, which nobody may wait for.
            trusted.maximum_version = ssl.TLSVersion.TLSv1_2
            upstream = socket.create_connection(("127.0.0.1", self.world.imap), SECONDS)
            open_.enter_context(upstream)
            server = trusted.wrap_socket(upstream, server_hostname="127.0.0.1")
            Talk(self, client, open_.enter_context(server)).run()


class Lines:
    """What one side says, in lines and literals."""

    def __init__(self) -> None:
        self._buffer, self._literal, self._goes_on = b"", 0, False

    def read(self, data: bytes) -> Iterator[tuple[bytes, bool]]:
        """Each with whether it is the first line of something."""
        self._buffer += data
        while self._buffer:
            if self._literal:
                part = self._buffer[: self._literal]
                self._literal -= len(part)
                is_first = False
            elif (end := self._buffer.find(b"\n")) < 0:
                return
            else:
                part = self._buffer[: end + 1]
                is_first = not self._goes_on
                size = LITERAL.search(part)
                self._literal, self._goes_on = int(size[1]) if size else 0, size is not None
            self._buffer = self._buffer[len(part) :]
            yield part, is_first


class Talk:
    """One connection of a client."""

    def __init__(self, proxy: Proxy, client: ssl.SSLSocket, server: ssl.SSLSocket) -> None:
        self.proxy, self.client, self.server = proxy, client, server
        self.user = self.view = ""
        self.here = "INBOX"  # what is open at Dovecot

    def run(self) -> None:
        asked, said, both = Lines(), Lines(), (self.client, self.server)
        while True:
            ready = [one for one in both if one.pending()] or select.select(both, [], [])[0]
            if self.client in ready:
                if not (data := self.client.recv(65536)):
                    return
                for part, is_first in asked.read(data):
                    self.server.sendall(self._asked(part) if is_first else part)
            if self.server in ready:
                if not (data := self.server.recv(65536)):
                    return
                self._say(b"".join(self._said(*one) for one in said.read(data)))

    def _say(self, data: bytes) -> None:
        self.client.sendall(data)

    # What Dovecot answers

    def _said(self, line: bytes, is_first: bool) -> bytes:
        if not is_first:
            return line
        line = re.sub(rb"(CAPABILITY )[^\]\r\n]*", rb"\1" + ANNOUNCED.encode(), line)
        if self.view and b"[UIDVALIDITY " in line:
            line = re.sub(rb"UIDVALIDITY \d+", b"UIDVALIDITY %d" % _number(self.view, 31), line)
        return self._hidden(line)

    def _hidden(self, line: bytes) -> bytes:
        """Without the keywords that stand for labels."""
        return re.sub(rb"(?<=\()gm-[a-z0-9]+ ?| gm-[a-z0-9]+", b"", line)

    # What the client wants

    def _asked(self, line: bytes) -> bytes:
        tag, _, rest = line.decode("latin-1").rstrip("\r\n").partition(" ")
        self.proxy.asked.append(rest)
        words = rest.split(" ")
        verb = " ".join(words[:2]).upper() if words[0].upper() == "UID" else words[0].upper()
        name = {"LIST": "list", "UID FETCH": "fetch", "UID STORE": "store", "UID SEARCH": "search"}
        if verb in ("LOGIN", "CREATE", "STATUS", "SELECT", "EXAMINE", "APPEND"):
            wanted = getattr(self, f"_{verb.lower()}")(tag, rest)
        elif verb in name:
            wanted = getattr(self, f"_{name[verb]}")(tag, rest)
        elif verb in ("UID MOVE", "UID COPY"):
            wanted = self._move(tag, rest)
        else:
            wanted = rest or None
        if wanted is None:
            return b"" if rest else line
        return (f"{tag} {wanted}" if rest else tag).encode("latin-1") + b"\r\n"

    def _login(self, tag: str, rest: str) -> str:
        found = re.match(rf"(?i)LOGIN {NAMED}", rest)
        self.user = _unquoted(found[1]) if found else ""
        return rest

    def _list(self, tag: str, rest: str) -> None:
        folders = {**HELD, **VIEWS, **self.proxy.labels[self.user]}
        lines = ['* LIST (\\HasChildren \\Noselect) "/" "[Gmail]"\r\n']
        for name in folders:
            if name != ALL or self.proxy.shows_all:
                use = f" {USES[name]}" if name in USES else ""
                lines.append(f'* LIST (\\HasNoChildren{use}) "/" {_quoted(name)}\r\n')
        self._say(("".join(lines) + f"{tag} OK Success\r\n").encode())

    def _create(self, tag: str, rest: str) -> None:
        self.proxy.make(self.user, _unquoted(rest.partition(" ")[2]))
        self._say(f"{tag} OK Success\r\n".encode())

    def _opened(self, rest: str, *, stays: bool = True) -> str:
        """With Dovecot's name of the folder."""
        found = re.match(rf"(?i)(\w+) {NAMED}", rest)
        assert found, rest
        name = _unquoted(found[2])
        if stays:
            self.view = "" if name in HELD else name
            self.here = HELD.get(name, "INBOX")
        known = name in HELD or name in VIEWS or name in self.proxy.labels[self.user]
        there = HELD.get(name, "INBOX" if known else "None")
        return f"{found[1]} {_quoted(there)}{rest[found.end() :]}"

    def _select(self, tag: str, rest: str) -> str:
        return self._opened(rest)

    _examine = _select

    def _status(self, tag: str, rest: str) -> str | None:
        found = re.match(rf"(?i)STATUS {NAMED} \((.*)\)", rest)
        assert found, rest
        name = _unquoted(found[1])
        with self._beside(HELD.get(name, "INBOX")) as client:
            said = client.folder_status(HELD.get(name, "INBOX"), found[2].split(" "))
            if name not in HELD:
                said[b"MESSAGES"] = len(client.search(self._criterion(name)))
                said[b"UIDVALIDITY"] = _number(name, 31)
        pairs = " ".join(f"{key} {said[key.encode()]}" for key in found[2].split(" "))
        self._say(f"* STATUS {_quoted(name)} ({pairs})\r\n{tag} OK Success\r\n".encode())
        return None

    def _append(self, tag: str, rest: str) -> str:
        wanted = self._opened(rest, stays=False)
        if '"INBOX"' in wanted and not rest.startswith(f'APPEND "{ALL}"'):
            assert "Drafts" in rest, "nobody puts mail into another view here"
            wanted = wanted.replace("(", f"({ARCHIVED} ", 1)
        return wanted

    def _move(self, tag: str, rest: str) -> str:
        found = re.match(rf"(?i)(UID \w+ \S+) {NAMED}\Z", rest)
        assert found, rest
        name = _unquoted(found[2])
        assert name in HELD, "mail is moved into places that lie apart, and back"
        if name == ALL:
            with self._beside(self.here, readonly=False) as client:
                client.add_flags(found[1].split(" ")[2], [ARCHIVED], silent=True)
        return f"{found[1]} {_quoted(HELD[name])}"

    def _search(self, tag: str, rest: str) -> str:
        rest = re.sub(r"X-GM-MSGID (\d+)", lambda it: self._named(mail=int(it[1])), rest)
        rest = re.sub(r"X-GM-THRID (\d+)", lambda it: self._named(thread=int(it[1])), rest)
        before = re.match(r"(?i)UID SEARCH (?:CHARSET \S+ )?", rest)
        assert before, rest
        view = f"{self._criterion(self.view)} " if self.view else ""
        return rest[: before.end()] + view + rest[before.end() :]

    def _named(self, *, mail: int = 0, thread: int = 0) -> str:
        found = [
            str(uid)
            for uid, (_, its, their, _) in self._looked(EACH).items()
            if its == mail or their == thread
        ]
        return f"UID {','.join(found)}" if found else "KEYWORD gm-none"

    def _fetch(self, tag: str, rest: str) -> str:
        found = re.match(r"(?i)(UID FETCH (\S+)) \(?(.*?)\)?((?: \(CHANGEDSINCE \d+\))?)\Z", rest)
        assert found, rest
        items = re.findall(r"\S+\[[^\]]*\]\S*|\S+", found[3])
        gmails = [one for one in items if one.upper().startswith("X-GM-")]
        if not gmails:
            return rest
        self._tell(found[2], gmails)
        others = [one for one in items if one not in gmails] or ["UID"]
        return f"{found[1]} ({' '.join(others)}){found[4]}"

    def _store(self, tag: str, rest: str) -> str | None:
        found = re.match(r"(?i)UID STORE (\S+) ([+-])X-GM-LABELS \((.*)\)\Z", rest)
        if found is None:
            return rest
        names = [_unquoted(one) for one in re.findall(NAMED, found[3])]
        with self._beside(self.here, readonly=False) as client:
            for name in names:
                puts, word = found[2] == "+", self._keyword(name)
                if word == ARCHIVED:
                    puts = not puts
                change = client.add_flags if puts else client.remove_flags
                change(found[1], [word], silent=True)
        self._tell(found[1], ["X-GM-LABELS"])
        self._say(f"{tag} OK Success\r\n".encode())
        return None

    def _keyword(self, name: str) -> str:
        system = {
            "\\inbox": ARCHIVED,
            "\\important": IMPORTANT,
            "\\starred": "\\Flagged",
        }
        if name.startswith("\\"):
            return system[name.lower()]  # others are not settable here
        return self.proxy.make(self.user, name)

    # What is known beside it

    @contextlib.contextmanager
    def _beside(self, folder: str, *, readonly: bool = True) -> Iterator[IMAPClient]:
        with IMAPClient("127.0.0.1", self.proxy.world.imap, timeout=SECONDS) as client:
            client.login(self.user, PASSWORD)
            client.select_folder(folder, readonly=readonly)
            yield client

    def _looked(self, uids: str) -> dict[int, tuple[int, int, int, list[str]]]:
        """Sequence number, X-GM-MSGID, X-GM-THRID and labels by number."""
        with self._beside(self.here) as client:
            there = client.search()
            if uids != EACH:
                there = [int(one) for one in uids.split(",")]
            said = client.fetch(there, ["FLAGS", "BODY.PEEK[]"])
        words = {word: name for name, word in self.proxy.labels[self.user].items()}
        found = {}
        for uid, one in said.items():
            flags = {flag.decode() for flag in one[b"FLAGS"]}
            labels = [words[flag] for flag in sorted(flags) if flag in words]
            system = {SENT: "\\Sent", IMPORTANT: "\\Important", "\\Flagged": "\\Starred"}
            labels += [name for flag, name in system.items() if flag in flags]
            labels += ["\\Draft"] if "\\Draft" in flags else []
            if self.here == "INBOX" and not flags & {ARCHIVED, "\\Draft"}:
                labels.append("\\Inbox")
            mail = message_from_bytes(one[b"BODY[]"])
            first = str(mail["References"] or mail["In-Reply-To"] or mail["Message-ID"]).split()[0]
            number = _number(one[b"BODY[]"].hex(), 63)
            found[uid] = (one[b"SEQ"], number, _number(first, 63), labels)
        return found

    def _tell(self, uids: str, wanted: list[str]) -> None:
        own = VIEW_LABELS.get(self.view, self.view)
        for uid, (number, mail, thread, labels) in self._looked(uids).items():
            shown = [_word(one, quoted=mail % 4 == 1) for one in labels if one != own]
            values = {
                "X-GM-MSGID": str(mail),
                "X-GM-THRID": str(thread),
                "X-GM-LABELS": f"({' '.join(shown)})",
            }
            said = " ".join(f"{name} {values[name.upper()]}" for name in wanted)
            self._say(f"* {number} FETCH ({said} UID {uid})\r\n".encode())

    def _criterion(self, name: str) -> str:
        return VIEWS.get(name) or f"KEYWORD {self.proxy.labels[self.user].get(name, 'gm-none')}"


def _number(of: str, bits: int) -> int:
    return (int.from_bytes(hashlib.sha256(of.encode()).digest()[:8]) >> (64 - bits)) | 1


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _unquoted(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name[1:-1]) if name.startswith('"') else name


def _word(label: str, *, quoted: bool) -> str:
    """A system label as an atom, as Google shows it, or as a string."""
    return label if label.startswith("\\") and not quoted else _quoted(label)
