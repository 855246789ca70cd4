"""What the child process does for `integrations.providers.carddav.cards`: takes cards apart
(RFC 6350, and RFC 2426 before it). Their lines have the form of a calendar's, so the library that
reads those reads them."""

import re

from icalendar.parser import Contentline, Contentlines
from pydantic import TypeAdapter

from integrations.child import serve
from integrations.mail.addresses import is_addr_spec

Found = list[tuple[str, list[str]]]
FOUND: TypeAdapter[Found] = TypeAdapter(Found)
MAX_ADDRESSES = 20  # of one person
MAX_NAME = 200
# Others, such as photos, are not looked at. A name may have a group before it (item1.EMAIL).
_WANTED = re.compile(
    r"(?:[A-Za-z0-9-]{1,60}\.)?(EMAIL|FN|KIND|X-ADDRESSBOOKSERVER-KIND|BEGIN)[:;]", re.IGNORECASE
)
_GROUPS = ("KIND", "X-ADDRESSBOOKSERVER-KIND")


def answer(contents: list[bytes]) -> bytes:
    """The name and the addresses of each; nothing of what names nobody."""
    return FOUND.dump_json([_read(one) for one in contents])


def _read(raw: bytes) -> tuple[str, list[str]]:
    try:
        values = _values(raw.decode("utf-8-sig"))
    except ValueError:
        return "", []
    if len(values["BEGIN"]) != 1 or any(
        value.lower() != "individual" for name in _GROUPS for value in values[name]
    ):
        return "", []
    addresses = dict.fromkeys(_address(one) for one in values["EMAIL"])
    addresses.pop("", None)
    if len(addresses) > MAX_ADDRESSES:
        return "", []
    name = next((one for one in values["FN"] if one.isprintable()), "")
    return name[:MAX_NAME], list(addresses)


def _values(text: str) -> dict[str, list[str]]:
    """Raises ValueError for lines that cannot be read."""
    found: dict[str, list[str]] = {name: [] for name in ("EMAIL", "FN", "BEGIN", *_GROUPS)}
    for line in Contentlines.from_ical(text):  # type: ignore[no-untyped-call]
        if wanted := _WANTED.match(line):
            _, _, value = Contentline(line).parts()  # type: ignore[no-untyped-call]
            found[wanted[1].upper()].append(value.strip())
    return found


def _address(value: str) -> str:
    """In the one spelling in which addresses are compared; empty for what is none."""
    text = value.removeprefix("mailto:")
    if not is_addr_spec(text):
        return ""
    local, _, domain = text.rpartition("@")
    return f"{local}@{domain.lower()}"


if __name__ == "__main__":
    serve(answer)
