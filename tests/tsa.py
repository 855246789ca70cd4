"""A time stamping authority over HTTP on loopback, made with openssl."""

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

CONFIG = """
[tsa]
default_tsa = one
[one]
serial = {folder}/serial
signer_cert = {folder}/tsa.pem
signer_key = {folder}/tsa.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
ordering = yes
ess_cert_id_chain = no
ess_cert_id_alg = sha256
[extensions]
keyUsage = critical, digitalSignature
extendedKeyUsage = critical, timeStamping
"""


@dataclass
class Authority:
    """`answer` replaces the answers' bodies, `status` their status."""

    folder: Path
    url: str = ""
    status: int = 200
    answer: bytes | None = None
    asked: list[bytes] = field(default_factory=list)

    @property
    def certificates(self) -> Path:
        return self.folder / "ca.pem"

    def make(self) -> None:
        (self.folder / "tsa.cnf").write_text(CONFIG.format(folder=self.folder))
        (self.folder / "serial").write_text("01\n")
        key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")  # made at once
        ca = ("-x509", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Root", "-days", "9")
        self.openssl("req", *key, *ca)
        self.openssl("req", *key, "-keyout", "tsa.key", "-out", "tsa.csr", "-subj", "/CN=Stamps")
        signed = ("-in", "tsa.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial")
        extended = ("-extfile", "tsa.cnf", "-extensions", "extensions", "-days", "8")
        self.openssl("x509", "-req", *signed, *extended, "-out", "tsa.pem")

    def openssl(self, *arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=self.folder, capture_output=True, check=True)

    def reply(self, query: bytes) -> bytes:
        self.asked.append(query)
        if self.answer is not None:
            return self.answer
        (self.folder / "query.tsq").write_bytes(query)
        self.openssl(
            "ts", "-reply", "-config", "tsa.cnf", "-queryfile", "query.tsq", "-out", "reply.tsr"
        )
        return (self.folder / "reply.tsr").read_bytes()


@contextmanager
def running_authority(folder: Path) -> Iterator[Authority]:
    folder.mkdir()
    authority = Authority(folder)
    authority.make()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = authority.reply(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(authority.status)
            self.send_header("Content-Type", "application/timestamp-reply")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    authority.url = f"http://127.0.0.1:{server.server_port}/tsr"
    try:
        yield authority
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
