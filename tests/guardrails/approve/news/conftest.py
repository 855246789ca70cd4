"""A receiver of webhooks, and recipients whose addresses are sealed."""

import base64
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from pytest_django.fixtures import Settings

from config.local import secrets as local_secrets
from integrations.network import web_push


@dataclass
class Receiver:
    """A real HTTP server that keeps what arrives and answers as it is set: JSON read, and what is
    encrypted as its bytes."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    taken: list[Any] = field(default_factory=list)
    heads: list[dict[str, str]] = field(default_factory=list)
    url: str = ""
    hangs_up: bool = False


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    settings.OUTGOING_TO_PRIVATE = True
    here = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            is_json = self.headers["Content-Type"] == "application/json"
            here.taken.append(json.loads(body) if is_json else body)
            here.heads.append({name.lower(): text for name, text in self.headers.items()})
            if here.hangs_up:
                self.close_connection = True
                return
            self.send_response(here.status)
            for name, text in here.headers.items():
                self.send_header(name, text)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    here.url = f"http://127.0.0.1:{server.server_port}/services/T0/B0/secret"
    yield here
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def installation(settings: Settings) -> None:
    raw = X25519PrivateKey.generate().private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
    settings.CREDENTIALS_PRIVATE_KEY = base64.b64encode(raw).decode()
    settings.CREDENTIALS_PUBLIC_KEY = local_secrets.public_half(settings.CREDENTIALS_PRIVATE_KEY)
    settings.VAPID_PUBLIC_KEY, settings.VAPID_PRIVATE_KEY = web_push.make_keys()
    settings.EMAIL_URL = "smtp://mail.company.com"
    settings.PUBLIC_URL = "https://remit.company.com"
