"""Ports for servers that tests start in processes of their own."""

import contextlib
import secrets
import socket

# Below those that the system gives to clients, which else take one before its server does.
PORTS = range(20_000, 32_000)
_given: set[int] = set()


def free_port() -> int:
    """A port of 127.0.0.1 where nobody listens now, given once in this process."""
    while True:
        port = secrets.choice(PORTS)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            if port not in _given:
                _given.add(port)
                return port
