"""Settings out of the environment: what is no value of its kind stops the start with a sentence.

The library of the same purpose reads “HTTPS=yse” as off, takes “nan” for a time-out and answers a
missing “=” with a traceback. What is set to nothing is not set, as compose files have it.
"""

import math
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

WORDS = {
    **dict.fromkeys(("true", "1", "yes", "on", "y", "ok", "t"), True),
    **dict.fromkeys(("false", "0", "no", "off", "n", "f"), False),
}


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


def web_addresses(text: str) -> dict[str, str]:
    """The same of addresses of the web. Raises ValueError for another."""
    found = pairs(text)
    for address in found.values():
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(address)
    return found
