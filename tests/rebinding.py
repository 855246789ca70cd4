"""A name that leads outside when it is looked at, and inside whenever it is asked again.

Two servers with one certificate: `outside` at 127.0.0.2, which stands for the internet, and
`inside` at 127.0.0.1. Each keeps what it was asked; a redirect can be its answer.
"""

import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from integrations.network import outgoing
from tests.imap_server import certificate

NAME, OUTSIDE, INSIDE = "hooks.example.com", "127.0.0.2", "127.0.0.1"


@dataclass
class World:
    """`port` of both servers; the hosts and paths that each was asked for; how often the name was
    looked up; where `outside` sends who asks, if anywhere; and what trusts the certificate."""

    port: int = 0
    outside: list[str] = field(default_factory=list)
    inside: list[str] = field(default_factory=list)
    looked_up: int = 0
    redirect: str = ""
    trust: Path = Path()

    @property
    def url(self) -> str:
        return f"https://{NAME}:{self.port}/hook"


@contextmanager
def rebinding(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[World]:
    """Until the block ends 127.0.0.2 counts as public, and NAME leads there once."""
    world = World()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate(folder, NAME))
    world.trust = folder / "ca.pem"
    with ExitStack() as both:
        world.port = _free_at_both()
        both.enter_context(_serving(world, context, OUTSIDE, world.port, world.outside))
        both.enter_context(_serving(world, context, INSIDE, world.port, world.inside))
        really, is_public = socket.getaddrinfo, outgoing.is_public

        def getaddrinfo(host: str | bytes, port: Any, *given: Any, **named: Any) -> Any:
            if host in (NAME, NAME.encode()):
                world.looked_up += 1
                host = OUTSIDE if world.looked_up == 1 else INSIDE
            return really(host, port, *given, **named)

        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
        outside = ipaddress.ip_address(OUTSIDE)
        monkeypatch.setattr(
            outgoing, "is_public", lambda address: address == outside or is_public(address)
        )
        yield world


def _free_at_both() -> int:
    """A port that nobody has at either address: at 0.0.0.0 the system looks at all of them."""
    with socket.create_server(("0.0.0.0", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def _serving(
    world: World, context: ssl.SSLContext, address: str, port: int, asked: list[str]
) -> Iterator[int]:
    class Answer(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked.append(f"{self.headers['Host']}{self.path}")
            self.send_response(307 if world.redirect else 200)
            if world.redirect:
                self.send_header("Location", world.redirect)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def do_GET(self) -> None:
            self.do_POST()

        def do_DELETE(self) -> None:
            self.do_POST()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer((address, port), Answer) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def answering(folder: Path, answer: bytes) -> Iterator[int]:
    """The port of a web server on loopback that says this to every GET. `folder` gets `ca.pem`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate(folder))

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()
