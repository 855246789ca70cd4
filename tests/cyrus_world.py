"""A real mail server that speaks JMAP and IMAP (Cyrus) for tests: mailboxes, submission that hands
mail on to a sink, and delivery by LMTP. Where none is unpacked the tests that need it say so.

    with running_cyrus() as world:
        world.add("maya@office.test")
        world.deliver("maya@office.test", b"From: …")

All mailboxes have one password.
"""

import contextlib
import os
import pwd
import shutil
import signal
import ssl
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiosmtpd.controller import Controller

from tests.calendar_world import CalendarServer
from tests.imap_server import certificate
from tests.mail_world import DOMAIN, PASSWORD, SECONDS, MailWorld, Sink, await_port
from tests.ports import free_port

# Where `.ci/cyrus` unpacks it.
_PLACES = (
    Path("/var/cache/remit/cyrus"),
    Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "remit/cyrus",
)
UNPACKED = next((one for one in _PLACES if (one / "done").exists()), None)
needs_cyrus = pytest.mark.skipif(
    UNPACKED is None,
    reason="No Cyrus found, so the tests of mailboxes over JMAP did not run. Unpack one (Debian: "
    ".ci/cyrus) and run the tests again.",
)
FOLDERS = ("Drafts", "Sent", "Trash", "Junk", "Archive")
LIBRARIES = ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu")

SETTINGS = """
configdirectory: {folder}/conf
partition-default: {folder}/spool
defaultpartition: default
sievedir: {folder}/sieve
temp_path: {folder}/tmp
cyrus_user: {user}
servername: mail.office.test
virtdomains: userid
unixhierarchysep: yes
altnamespace: yes
admins: cyrus
allowplaintext: no
sasl_mech_list: PLAIN
sasl_pwcheck_method: auxprop
sasl_auxprop_plugin: sasldb
sasl_sasldb_path: {folder}/sasldb
tls_server_cert: {folder}/server.pem
tls_server_key: {folder}/server.pem
httpmodules: jmap carddav
conversations: yes
conversations_db: twoskip
defaultsearchtier: t1
t1searchpartition-default: {folder}/spool
search_engine: none
autocreate_quota: 0
autocreate_post: yes
autocreate_inbox_folders: {folders}
autocreate_subscribe_folders: {folders}
{roles}
smtp_backend: host
smtp_host: 127.0.0.1:{sink}
failedloginpause: 0
munge8bit: no
delete_mode: immediate
"""
SERVICES = """
START {{
  recover cmd="{bin}/ctl_cyrusdb -C {folder}/imapd.conf -r"
}}
SERVICES {{
  imaps cmd="{bin}/imapd -s -C {folder}/imapd.conf" listen="127.0.0.1:{imap}" prefork=0
  https cmd="{bin}/httpd -s -C {folder}/imapd.conf" listen="127.0.0.1:{jmap}" prefork=1
  lmtp cmd="{bin}/lmtpd -a -C {folder}/imapd.conf" listen="127.0.0.1:{lmtp}" prefork=0
}}
DAEMON {{
  calalarmd cmd="{bin}/calalarmd -C {folder}/imapd.conf"
}}
"""


@dataclass(frozen=True, kw_only=True)
class CyrusWorld(MailWorld):
    jmap: int

    @property
    def servers(self) -> dict[str, Any]:
        """As a credential names them."""
        return {"session": self.url, "scheme": "basic", "checks_as": "mail.office.test"}

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.jmap}/.well-known/jmap"

    def add(self, address: str) -> None:
        """A mailbox of this address. Its first sign-in makes the folders."""
        self.set_password(address)
        with self.client(address):
            pass

    def set_password(self, address: str, password: str = PASSWORD) -> None:
        assert UNPACKED is not None
        name, domain = address.split("@")
        subprocess.run(
            [
                *(UNPACKED / "usr/sbin/saslpasswd2", "-p", "-c"),
                *("-f", self.folder / "sasldb", "-u", domain, name),
            ],
            input=password.encode(),
            env=_environment(),
            check=True,
            capture_output=True,
        )


@contextlib.contextmanager
def running_cyrus() -> Iterator[CyrusWorld]:
    """Serves until the block ends. The certificate is trusted meanwhile."""
    # Not below pytest's folders: those are for root alone, and the server keeps mail as nobody.
    with (
        tempfile.TemporaryDirectory(prefix="remit-cyrus-", ignore_cleanup_errors=True) as name,
        _served(Path(name)) as world,
    ):
        yield world


@contextlib.contextmanager
def served_contacts(world: CyrusWorld, user: str) -> Iterator[CalendarServer]:
    """The address books of one user there, as a server of its own."""
    world.add(user)
    origin = f"https://127.0.0.1:{world.jmap}"
    trusted = world.folder / "ca.pem"
    context = ssl.create_default_context(cafile=str(trusted))
    with httpx.Client(
        base_url=origin, auth=(user, PASSWORD), verify=context, timeout=SECONDS
    ) as client:
        yield CalendarServer(
            name="cyrus",
            user=user,
            host="jmap.office.test",
            origin=origin,
            calendar=f"/dav/addressbooks/user/{user}/Default/",
            trusted=trusted,
            client=client,
            sink=world.sink,
        )


@contextlib.contextmanager
def _served(folder: Path) -> Iterator[CyrusWorld]:
    assert UNPACKED is not None, "mark the test `needs_cyrus`"
    made = ("db", "lock", "log", "msg", "proc", "quota", "sieve", "socket", "user")
    for name in ("spool", "tmp", "sieve", *(f"conf/{one}" for one in made)):
        (folder / name).mkdir(parents=True)
    certificate(folder, "jmap.office.test")
    sink = Sink()
    controller = Controller(sink, hostname="127.0.0.1", port=free_port())
    controller.start()
    ports = {name: free_port() for name in ("imap", "jmap", "lmtp")}
    user = "nobody" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
    settings = SETTINGS.format(
        folder=folder,
        user=user,
        folders=" | ".join(FOLDERS),
        roles="\n".join(f"xlist-{one.lower()}: {one}" for one in FOLDERS),
        sink=controller.port,
    )
    (folder / "imapd.conf").write_text(settings)
    programs = UNPACKED / "usr/lib/cyrus/bin"
    (folder / "cyrus.conf").write_text(SERVICES.format(folder=folder, bin=programs, **ports))
    world = CyrusWorld(folder=folder, sink=sink, smtp=0, **ports)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SSL_CERT_FILE", str(folder / "ca.pem"))
        world.set_password(f"nobody@{DOMAIN}")  # makes the file
        if os.getuid() == 0:
            shutil.chown(folder, "nobody")
            for each in folder.rglob("*"):
                shutil.chown(each, "nobody")
        config = [*("-C", folder / "imapd.conf"), *("-M", folder / "cyrus.conf")]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(
                [str(one) for one in (programs / "master", *config, "-p", folder / "pid", "-D")],
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,  # it ends its whole group when it ends
            )
        try:
            await_port("Cyrus", server, folder / "log", ports["jmap"])
            yield world
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=SECONDS)
            controller.stop()


def _environment() -> dict[str, str]:
    assert UNPACKED is not None
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(str(UNPACKED / one) for one in LIBRARIES)}
