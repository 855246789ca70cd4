"""A real server of files (WsgiDAV) for tests, over TLS on loopback. Where none is installed the
tests that need it say so.

    with running_files() as server:
        server.put("Clients/Acme.txt", "One")

It has one user, `USER`, who starts with an empty folder.
"""

import contextlib
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.imap_server import certificate
from tests.mail_world import SECONDS, await_port
from tests.ports import free_port

USER, ADDRESS, PASSWORD = "nora", "nora@office.test", "open-sesame"
needs_files = pytest.mark.skipif(
    importlib.util.find_spec("wsgidav") is None,
    reason="No WsgiDAV found, so the tests of real files did not run. `make dev` installs it.",
)


@dataclass(frozen=True, kw_only=True)
class FileServer:
    """What it serves is a folder on this machine: its user's own."""

    origin: str
    folder: Path
    trusted: Path  # the certificate, for SSL_CERT_FILE

    def put(self, name: str, text: str | bytes) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def held(self) -> dict[str, str]:
        """The text of every file."""
        found = (one for one in sorted(self.folder.rglob("*")) if one.is_file())
        return {str(one.relative_to(self.folder)): one.read_text() for one in found}

    def clear(self) -> None:
        for one in self.folder.iterdir():
            shutil.rmtree(one) if one.is_dir() else one.unlink()


@contextlib.contextmanager
def running_files() -> Iterator[FileServer]:
    """Serves until the block ends."""
    with tempfile.TemporaryDirectory(prefix="remit-files-") as name:
        folder, port = Path(name), free_port()
        certificate(folder)
        (folder / "files").mkdir()
        settings = {
            "host": "127.0.0.1",
            "port": port,
            "server": "cheroot",
            "provider_mapping": {"/": str(folder / "files")},
            "http_authenticator": {"accept_basic": True, "accept_digest": False},
            "simple_dc": {"user_mapping": {"*": {USER: {"password": PASSWORD}}}},
            "ssl_certificate": str(folder / "ca.pem"),
            "ssl_private_key": str(folder / "server.pem"),
            "ssl_certificate_chain": None,
            "property_manager": True,
            "lock_storage": True,
            "verbose": 1,
        }
        (folder / "conf.json").write_text(json.dumps(settings))
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(
                [sys.executable, "-m", "wsgidav.server.server_cli", "-c", folder / "conf.json"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            await_port("WsgiDAV", server, folder / "log", port)
            yield FileServer(
                origin=f"https://127.0.0.1:{port}/",
                folder=folder / "files",
                trusted=folder / "ca.pem",
            )
        finally:
            server.terminate()
            server.wait(timeout=SECONDS)
