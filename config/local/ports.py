"""TCP ports on 127.0.0.1."""

import secrets
import socket

_picked: set[int] = set()


def is_free(port: int) -> bool:
    """Whether a server could listen on this port now."""
    with socket.socket() as probe:
        # As servers do: else the closing connections of the last one count as in use.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def pick() -> int:
    """A free port, below the range that systems lend to outgoing connections; another one each
    time, because one that was picked stays free until a server listens on it."""
    while (port := 20_000 + secrets.randbelow(10_000)) in _picked or not is_free(port):
        pass
    _picked.add(port)
    return port


def answers(port: int) -> bool:
    """Whether a server listens on this port now."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
