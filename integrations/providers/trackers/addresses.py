"""The address of a tracker as somebody types it. Pure."""

from typing import NamedTuple
from urllib.parse import urlsplit

from integrations.exceptions import Rejected


class Address(NamedTuple):
    """`place` is the host with its port, if it has one of its own."""

    host: str
    place: str
    path: str


def read_address(text: str, *, otherwise: str) -> Address:
    """From a host or an https address. Raises Rejected with the sentence `otherwise`."""
    url = text.strip()
    parts = urlsplit(url if "://" in url else f"https://{url}")
    try:
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        host, port = "", None
    if not host or parts.scheme != "https":
        raise Rejected(otherwise)
    return Address(host=host, place=f"{host}{f':{port}' if port else ''}", path=parts.path)
