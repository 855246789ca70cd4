"""A real Request Tracker for tests, over TLS on loopback: the tickets of one queue, `QUEUE`, with
the custom field Labels. Where none is installed the tests that need it say so.

    with running_rt() as rt:
        rt.put("A ticket")

Its database, settings and caches lie in a folder of its own. RT itself speaks plain HTTP here; a
pump in front of it ends TLS, as a web server does everywhere else.
"""

import asyncio
import contextlib
import os
import re
import shutil
import ssl
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.imap_server import certificate
from tests.mail_world import await_port
from tests.ports import free_port

LOGIN, ADDRESS, QUEUE = "nora", "nora@office.test", "General"
OTHER, OTHERS_ADDRESS = "tom", "tom@office.test"
SERVER = Path("/usr/share/request-tracker5/libexec/standalone_httpd")
SET_UP = "rt-setup-database-5"
needs_rt = pytest.mark.skipif(
    not SERVER.exists() or shutil.which(SET_UP) is None,
    reason="No Request Tracker 5 found, so the tests of real tickets did not run. Install "
    "request-tracker5, rt5-db-sqlite and rt5-standalone.",
)
SETTINGS = """
Set($rtname, 'office.test');
Set($Organization, 'office.test');
Set($DatabaseType, 'SQLite');
Set($DatabaseName, '{folder}/rt.db');
Set($WebDomain, 'localhost');
Set($WebPort, {port});
Set($WebPath, '');
Set($LogToSyslog, undef);
Set($LogToSTDERR, 'error');
Set($MailCommand, 'testfile');
Set($Timezone, 'UTC');
1;
"""
PEOPLE = f"""
use lib '/usr/share/request-tracker5/lib';
use RT; RT::LoadConfig(); RT::Init();
my $system = RT->SystemUser;
my $queue = RT::Queue->new($system); $queue->Load('{QUEUE}');
my $labels = RT::CustomField->new($system);
$labels->Create(Name => 'Labels', Type => 'FreeformMultiple', MaxValues => 0,
    LookupType => 'RT::Queue-RT::Ticket');
$labels->AddToObject($queue);
my $privileged = RT::Group->new($system);
$privileged->LoadSystemInternalGroup('Privileged');
$privileged->PrincipalObj->GrantRight(Right => $_, Object => $queue)
    for qw(SeeQueue ShowTicket ShowTicketComments CreateTicket CommentOnTicket ModifyTicket
        OwnTicket DeleteTicket SeeCustomField ModifyCustomField);
for (['{LOGIN}', '{ADDRESS}', 'Nora Berg'], ['{OTHER}', '{OTHERS_ADDRESS}', 'Tom Ek']) {{
    my $user = RT::User->new($system);
    $user->Create(Name => $_->[0], EmailAddress => $_->[1], RealName => $_->[2], Privileged => 1,
        Timezone => 'America/New_York');
    my $token = RT::AuthToken->new($system);
    my (undef, undef, $secret) = $token->Create(Owner => $user->Id, Description => 'Remit');
    print "TOKEN $_->[0] $secret\\n";
}}
"""


@dataclass(kw_only=True)
class Rt:
    """`tom` is another person, in their browser."""

    origin: str
    plain: str
    trusted: Path  # the certificate, for SSL_CERT_FILE
    tokens: dict[str, str]

    @property
    def token(self) -> str:
        return self.tokens[LOGIN]

    def ask(self, method: str, path: str, *, by: str = OTHER, **more: Any) -> Any:
        headers = {"Authorization": f"token {self.tokens[by]}"}
        answer = httpx.request(
            method, f"{self.plain}/REST/2.0{path}", headers=headers, timeout=60.0, **more
        )
        answer.raise_for_status()
        return answer.json()

    def put(self, title: str, body: str = "", **fields: Any) -> str:
        content = {"Content": body, "ContentType": "text/plain"}
        ticket = {"Queue": QUEUE, "Subject": title, **content, **fields}
        return str(self.ask("POST", "/ticket", json=ticket)["id"])

    def change(self, key: str, **fields: Any) -> None:
        self.ask("PUT", f"/ticket/{key}", json=fields)

    def comment(self, key: str, body: str) -> None:
        said = {"Content": body, "ContentType": "text/plain"}
        self.ask("POST", f"/ticket/{key}/comment", json=said)

    def tickets(self) -> dict[str, dict[str, Any]]:
        """Those that are not deleted."""
        params = {"query": "id > 0", "fields": "Subject,Status,Owner", "per_page": "100"}
        found = self.ask("GET", "/tickets", params=params)["items"]
        return {one["id"]: one for one in found}

    def clear(self) -> None:
        """RT forgets nothing, and lists no ticket that is deleted."""
        for key in self.tickets():
            self.change(key, Status="deleted")


@contextlib.contextmanager
def running_rt() -> Iterator[Rt]:
    """Serves until the block ends."""
    with tempfile.TemporaryDirectory(prefix="remit-rt-") as name:
        folder, port = Path(name), free_port()
        settings = folder / "RT_SiteConfig.pm"
        settings.write_text(SETTINGS.format(folder=folder, port=port))
        own = {"RT_SITE_CONFIG": str(settings), "RT_SITE_CONFIG_DIR": "/dev/null"}
        env = {**os.environ, **own, "TMPDIR": name}
        without = ("--skip-create", "--dba", "", "--dba-password", "")
        _run([SET_UP, "--action", "init", *without], env)
        tokens = dict(re.findall(r"TOKEN (\w+) (\S+)", _run(["perl", "-e", PEOPLE], env)))
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(
                [SERVER, "--host", "127.0.0.1", "--port", str(port)],
                env=env,
                stdout=log,
                stderr=log,
            )
        try:
            await_port("Request Tracker", server, folder / "log", port)
            with _tls(folder, port) as secure:
                yield Rt(
                    origin=f"https://127.0.0.1:{secure}",
                    plain=f"http://127.0.0.1:{port}",
                    trusted=folder / "ca.pem",
                    tokens=tokens,
                )
        finally:
            server.terminate()
            server.wait()


def _run(command: list[str], env: dict[str, str]) -> str:
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"Request Tracker was not set up: {done.stdout}{done.stderr}")
    return done.stdout


@contextlib.contextmanager
def _tls(folder: Path, behind: int) -> Iterator[int]:
    """The port where TLS ends in front of another one."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate(folder))
    loop = asyncio.new_event_loop()

    running: set[asyncio.Task[Any]] = set()

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner = await asyncio.open_connection("127.0.0.1", behind)
        for one in (pump(reader, inner[1]), pump(inner[0], writer)):
            task = loop.create_task(one)
            running.add(task)
            task.add_done_callback(running.discard)

    async def end() -> None:
        await asyncio.gather(*running, return_exceptions=True)

    server = loop.run_until_complete(asyncio.start_server(serve, "127.0.0.1", 0, ssl=context))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        server.close()
        for task in running:
            task.cancel()
        loop.run_until_complete(end())
        loop.close()
