"""A server that is no web address: as somebody names it."""

from dataclasses import dataclass
from typing import Literal

Security = Literal["tls", "starttls"]
STARTTLS_PORTS = frozenset({25, 143, 587, 2525})


@dataclass(frozen=True, kw_only=True)
class Server:
    """Every connection is encrypted: from the start (`tls`) or before anything is said."""

    host: str
    port: int
    security: Security = "tls"


def read_server(text: str, *, usual_port: int, security: Security | None = None) -> Server:
    """From HOST or HOST:PORT; None: encrypted as is usual at that port. Raises ValueError with a
    sentence."""
    host, _, number = text.strip().partition(":")
    is_port = number.isascii() and number.isdecimal() and 0 < int(number[:6]) < 65536
    if number and not is_port:
        raise ValueError(f"“{number}” is no port.")
    if not host:
        raise ValueError("Name the server.")
    port = int(number or usual_port)
    usual: Security = "starttls" if port in STARTTLS_PORTS else "tls"
    return Server(host=host, port=port, security=security or usual)
