"""Events of a JMAP server (RFC 8620, 7.3), before a real one: Debian builds its Cyrus without them.
Whatever else is asked, Cyrus answers.

    with running_pushes(cyrus) as pushes:
        pushes.say("maya@office.test", state("maya@office.test"))
"""

import contextlib
import json
import queue
import ssl
import threading
from base64 import b64decode
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import httpx

from tests.cyrus_world import CyrusWorld

PATH = "/jmap/eventsource/"
PASSED_ON = ("Authorization", "Content-Type", "Host", "Accept", "User-Agent")


@dataclass
class Pushes:
    """Who listens now, by name, and what everybody asked for who ever did."""

    port: int = 0
    status: int = 200
    listening: dict[str, list["queue.Queue[bytes | None]"]] = field(
        default_factory=lambda: defaultdict(list)
    )
    asked: list[dict[str, list[str]]] = field(default_factory=list)

    def say(self, who: str, said: bytes | None) -> None:
        """None hangs up."""
        for one in list(self.listening[who]):
            one.put(said)

    def say_all(self, said: bytes | None) -> None:
        for who in list(self.listening):
            self.say(who, said)


def state(who: str, at: str = "7") -> bytes:
    data = json.dumps({"@type": "StateChange", "changed": {who: {"Email": at}}})
    return f"event: state\r\ndata: {data}\r\n\r\n".encode()


class _Talk(BaseHTTPRequestHandler):
    """One request. `server` is a `_Server`."""

    server: "_Server"
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path.startswith(PATH):
            self._push()
        else:
            self._pass_on()

    def do_POST(self) -> None:
        self._pass_on()

    def _push(self) -> None:
        pushes = self.server.pushes
        pair = b64decode(self.headers["Authorization"].removeprefix("Basic ")).decode()
        who, own = pair.partition(":")[0], queue.Queue[bytes | None]()
        self.send_response(pushes.status)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        pushes.asked.append(parse_qs(urlsplit(self.path).query))
        if pushes.status != 200:
            return
        pushes.listening[who].append(own)
        try:
            while (said := own.get()) is not None:
                self.wfile.write(said)
        finally:
            pushes.listening[who].remove(own)

    def _pass_on(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        answer = self.server.cyrus.request(
            self.command,
            self.path,
            content=self.rfile.read(length),
            headers={name: self.headers[name] for name in PASSED_ON if name in self.headers},
        )
        self.send_response(answer.status_code)
        for name in ("Content-Type", "Location", "WWW-Authenticate"):
            if name in answer.headers:
                self.send_header(name, answer.headers[name])
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    def log_message(self, format: str, *args: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 200

    def __init__(self, pushes: Pushes, cyrus: httpx.Client) -> None:
        super().__init__(("127.0.0.1", 0), _Talk)
        self.pushes, self.cyrus = pushes, cyrus

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # who listens hangs up


@contextlib.contextmanager
def running_pushes(cyrus: CyrusWorld) -> Iterator[Pushes]:
    """Serves until the block ends, with the certificate of that Cyrus."""
    pushes, served = Pushes(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(cyrus.folder / "server.pem")
    trusted = ssl.create_default_context(cafile=str(cyrus.folder / "ca.pem"))
    site = f"https://127.0.0.1:{cyrus.jmap}"
    with (
        httpx.Client(base_url=site, verify=trusted, timeout=30) as client,
        _Server(pushes, client) as server,
    ):
        server.socket = served.wrap_socket(server.socket, server_side=True)
        pushes.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield pushes
        finally:
            pushes.say_all(None)
            server.shutdown()
            thread.join()
