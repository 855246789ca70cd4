"""A real mail server (Dovecot) for tests: mailboxes over IMAP, submission that hands mail on to a
sink, and delivery by LMTP. Where none is installed the tests that need it say so.

    with running_mail_world() as world:
        world.deliver("maya@office.test", b"From: …")

Every address of office.test is a mailbox, and all have one password.
"""

import contextlib
import getpass
import os
import pwd
import shutil
import signal
import smtplib
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from imapclient import IMAPClient  # type: ignore[import-untyped]

from tests.imap_server import certificate
from tests.ports import free_port

DOMAIN = "office.test"
PASSWORD = "open-sesame"
FULL = f"full@{DOMAIN}"  # a mailbox that takes 8 KB
SECONDS = 20.0
PROGRAM = shutil.which("dovecot", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
needs_dovecot = pytest.mark.skipif(
    PROGRAM is None,
    reason="No Dovecot found, so the tests of real mailboxes did not run. Install one (Debian: "
    "apt-get install dovecot-imapd dovecot-lmtpd dovecot-submissiond) and run the tests again.",
)

CONFIG = """
base_dir = {folder}/run
log_path = {folder}/log
protocols = imap lmtp submission
listen = 127.0.0.1
hostname = mail.office.test
ssl = required
ssl_cert = <{folder}/server.pem
ssl_key = <{folder}/server.pem
default_login_user = {login}
default_internal_user = {internal}
default_internal_group = {group}
mail_location = maildir:{folder}/mail/%Lu
mail_max_userip_connections = 100
default_process_limit = 1000
auth_failure_delay = 0
first_valid_uid = 1
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = passwd-file
  args = {folder}/limits
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={folder}/home/%Lu
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = 0
  }}
  inet_listener imaps {{
    port = {imap}
    ssl = yes
  }}
}}
service submission-login {{
  chroot =
  inet_listener submission {{
    port = {smtp}
  }}
}}
service lmtp {{
  inet_listener lmtp {{
    port = {lmtp}
  }}
}}
service anvil {{
  chroot =
}}
service auth {{
  unix_listener auth-postfix {{
    mode = 0666
  }}
}}
protocol imap {{
  mail_plugins = quota imap_quota
}}
plugin {{
  quota = maildir
}}
submission_relay_host = 127.0.0.1
submission_relay_port = {sink}
submission_relay_ssl = no
namespace inbox {{
  inbox = yes
  mailbox Drafts {{
    special_use = \\Drafts
    auto = subscribe
  }}
  mailbox Sent {{
    special_use = \\Sent
    auto = subscribe
  }}
  mailbox Junk {{
    special_use = \\Junk
    auto = subscribe
  }}
  mailbox Trash {{
    special_use = \\Trash
    auto = subscribe
  }}
  mailbox Archive {{
    special_use = \\Archive
    auto = subscribe
  }}
}}
"""


@dataclass
class Sink:
    """Where mail comes out that was handed on. `refused` receivers are refused. What is taken goes
    on to the mail server at `lmtp`, where there is one, and is given to `file`."""

    taken: list[tuple[str, list[str], bytes]] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    lmtp: int = 0
    file: Callable[[str, bytes], None] | None = None

    def of(self, sender: str) -> list[tuple[str, list[str], bytes]]:
        """What this sender handed on."""
        return [one for one in self.taken if one[0] == sender]

    async def handle_RCPT(  # noqa: N802  # aiosmtpd's name
        self, server: Any, session: Any, envelope: Any, address: str, options: Any
    ) -> str:
        if address in self.refused:
            return "550 5.1.1 No such person here"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        self.taken.append((envelope.mail_from, list(envelope.rcpt_tos), bytes(envelope.content)))
        if self.file:
            self.file(envelope.mail_from, bytes(envelope.content))
        if self.lmtp:
            with smtplib.LMTP("127.0.0.1", self.lmtp, timeout=SECONDS) as lmtp:
                # One by one: LMTP answers for each receiver, and smtplib reads one answer.
                for receiver in envelope.rcpt_tos:
                    lmtp.sendmail(envelope.mail_from, receiver, envelope.content)
        return "250 2.0.0 Taken"


@dataclass(frozen=True, kw_only=True)
class MailWorld:
    folder: Path
    imap: int
    smtp: int
    lmtp: int
    sink: Sink

    @property
    def servers(self) -> dict[str, Any]:
        """As a credential names them."""
        return {
            "imap": {"host": "127.0.0.1", "port": self.imap, "security": "tls"},
            "smtp": {"host": "127.0.0.1", "port": self.smtp, "security": "starttls"},
            "files_sent": False,
            "checks_as": "mail.office.test",
        }

    def sent_by(self, sender: str) -> list[tuple[list[str], bytes]]:
        """What left the server in this name: receivers, and the mail."""
        return [(receivers, mail) for _, receivers, mail in self.sink.of(sender)]

    def deliver(self, address: str, mail: bytes | EmailMessage) -> None:
        """As another server's mail comes in."""
        raw = mail if isinstance(mail, bytes) else mail.as_bytes()
        with smtplib.LMTP("127.0.0.1", self.lmtp, timeout=SECONDS) as lmtp:
            refused = lmtp.sendmail("bounce@elsewhere.test", [address], raw)
            assert refused == {}

    @contextlib.contextmanager
    def client(self, address: str) -> Iterator[IMAPClient]:
        """The mailbox in its user's own mail program."""
        with IMAPClient("127.0.0.1", self.imap, timeout=SECONDS) as client:
            client.login(address, PASSWORD)
            yield client


@contextlib.contextmanager
def running_mail_world(*, delivers: bool = False) -> Iterator[MailWorld]:
    """Serves until the block ends. The certificate is trusted meanwhile. Where it `delivers`, what
    is sent arrives in the mailboxes here."""
    # Not below pytest's folders: those are for root alone, and the server keeps mail as nobody.
    with (
        tempfile.TemporaryDirectory(prefix="remit-mail-", ignore_cleanup_errors=True) as name,
        _served(Path(name)) as world,
    ):
        world.sink.lmtp = world.lmtp if delivers else 0
        yield world


@contextlib.contextmanager
def _served(folder: Path) -> Iterator[MailWorld]:
    assert PROGRAM is not None, "mark the test `needs_dovecot`"
    for name in ("mail", "home", "run"):
        (folder / name).mkdir(parents=True)
    certificate(folder, f"mail.{DOMAIN}")
    sink = Sink()
    controller = Controller(sink, hostname="127.0.0.1", port=free_port())
    controller.start()
    ports = {name: free_port() for name in ("imap", "smtp", "lmtp")}
    (folder / "conf").write_text(
        CONFIG.format(
            folder=folder, password=PASSWORD, sink=controller.port, **ports, **_users(folder)
        )
    )
    limit = f"{FULL}::{{uid}}:{{gid}}::{folder}/home/{FULL}::userdb_quota_rule=*:storage=8K\n"
    (folder / "limits").write_text(limit.format(**_users(folder)))
    server = subprocess.Popen(
        [PROGRAM, "-F", "-c", str(folder / "conf")],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
    )
    world = MailWorld(folder=folder, sink=sink, **ports)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SSL_CERT_FILE", str(folder / "ca.pem"))
        try:
            await_port("Dovecot", server, folder / "log", ports["imap"])
            yield world
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=SECONDS)
            controller.stop()


def _users(folder: Path) -> dict[str, Any]:
    """Root's server takes the users that the package made; anybody else's is itself."""
    if os.getuid() == 0:
        owner = pwd.getpwnam("nobody")
        for each in (folder, folder / "mail", folder / "home"):
            os.chown(each, owner.pw_uid, owner.pw_gid)
        folder.chmod(0o711)
        names = {"login": "dovenull", "internal": "dovecot", "group": "dovecot"}
        return {**names, "uid": owner.pw_uid, "gid": owner.pw_gid}
    own = getpass.getuser()
    group = __import__("grp").getgrgid(os.getgid()).gr_name
    names = {"login": own, "internal": own, "group": group}
    return {**names, "uid": os.getuid(), "gid": os.getgid()}


def await_port(name: str, server: "subprocess.Popen[bytes]", log: Path, port: int) -> None:
    """Until the server answers there. Raises RuntimeError with what it wrote into its log."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            break
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.02)
    said = log.read_text() if log.exists() else "nothing"
    raise RuntimeError(f"{name} did not start. It says: {said}")
