"""WebDAV's XML: what is asked, and answers about many resources (RFC 4918, RFC 4791, RFC 6578).

A server's answer was written by strangers: no DTD and no entity is read, and a path that leads out
of where it was asked counts as none. Pure.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urljoin, urlsplit
from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import escape

from defusedxml import ElementTree  # type: ignore[import-untyped]
from defusedxml.common import DefusedXmlException  # type: ignore[import-untyped]

from integrations.exceptions import Malformed

D, C, CS = "{DAV:}", "{urn:ietf:params:xml:ns:caldav}", "{http://calendarserver.org/ns/}"
CARD = "{urn:ietf:params:xml:ns:carddav}"
_PREFIXES = {D: "d", C: "c", CARD: "card", CS: "cs"}
_OPEN = " ".join(f'xmlns:{prefix}="{space[1:-1]}"' for space, prefix in _PREFIXES.items())
_STATUS = re.compile(r"HTTP/\S+ (\d{3})\b")
# As they stand in a path; each part is brought into one spelling.
_PLAIN = "@:!$&'()*+,;=~"
MAX_PATH = 1000
GONE = (404, 410)


@dataclass(frozen=True, kw_only=True)
class Response:
    """What is said of one resource: properties that it has, or a status for all of it."""

    path: str
    status: int = 200
    properties: Mapping[str, Element] = field(default_factory=dict)

    def text(self, name: str) -> str:
        found = self.properties.get(name)
        return (found.text or "").strip() if found is not None else ""

    def hrefs(self, name: str) -> list[str]:
        found = self.properties.get(name)
        return [] if found is None else [_text(one) for one in found.iter(f"{D}href")]

    def names(self, name: str) -> set[str]:
        """What the elements in this property are called."""
        found = self.properties.get(name)
        return set() if found is None else {one.tag for one in found.iter() if one is not found}


@dataclass(frozen=True, kw_only=True)
class Multistatus:
    responses: tuple[Response, ...]
    token: str = ""  # of a sync


def parse(content: bytes, *, url: str) -> Multistatus:
    """Raises Malformed."""
    root = parse_xml(content)
    if root.tag != f"{D}multistatus":
        raise Malformed("the answer is no multistatus")
    found = tuple(
        response for each in root.findall(f"{D}response") for response in _responses(each, url)
    )
    return Multistatus(responses=found, token=_text(root.find(f"{D}sync-token")))


def parse_xml(content: bytes) -> Element:
    """Raises Malformed for what is no XML, and for XML with a DTD or an entity."""
    try:
        root: Element = ElementTree.fromstring(content, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError, RecursionError) as error:
        raise Malformed("the answer is no XML that can be read") from error
    return root


def names_precondition(content: bytes, name: str) -> bool:
    """Whether the body of a refusal names this condition."""
    try:
        return parse_xml(content).find(f".//{name}") is not None
    except Malformed:
        return False


def propfind(names: Iterable[str]) -> bytes:
    return f"<d:propfind {_OPEN}><d:prop>{_empty(names)}</d:prop></d:propfind>".encode()


def multiget(paths: Iterable[str]) -> bytes:
    return _multiget("c:calendar-multiget", f"{C}calendar-data", paths)


def multiget_cards(paths: Iterable[str]) -> bytes:
    return _multiget("card:addressbook-multiget", f"{CARD}address-data", paths)


def events_between(start: str, end: str = "") -> bytes:
    """Events that take place from `start` on, before `end` where there is one: times in UTC."""
    before = f' end="{escape(end)}"' if end else ""
    return (
        f"<c:calendar-query {_OPEN}><d:prop><d:getetag/></d:prop><c:filter>"
        '<c:comp-filter name="VCALENDAR"><c:comp-filter name="VEVENT">'
        f'<c:time-range start="{escape(start)}"{before}/>'
        "</c:comp-filter></c:comp-filter></c:filter></c:calendar-query>"
    ).encode()


def changes_since(token: str) -> bytes:
    return (
        f"<d:sync-collection {_OPEN}><d:sync-token>{escape(token)}</d:sync-token>"
        "<d:sync-level>1</d:sync-level><d:prop><d:getetag/></d:prop></d:sync-collection>"
    ).encode()


def path_of(href: str, *, url: str) -> str | None:
    """The path of an href in one spelling; None for one of another server, and for no path."""
    try:
        found, asked = urlsplit(urljoin(url, href.strip())), urlsplit(url)
        elsewhere = (found.scheme, found.netloc) != (asked.scheme, asked.netloc)
    except ValueError:
        return None
    if elsewhere or found.query or found.fragment:
        return None
    parts = [unquote(part) for part in found.path.split("/")]
    if any(part in (".", "..") or not part.isprintable() for part in parts):
        return None
    path = "/".join(quote(part, safe=_PLAIN) for part in parts)
    return path if path.startswith("/") and len(path) <= MAX_PATH else None


def _multiget(report: str, data: str, paths: Iterable[str]) -> bytes:
    hrefs = "".join(f"<d:href>{escape(path)}</d:href>" for path in paths)
    wanted = _empty([f"{D}getetag", data])
    return f"<{report} {_OPEN}><d:prop>{wanted}</d:prop>{hrefs}</{report}>".encode()


def _responses(element: Element, url: str) -> Iterator[Response]:
    status = _status(element.find(f"{D}status"))
    for href in element.findall(f"{D}href"):
        path = path_of(_text(href), url=url)
        if path is None:
            continue
        if status is not None:
            yield Response(path=path, status=status)
            continue
        properties = {
            one.tag: one
            for group in element.findall(f"{D}propstat")
            if _status(group.find(f"{D}status")) == 200
            for holder in group.findall(f"{D}prop")
            for one in holder
        }
        yield Response(path=path, properties=properties)


def _status(element: Element | None) -> int | None:
    found = _STATUS.search(_text(element))
    return int(found[1]) if found else None


def _text(element: Element | None) -> str:
    return "" if element is None else (element.text or "").strip()


def _empty(names: Iterable[str]) -> str:
    found = (name.partition("}") for name in names)
    return "".join(f"<{_PREFIXES[space + sign]}:{name}/>" for space, sign, name in found)
