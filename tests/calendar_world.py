"""Real calendar servers for tests (Radicale and Xandikos), over TLS on loopback. Where one is not
installed the tests that need it say so.

    with running_calendar_server("radicale") as server:
        server.put("plan", event("Plan"))

Each has one user, `USER`, with one calendar. They are other people's programs under the GPL:
started as processes of their own, never imported.
"""

import base64
import contextlib
import hashlib
import importlib.util
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from aiosmtpd.controller import Controller

from tests.imap_server import certificate
from tests.mail_world import Sink
from tests.ports import free_port

USER, ADDRESS, PASSWORD = "nora", "nora@office.test", "open-sesame"
UID = "uid@office.test"
SECONDS = 30.0
NAMES = ("radicale", "xandikos")

RADICALE = """
[server]
hosts = 127.0.0.1:{port}
ssl = True
certificate = {folder}/ca.pem
key = {folder}/server.pem
[auth]
type = htpasswd
htpasswd_filename = {folder}/users
htpasswd_encryption = plain
delay = 0
[storage]
filesystem_folder = {folder}/data
[logging]
level = warning
"""
PLAIN_CALENDAR = """<c:mkcalendar xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><d:set>
<d:prop><d:displayname>Work</d:displayname></d:prop></d:set></c:mkcalendar>"""


def missing(name: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        importlib.util.find_spec(name) is None,
        reason=f"No {name} found, so the tests of real calendars did not run on it. "
        "`make dev` installs it.",
    )


def servers() -> list[object]:
    """A parameter for each, skipped with a sentence where it is not installed."""
    return [pytest.param(name, marks=missing(name)) for name in NAMES]


@dataclass(frozen=True, kw_only=True)
class CalendarServer:
    """A running one, and its user's own calendar program."""

    name: str
    origin: str
    calendar: str  # the path of the first
    trusted: Path  # the certificate, for SSL_CERT_FILE
    client: httpx.Client
    sink: Sink  # where the mails come out that it sends itself
    user: str = USER
    host: str = "dav.office.test"  # in its certificate

    def put(self, name: str, content: str, *, calendar: str = "") -> str:
        """Save a resource, as the user's own program does; its version."""
        answer = self.client.put(
            f"{calendar or self.calendar}{name}.ics",
            content=content.replace(UID, f"{name}@office.test").encode(),
            headers={"Content-Type": "text/calendar; charset=utf-8"},
        )
        assert answer.status_code in (201, 204), answer.text
        return str(self.client.get(f"{calendar or self.calendar}{name}.ics").headers["etag"])

    def delete(self, name: str) -> None:
        assert self.client.delete(f"{self.calendar}{name}.ics").status_code in (200, 204)

    def make_calendar(self, name: str) -> str:
        """A further calendar; its path."""
        path = self.make_path(name)
        answer = self.client.request("MKCALENDAR", path, content=PLAIN_CALENDAR)
        assert answer.status_code == 201, answer.text
        return path

    def make_path(self, calendar: str) -> str:
        return f"{self.calendar.rstrip('/').rpartition('/')[0]}/{calendar}/"

    def held(self) -> dict[str, str]:
        """What the server holds: the text of each resource by path, unfolded."""
        found = {}
        for path in self._paths():
            text = self.client.get(path).text
            found[path] = re.sub(r"\r?\n[ \t]", "", text).replace("\r\n", "\n")
        return found

    def titles(self) -> list[str]:
        lines = (line for text in self.held().values() for line in text.split("\n"))
        return sorted(line[8:] for line in lines if line.startswith("SUMMARY:"))

    def clear(self) -> None:
        """As it was at first, and what is sent meanwhile is forgotten."""
        for path in self._paths():
            self.client.delete(path)
        for path in self._calendars():
            if path != self.calendar:
                self.client.delete(path)
        self.sink.taken.clear()

    def _calendars(self) -> list[str]:
        home = f"{self.calendar.rstrip('/').rpartition('/')[0]}/"
        answer = self.client.request("PROPFIND", home, headers={"Depth": "1"})
        paths = re.findall(r"href>([^<]+)</", answer.text)
        return [
            path for path in paths if path != home and path.startswith(home) and "ics" not in path
        ]

    def _paths(self) -> list[str]:
        found = []
        for calendar in self._calendars():
            answer = self.client.request("PROPFIND", calendar, headers={"Depth": "1"})
            found += re.findall(r"href>([^<]+\.ics)</", answer.text)
        return sorted(set(found))


def event(title: str, *more: str, start: str = "20260309T100000Z") -> str:
    """A calendar with one event of an hour, as a program saves it. Its UID follows the name that
    it is saved under."""
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Somebody//Calendar//EN",
        "BEGIN:VEVENT",
        f"UID:{UID}",
        "DTSTAMP:20260301T090000Z",
        f"DTSTART:{start}",
        "DURATION:PT1H",
        f"SUMMARY:{title}",
        *more,
        "END:VEVENT",
        "END:VCALENDAR",
        "",
    ]
    return "\r\n".join(lines)


@contextlib.contextmanager
def running_calendar_server(name: str) -> Iterator[CalendarServer]:
    """Serves until the block ends."""
    with (
        tempfile.TemporaryDirectory(prefix="remit-dav-", ignore_cleanup_errors=True) as folder,
        _served(Path(folder), name) as server,
    ):
        yield server


@contextlib.contextmanager
def _served(folder: Path, name: str) -> Iterator[CalendarServer]:
    # Xandikos makes one of its own where less is left.
    certificate(folder, "dav.office.test", days=60)
    port, sink = free_port(), Sink()
    controller = Controller(sink, hostname="127.0.0.1", port=free_port())
    controller.start()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            _command(folder, name, port, mail=controller.port),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "EMAIL": ADDRESS},
        )
    calendars = {"radicale": f"/{USER}/work/", "xandikos": f"/{USER}/calendars/calendar/"}
    context = ssl.create_default_context(cafile=str(folder / "ca.pem"))
    origin = f"https://127.0.0.1:{port}"
    with httpx.Client(
        base_url=origin, auth=(USER, PASSWORD), verify=context, timeout=SECONDS
    ) as client:
        try:
            _await(process, folder, port)
            server = CalendarServer(
                name=name,
                origin=origin,
                calendar=calendars[name],
                trusted=folder / "ca.pem",
                client=client,
                sink=sink,
            )
            if name == "radicale":
                server.make_calendar("work")
            yield server
        finally:
            process.terminate()
            process.wait(timeout=SECONDS)
            controller.stop()


def _command(folder: Path, name: str, port: int, *, mail: int) -> list[str]:
    if name == "radicale":
        (folder / "users").write_text(f"{USER}:{PASSWORD}\n")
        (folder / "conf").write_text(RADICALE.format(folder=folder, port=port))
        return [sys.executable, "-m", "radicale", "--config", str(folder / "conf")]
    digest = base64.b64encode(hashlib.sha1(PASSWORD.encode()).digest()).decode()
    (folder / "users").write_text(f"{USER}:{{SHA}}{digest}\n")
    certs = folder / "state" / "certs"
    certs.mkdir(parents=True)
    (certs / "selfsigned.crt").write_bytes((folder / "ca.pem").read_bytes())
    (certs / "selfsigned.key").write_bytes((folder / "server.pem").read_bytes())
    return [
        *(sys.executable, "-m", "xandikos", "serve", "--defaults", "--autocert"),
        *("--directory", str(folder / "data"), "--state-dir", str(folder / "state")),
        *("--current-user-principal", f"/{USER}/", "--htpasswd", str(folder / "users")),
        *("--listen-address", "127.0.0.1", "--port", str(port)),
        *("--imip-send", "smtp", "--smtp-host", "127.0.0.1", "--smtp-port", str(mail)),
        *("--smtp-encryption", "none", "--smtp-from", "calendar@office.test"),
    ]


def _await(server: "subprocess.Popen[bytes]", folder: Path, port: int) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            break
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.02)
    raise RuntimeError(f"The calendar server did not start: {(folder / 'log').read_text()}")
