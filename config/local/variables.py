"""Settings out of the environment: what is no value of its kind stops the start with a sentence.

The library of the same purpose reads “HTTPS=yse” as off, takes “nan” for a time-out and answers a
missing “=” with a traceback. What is set to nothing is not set, as compose files have it.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

WORDS = {
    **dict.fromkeys(("true", "1", "yes", "on", "y", "ok", "t"), True),
    **dict.fromkeys(("false", "0", "no", "off", "n", "f"), False),
}


@dataclass(frozen=True)
class Networks(Collection[str]):
    """Addresses and whole networks of them, each as text, as is an address that is in them."""

    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    def __contains__(self, address: object) -> bool:
        try:
            found = ip_address(str(address))
        except ValueError:
            return False  # a socket file has none
        return any(found in network for network in self.networks)

    def __iter__(self) -> Iterator[str]:
        return map(str, self.networks)

    def __len__(self) -> int:
        return len(self.networks)


class Variables(environ.Env):  # type: ignore[misc]  # django-environ has no types
    """The library's, with every number, switch and table held to what it says it is. Each method
    raises ImproperlyConfigured with a sentence that names the variable, never a secret in it."""

    def int(self, var: str, default: Any = environ.Env.NOTSET) -> Any:
        return read(self._text(var), var, default, int, "a whole number from 0, such as 5")

    def float(self, var: str, default: Any = environ.Env.NOTSET) -> Any:
        return read(self._text(var), var, default, float, "a number from 0, such as 2.5")

    def decimal(self, var: str, default: Decimal) -> Any:
        return read(self._text(var), var, default, Decimal, "an amount from 0, such as 2.00")

    def bool(self, var: str, default: Any = environ.Env.NOTSET) -> Any:
        return read(
            self._text(var), var, default, lambda text: WORDS[text.lower()], "“true” or “false”"
        )

    def dict(self, var: str, *args: Any, default: Any = environ.Env.NOTSET) -> Any:
        return read(
            self._text(var), var, default, pairs, "name=value, with commas between", is_secret=True
        )

    def addresses(self, var: str, default: Any) -> Any:
        """A table whose values are web addresses."""
        wanted = "name=https://…, with commas between"
        return read(self._text(var), var, default, web_addresses, wanted, is_secret=True)

    def networks(self, var: str) -> Any:
        wanted = "addresses or networks, such as 10.1.2.3 or 10.244.0.0/16, with commas between"
        return read(self._text(var), var, Networks(), networks, wanted)

    def choice(self, var: str, default: str, choices: Mapping[str, Any]) -> Any:
        if (text := self.str(var, default="") or default) not in choices:
            raise ImproperlyConfigured(f"{var} is “{text}”. It is one of {', '.join(choices)}.")
        return text

    def address(self, var: str, *schemes: str) -> Any:
        """An address of one of these schemes; "" where there is none."""
        text: str = self.str(var, default="")
        if text and urlsplit(text).scheme not in schemes:
            begins = " or ".join(f"{scheme}://" for scheme in schemes)
            raise ImproperlyConfigured(f"{var} is no address that begins with {begins}")
        return text

    def _text(self, var: str) -> Any:
        return self.str(var, default="").strip()


def read(
    text: str,
    var: str,
    default: Any,
    kind: Callable[[str], Any],
    wanted: str,
    *,
    is_secret: bool = False,
) -> Any:
    """`text` as its kind; the default for none. Raises ImproperlyConfigured for what is no finite
    value from 0 of that kind, and says what is `wanted`."""
    if not text and default is not environ.Env.NOTSET:
        return default
    try:
        found = kind(text)
        is_sound = not isinstance(found, int | float | Decimal) or 0 <= found < math.inf
    except (ValueError, KeyError, InvalidOperation):
        is_sound = False
    if not is_sound:
        quoted = "" if is_secret else f" is “{text[:40]}”. It"
        raise ImproperlyConfigured(f"{var}{quoted} must be {wanted}.")
    return found


def pairs(text: str) -> dict[str, str]:
    """“a=1,b=2” as a table. Raises ValueError for a part without a name or a “=”, and for a name
    that comes twice."""
    found: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = part.partition("=")
        if not (name and equals) or name in found:
            raise ValueError(part)
        found[name] = value
    return found


def networks(text: str) -> Networks:
    """Raises ValueError for a part that is no address and no network, and for everybody's."""
    parts = filter(None, (part.strip() for part in text.split(",")))
    found = tuple(ip_network(part) for part in parts)
    if not all(one.prefixlen for one in found):
        raise ValueError(text)
    return Networks(found)


def web_addresses(text: str) -> dict[str, str]:
    """The same of addresses of the web. Raises ValueError for another."""
    found = pairs(text)
    for address in found.values():
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(address)
    return found
