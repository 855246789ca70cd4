"""A real mail transfer agent (Postfix) before a real mail server (Dovecot) for tests: what is
submitted passes its queue and is delivered by LMTP, so that mail that is sent is received in
another mailbox. Where one is missing the tests that need it say so.

    with running_postfix() as world:
        …  # submit at world.smtp
        world.sent_by("maya@office.test")

No server of the system is started or asked: it has a queue and settings of its own.
"""

import contextlib
import os
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.mail_world import (
    PROGRAM,
    SECONDS,
    MailWorld,
    await_port,
    running_mail_world,
)
from tests.ports import free_port

DAEMONS = Path("/usr/lib/postfix/sbin")


def can_start() -> bool:
    """Its master changes to other users and ends where it cannot."""
    return PROGRAM is not None and (DAEMONS / "master").exists() and os.getuid() == 0


needs_postfix = pytest.mark.skipif(
    not can_start(),
    reason="No Postfix found that can be started, so the tests of mail that passes one did not "
    "run. They need Dovecot, Postfix (Debian: apt-get install postfix) and root.",
)
NOBODY = "nobody@elsewhere.test"  # whom it refuses
QUEUES = ("incoming", "active", "deferred")  # in the order in which a mail passes them

MAIN = """
compatibility_level = 3.6
queue_directory = {folder}/queue
data_directory = {folder}/data
maillog_file = {folder}/postfix.log
maillog_file_prefixes = {folder}
daemon_directory = {daemons}
command_directory = /usr/sbin
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = mail.office.test
mydestination =
alias_maps =
disable_dns_lookups = yes
default_transport = lmtp:inet:[127.0.0.1]:{lmtp}
smtpd_tls_security_level = encrypt
smtpd_tls_cert_file = {folder}/server.pem
smtpd_tls_key_file = {folder}/server.pem
smtpd_sasl_auth_enable = yes
smtpd_sasl_type = dovecot
smtpd_sasl_path = {folder}/run/auth-postfix
smtpd_discard_ehlo_keywords = {discarded}
smtpd_recipient_restrictions =
    check_recipient_access inline:{{ {{ {nobody} = REJECT }} }}, permit_sasl_authenticated, reject
"""
SERVICES = """
127.0.0.1:{smtp} inet n - n - - smtpd
postlog unix-dgram n - n - 1 postlogd
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
proxymap unix - - n - - proxymap
anvil unix - - n - 1 anvil
retry unix - - n - - error
error unix - - n - - error
lmtp unix - - n - - lmtp
"""


@dataclass(frozen=True, kw_only=True)
class PostfixWorld(MailWorld):
    def sent_by(self, sender: str) -> list[tuple[list[str], bytes]]:
        """What others received from this address: who, and the mail as the last of them has it.
        Waits until nothing is under way."""
        self.await_delivery()
        found: dict[str, tuple[list[str], bytes]] = {}
        for box in sorted(one.name for one in (self.folder / "mail").iterdir()):
            if box == sender:
                continue
            with self.client(box) as client:
                client.select_folder("INBOX", readonly=True)
                uids = client.search(["FROM", sender])
                for mail in (
                    client.fetch(uids, ["ENVELOPE", "BODY.PEEK[]"]) if uids else {}
                ).values():
                    id = mail[b"ENVELOPE"].message_id.decode()
                    receivers, _ = found.get(id, ([], b""))
                    found[id] = ([*receivers, box], mail[b"BODY[]"])
        return list(found.values())

    def await_delivery(self) -> None:
        """Until its queue is empty. Raises RuntimeError with its log where a mail stays in it."""
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            # Twice: a mail that bounces is a new one before the old one is gone.
            if not any(self._waiting(one) for one in (*QUEUES, *QUEUES)):
                return
            time.sleep(0.02)
        raise RuntimeError(
            f"A mail stays in the queue: {(self.folder / 'postfix.log').read_text()}"
        )

    def _waiting(self, queue: str) -> list[Path]:
        """Whole mails: one that may be executed (as Postfix marks it) is no half of a mail, whose
        conversation hangs."""
        found = []
        for one in (self.folder / "queue" / queue).rglob("*"):
            with contextlib.suppress(FileNotFoundError):  # delivered meanwhile
                if one.is_file() and one.stat().st_mode & stat.S_IXUSR:
                    found.append(one)
        return found


@contextlib.contextmanager
def running_postfix(*, is_chunked: bool = True) -> Iterator[PostfixWorld]:
    """Serves until the block ends. Mail may come in chunks (RFC 3030), as is Postfix's way, or in
    one piece alone."""
    with running_mail_world() as mail:
        port = free_port()
        _write_settings(mail, smtp=port, discarded="" if is_chunked else "chunking")
        server = subprocess.Popen(
            [DAEMONS / "master", "-c", mail.folder / "postfix", "-d"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            await_port("Postfix", server, mail.folder / "postfix.log", port)
            about = {name: getattr(mail, name) for name in ("folder", "imap", "lmtp", "sink")}
            yield PostfixWorld(**about, smtp=port)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=SECONDS)


def _write_settings(mail: MailWorld, *, smtp: int, discarded: str) -> None:
    config, queue = mail.folder / "postfix", mail.folder / "queue"
    for folder in (config, queue, queue / "pid"):
        folder.mkdir()
    about: dict[str, Any] = {"folder": mail.folder, "daemons": DAEMONS, "nobody": NOBODY}
    about["discarded"] = discarded
    (config / "main.cf").write_text(MAIN.format(**about, lmtp=mail.lmtp))
    (config / "master.cf").write_text(SERVICES.format(smtp=smtp))
    own = (*QUEUES, "bounce", "corrupt", "defer", "hold", "private", "public", "saved", "trace")
    for folder in (mail.folder / "data", *(queue / one for one in own)):
        folder.mkdir()
        shutil.chown(folder, "postfix")
