"""A server on loopback that says what a test wrote down, byte for byte, and keeps what it heard."""

import socket
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Flood:
    """An answer that begins so and goes on with the same without end."""

    beginning: bytes
    more: bytes


# An answer to a request; or the connection is closed instead of one, cut off or left as it is; or
# closed before a request.
Step = bytes | Flood | Literal["close", "reset", "stall", "close at once"]


@dataclass
class RawServer:
    port: int
    heard: list[bytes] = field(default_factory=list)
    connections: int = 0
    hung_up: threading.Event = field(default_factory=threading.Event)
    _ended: threading.Event = field(default_factory=threading.Event)
    _reached: list[socket.socket] = field(default_factory=list)
    _threads: list[threading.Thread] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def accept(self, listening: socket.socket, connections: Sequence[Sequence[Step]]) -> None:
        for steps in connections:
            reached, _ = listening.accept()
            self._reached.append(reached)
            if self._ended.is_set():
                return
            self.connections += 1
            self._threads.append(threading.Thread(target=self._serve, args=(reached, steps)))
            self._threads[-1].start()

    def _serve(self, reached: socket.socket, steps: Sequence[Step]) -> None:
        with reached, suppress(OSError):
            for step in steps:
                if step == "close at once":
                    return
                self.heard.append(read_request(reached))
                if step == "reset":
                    reached.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER)
                if step in ("close", "reset"):
                    return
                if isinstance(step, bytes):
                    reached.sendall(step)
                elif isinstance(step, Flood):
                    reached.sendall(step.beginning)
                    while not self._ended.is_set():
                        reached.sendall(step.more)
                else:
                    self._ended.wait()
            if not reached.recv(1) and not self._ended.is_set():
                self.hung_up.set()

    def end(self, accepting: threading.Thread) -> None:
        self._ended.set()
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        accepting.join()
        for reached in self._reached:
            with suppress(OSError):
                reached.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for reached in self._reached:
            reached.close()


def ok(body: bytes = b"{}", *lines: bytes) -> bytes:
    length = b"Content-Length: %d" % len(body)
    return b"\r\n".join([b"HTTP/1.1 200 OK", length, *lines, b"", body])


@contextmanager
def saying(*connections: Sequence[Step]) -> Iterator[RawServer]:
    """Each connection goes through its steps, one for each request."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = RawServer(listening.getsockname()[1])
        accepting = threading.Thread(target=server.accept, args=(listening, connections))
        accepting.start()
        try:
            yield server
        finally:
            server.end(accepting)


LINGER = struct.pack("ii", 1, 0)


def read_request(reached: socket.socket) -> bytes:
    heard = b""
    while b"\r\n\r\n" not in heard:
        heard += _more(reached)
    head, _, body = heard.partition(b"\r\n\r\n")
    length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
    while len(body) < int(length or b"0"):
        body += _more(reached)
    return head + b"\r\n\r\n" + body


def _more(reached: socket.socket) -> bytes:
    read = reached.recv(65_536)
    if not read:
        raise ConnectionError
    return read
