"""The socket that the sandbox serves."""

import socket

from sandbox.data_service.settings import SettingsError


def listening_on(port: int) -> socket.socket:
    """A listening socket on this port of 127.0.0.1 (0: any free one). Raises SettingsError
    when the port is taken."""
    # asyncio turns Nagle's delay (40 ms a request) off only for a socket that says it is TCP.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        listener.close()
        raise SettingsError(
            f"Port {port} of 127.0.0.1 cannot be used ({error.strerror})."
            " Set SANDBOX_PORT to another one."
        ) from error
    listener.listen()
    return listener
