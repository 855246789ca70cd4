"""A DNS server on loopback that says what a test has it say, and the system's resolver of the
test."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dns.message
import dns.rdatatype
import dns.rrset
import pytest

from integrations.network import services

HUGE = 65_000  # bytes; more is no datagram


@dataclass
class Dns:
    """`records` by name and kind, as in a zone file. `raw` answers in their place: None is silence.
    `asked` is what was asked for."""

    records: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    raw: Callable[[dns.message.Message], bytes | None] | None = None
    asked: list[tuple[str, str]] = field(default_factory=list)

    def srv(self, name: str, *records: str) -> None:
        self.records[f"{name}.", "SRV"] = records

    def answer(self, data: bytes) -> bytes | None:
        query = dns.message.from_wire(data)
        (question,) = query.question
        name, kind = question.name.to_text(), dns.rdatatype.to_text(question.rdtype)
        self.asked.append((name, kind))
        if self.raw is not None:
            return self.raw(query)
        said = dns.message.make_response(query)
        for found in {kind, "CNAME"}:
            if texts := self.records.get((name, found)):
                said.answer.append(dns.rrset.from_text(name, 60, "IN", found, *texts))
        return said.to_wire(max_size=HUGE)


@contextmanager
def running_dns(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[Dns]:
    """Answers until the block ends."""
    world = Dns()
    (folder / "resolv.conf").write_text("search elsewhere.test\nnameserver 127.0.0.1\n")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        monkeypatch.setattr(services, "RESOLV_CONF", str(folder / "resolv.conf"))
        monkeypatch.setattr(services, "PORT", server.getsockname()[1])
        thread = threading.Thread(target=_serve, args=(server, world))
        thread.start()
        try:
            yield world
        finally:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
                last.sendto(b"", server.getsockname())
            thread.join()


def resolve(monkeypatch: pytest.MonkeyPatch, addresses: dict[str, str]) -> None:
    """The names of this test; no other name has an address."""
    really = socket.getaddrinfo

    def getaddrinfo(host: str | bytes, port: Any, *given: Any, **named: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name.endswith(".test") and name not in addresses:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return really(addresses.get(name, name), port, *given, **named)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


def _serve(server: socket.socket, world: Dns) -> None:
    """Until an empty datagram comes."""
    while True:
        data, who = server.recvfrom(HUGE)
        if not data:
            return
        if (said := world.answer(data)) is not None:
            server.sendto(said, who)
