"""A mail server on loopback that speaks as much of IMAP (RFC 3501) over TLS as a reader needs,
and keeps every command it was given."""

import base64
import contextlib
import re
import socketserver
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from uuid import uuid4

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

USER, PASSWORD = "maya@company.com", 'pass "wörd" \\ 7'


@dataclass
class Stored:
    uid: int
    raw: bytes
    flags: str = ""
    arrived: str = "09-Mar-2026 10:00:00 +0100"
    size: int | None = None  # what the server says, where that isn't so


@dataclass
class MailServer:
    """What it holds may be changed while it runs. `hang_up_after` counts commands."""

    port: int = 0
    starttls: bool = False
    auth_plain: bool = True
    password: str = PASSWORD
    validity: int = 7
    folders: dict[str, list[Stored]] = field(default_factory=lambda: {"INBOX": []})
    commands: list[str] = field(default_factory=list)
    hang_up_after: int | None = None
    announced: str = ""  # its capabilities, where they are not the usual ones

    def put(self, *raws: bytes, folder: str = "INBOX", **fields: object) -> None:
        stored = self.folders.setdefault(folder, [])
        for raw in raws:
            uid = stored[-1].uid + 1 if stored else 1
            stored.append(Stored(uid=uid, raw=raw, **fields))  # type: ignore[arg-type]

    def named(self, name: str) -> list[str]:
        return [command for command in self.commands if command.split(" ")[0] == name]


@contextlib.contextmanager
def running_mail_server(
    folder: Path, *, starttls: bool = False, expired: bool = False
) -> Iterator[MailServer]:
    """Serves until the block ends; `folder` holds `ca.pem`, the certificate it is known by."""
    state = MailServer(starttls=starttls)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate(folder, expired=expired))

    class Talk(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            try:
                with contextlib.suppress(OSError, ValueError):
                    if not starttls:
                        self.encrypt()
                    _Session(self, state).serve()
            finally:
                self.connection.close()

        def encrypt(self) -> None:
            self.connection = context.wrap_socket(self.request, server_side=True)
            self.rfile = self.connection.makefile("rb")
            self.wfile = self.connection.makefile("wb", 0)

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = True

    with Server(("127.0.0.1", 0), Talk) as server:
        state.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield state
        finally:
            server.shutdown()
            thread.join()


class _Session:
    def __init__(self, talk: socketserver.StreamRequestHandler, state: MailServer) -> None:
        self.talk, self.state = talk, state
        self.opened: list[Stored] | None = None
        self.heard = 0

    def say(self, line: str) -> None:
        self.talk.wfile.write(line.encode() + b"\r\n")

    def serve(self) -> None:
        self.say("* OK ready")
        while line := self.talk.rfile.readline():
            tag, _, command = line.decode().rstrip("\r\n").partition(" ")
            self.state.commands.append(command)
            self.heard += 1
            if self.state.hang_up_after is not None and self.heard > self.state.hang_up_after:
                self.state.hang_up_after = None
                return
            name, _, rest = command.partition(" ")
            answer = self.answer(name.upper(), rest)
            self.say(f"{tag} {answer}")
            if name.upper() == "LOGOUT":
                return
            if name.upper() == "STARTTLS":
                self.talk.encrypt()  # type: ignore[attr-defined]

    def answer(self, name: str, rest: str) -> str:
        match name, rest.partition(" ")[0]:
            case "CAPABILITY", _:
                starttls = " STARTTLS" if self.state.starttls else ""
                auth = " AUTH=PLAIN" if self.state.auth_plain else ""
                usual = f"IMAP4rev1{starttls}{auth}"
                self.say(f"* CAPABILITY {self.state.announced or usual}")
            case "AUTHENTICATE", _:
                self.say("+ ")
                given = base64.b64decode(self.talk.rfile.readline()).decode().split("\0")
                return self.let_in(given[1:])
            case "LOGIN", _:
                given = re.findall(r'"((?:[^"\\]|\\.)*)"', rest)
                return self.let_in([_plain(one) for one in given])
            case "EXAMINE", _:
                return self.examine(_plain(rest[1:-1]))
            case "UID", "SEARCH":
                return self.search(rest)
            case "UID", "FETCH":
                return self.fetch(rest)
            case (("LOGOUT" | "STARTTLS"), _):
                pass
            case _:
                return "BAD no such thing here"
        return "OK done"

    def let_in(self, given: list[str]) -> str:
        return "OK done" if given == [USER, self.state.password] else "NO not you"

    def examine(self, folder: str) -> str:
        self.opened = self.state.folders.get(folder)
        if self.opened is None:
            return "NO no such folder"
        ahead = self.opened[-1].uid + 1 if self.opened else 1
        self.say(f"* {len(self.opened)} EXISTS")
        self.say(f"* OK [UIDVALIDITY {self.state.validity}] good")
        self.say(f"* OK [UIDNEXT {ahead}] next")
        return "OK [READ-ONLY] done"

    def search(self, rest: str) -> str:
        words = rest.split(" ")
        first, _, last = words[2].partition(":")
        stored = self.opened or []
        uids = [one.uid for one in stored if one.uid >= int(first)]
        if last != "*":
            uids = [uid for uid in uids if uid <= int(last)]
        elif not uids and stored:
            uids = [stored[-1].uid]  # as RFC 3501 has it
        if "SINCE" in words:
            day = datetime.strptime(words[-1], "%d-%b-%Y").replace(tzinfo=UTC)
            ages = {one.uid: _day(one.arrived) for one in stored}
            uids = [uid for uid in uids if ages[uid] >= day]
        self.say("* SEARCH " + " ".join(map(str, uids)))
        return "OK done"

    def fetch(self, rest: str) -> str:
        wanted = {int(uid) for uid in rest.split(" ")[1].split(",")}
        for number, one in enumerate(self.opened or [], start=1):
            if one.uid not in wanted:
                continue
            if "BODY" in rest:
                head = f"* {number} FETCH (UID {one.uid} BODY[]<0> {{{len(one.raw)}}}\r\n"
                self.talk.wfile.write(head.encode() + one.raw + b")\r\n")
            else:
                size = len(one.raw) if one.size is None else one.size
                self.say(
                    f"* {number} FETCH (FLAGS ({one.flags}) UID {one.uid} RFC822.SIZE {size} "
                    f'INTERNALDATE "{one.arrived}")'
                )
        self.say("* 1 FETCH (FLAGS (\\Recent))")  # servers also say what nobody asked for
        return "OK done"


def _plain(quoted: str) -> str:
    return re.sub(r"\\(.)", r"\1", quoted)


def _day(arrived: str) -> datetime:
    return datetime.strptime(arrived[:11].strip(), "%d-%b-%Y").replace(tzinfo=UTC)


def certificate(folder: Path, *names: str, expired: bool = False, days: float = 1) -> Path:
    """A certificate for 127.0.0.1 and these names, good for `days`, in `ca.pem`, and with its key
    in the file that is returned."""
    key = ec.generate_private_key(ec.SECP256R1())
    # Of two that are trusted at once, the one is found by its name.
    title = f"loopback {uuid4().hex[:8]}"
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, title)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=-0.5 if expired else days))
        .add_extension(
            x509.SubjectAlternativeName(
                [x509.IPAddress(IPv4Address("127.0.0.1")), *map(x509.DNSName, names)]
            ),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = made.public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    (folder / "ca.pem").write_bytes(pem)
    (folder / "server.pem").write_bytes(pem + secret)
    return folder / "server.pem"
