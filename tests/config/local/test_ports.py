import secrets
import socket

import pytest

from config.local import ports


def test_picked_ports_are_free() -> None:
    port = ports.pick()

    assert ports.is_free(port)
    with socket.create_server(("127.0.0.1", port)):
        assert not ports.is_free(port)
        assert ports.answers(port)
    assert not ports.answers(port)


def test_no_port_is_picked_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    offered = iter([7001, 7001, 7002])
    monkeypatch.setattr(secrets, "randbelow", lambda _: next(offered))
    monkeypatch.setattr(ports, "is_free", lambda _: True)

    assert [ports.pick(), ports.pick()] == [27001, 27002]
