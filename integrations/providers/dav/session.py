"""Requests to the server of one account, signed in.

The password goes to the site that the user named and nowhere else, over TLS alone, and to the very
address that was looked at. A sign-in that is refused is not tried again.
"""

import base64
import re
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from urllib.parse import urljoin, urlsplit

from django.conf import settings

from integrations.contracts import AccountRef
from integrations.credentials import credentials
from integrations.credentials.credentials import SignIn
from integrations.exceptions import (
    Changed,
    Malformed,
    NotFound,
    NotPermitted,
    ProviderError,
    RateLimited,
    Rejected,
    SignInNeeded,
    Unavailable,
)
from integrations.network import http, outgoing, retries
from integrations.network.gate import Gate
from integrations.network.http import Answer
from integrations.providers.dav import multistatus
from integrations.providers.dav.multistatus import Multistatus

MAX_ANSWER_BYTES = 32 * 1024 * 1024
MAX_REDIRECTS = 5
SAID_CHARS = 200
REDIRECTS = (301, 302, 307, 308)
OTHER_PORTS = (443, 8443)  # that a server may send to beside the one that was named
LOCKED, NO_ROOM = 423, 507
# The usual name of a calendar server; others of its kind stand beside it (p42-caldav.icloud.com).
_OWN_NAME = re.compile(r"[a-z0-9-]*(?:dav|cal|calendar)[a-z0-9-]*\.")
_XML = "application/xml; charset=utf-8"
_ICS = "text/calendar; charset=utf-8"
Slot = Callable[[], AbstractContextManager[None]]


class SignInRefused(SignInNeeded):
    """The server does not take this name and password."""


class Refused(Rejected):
    """A 4xx without a meaning of its own here. `status` and `content` are the server's."""

    def __init__(self, answer: Answer) -> None:
        said = answer.content[:SAID_CHARS].decode(errors="replace")
        super().__init__(f"the server said no ({answer.status})", said=said)
        self.status, self.content = answer.status, answer.content


class DavSession:
    """What one server is asked in one user's name. `site` is a URL on it: nothing is sent to
    another site. `refused` hears that the server does not take the sign-in."""

    def __init__(
        self,
        sign_in: SignIn,
        *,
        site: str,
        slot: Slot = nullcontext,
        refused: Callable[[], None] = lambda: None,
    ) -> None:
        self._site, self._slot, self._refused = site, slot, refused
        pair = f"{sign_in.user_name}:{sign_in.secret}".encode()
        self._headers = {
            "Authorization": f"Basic {base64.b64encode(pair).decode()}",
            "User-Agent": "remit",
            "Accept-Encoding": "identity",
        }

    def propfind(self, url: str, names: Iterable[str], *, depth: int = 0) -> Multistatus:
        return self._multistatus("PROPFIND", url, multistatus.propfind(names), depth=depth)

    def report(self, url: str, body: bytes, *, depth: int = 0) -> Multistatus:
        return self._multistatus("REPORT", url, body, depth=depth)

    def find(self, url: str, names: Iterable[str]) -> tuple[str, Multistatus]:
        """Properties of what is at `url` or where it leads to within the site, and where that
        is."""
        body = multistatus.propfind(names)
        for _ in range(MAX_REDIRECTS + 1):
            answer = self._read("PROPFIND", url, body, {"Depth": "0", "Content-Type": _XML})
            if answer.status not in REDIRECTS:
                return url, multistatus.parse(_succeeded(answer).content, url=url)
            url = urljoin(url, answer.headers.get("location", ""))
        raise Rejected("The server sends from one address to the next without end.")

    def options(self, url: str) -> frozenset[str]:
        """What the server says it can do there (the DAV header)."""
        answer = _succeeded(self._read("OPTIONS", url, b"", {}))
        return frozenset(one.strip() for one in answer.headers.get("dav", "").split(","))

    def get(self, url: str, *, most_bytes: int = MAX_ANSWER_BYTES) -> tuple[str, bytes]:
        """The version and the bytes of a resource."""
        answer = _succeeded(self._read("GET", url, b"", {}, most_bytes=most_bytes))
        return answer.headers.get("etag", ""), answer.content

    def create(self, url: str, content: bytes, *, kind: str = _ICS) -> str:
        """A new resource; its version, where the server tells. Raises Changed where one of this
        name is there."""
        return self._write("PUT", url, content, {"If-None-Match": "*", "Content-Type": kind})

    def replace(self, url: str, content: bytes, *, etag: str, kind: str = _ICS) -> str:
        """Raises Changed where it has another version."""
        return self._write("PUT", url, content, {"If-Match": etag, "Content-Type": kind})

    def move(self, url: str, to: str, *, etag: str) -> None:
        """Raises Changed where it has another version, or where something is at `to` already, and
        NotFound. Not every server looks at the version."""
        about = {"Destination": to, "Overwrite": "F", "If": f"([{etag}])"}
        self._write("MOVE", url, b"", about)

    def delete(self, url: str, *, etag: str) -> None:
        """Raises Changed where it has another version, and NotFound."""
        self._write("DELETE", url, b"", {"If-Match": etag})

    def _multistatus(self, method: str, url: str, body: bytes, *, depth: int) -> Multistatus:
        headers = {"Depth": str(depth), "Content-Type": _XML}
        answer = _succeeded(self._read(method, url, body, headers))
        if answer.status != 207:
            raise Malformed("the answer is no multistatus")
        return multistatus.parse(answer.content, url=url)

    def _read(
        self,
        method: str,
        url: str,
        content: bytes,
        headers: dict[str, str],
        *,
        most_bytes: int = MAX_ANSWER_BYTES,
    ) -> Answer:
        """Reading changes nothing: what may pass is tried again."""
        return retries.tried(
            lambda: self._once(method, url, content, headers, most_bytes),
            attempts=settings.DATA_SERVICE_ATTEMPTS,
            slot=self._slot,
        )

    def _write(self, method: str, url: str, content: bytes, headers: dict[str, str]) -> str:
        with self._slot():
            answer = self._once(method, url, content, headers, MAX_ANSWER_BYTES)
        etag: str = _succeeded(answer).headers.get("etag", "")
        return etag

    def _once(
        self, method: str, url: str, content: bytes, headers: dict[str, str], most_bytes: int
    ) -> Answer:
        check_site(url, site=self._site)
        parts = urlsplit(url)
        answer = http.exchange(
            http.client(f"{parts.scheme}://{parts.netloc}"),
            method,
            url,
            address=outgoing.public_address(url),
            content=content,
            headers=self._headers | headers,
            most_bytes=most_bytes,
        )
        if answer.status == 401:
            self._refused()
            raise SignInRefused("The server refused the sign-in.")
        _check_answered(answer)
        return answer


def session_of(account: AccountRef) -> tuple[DavSession, SignIn]:
    """Raises NotPermitted where the account is not connected, or signed in no more."""
    sign_in = credentials.open_sign_in(account)

    def slot() -> AbstractContextManager[None]:
        return Gate(f"{account.provider} {account.id}").slot()

    def refused() -> None:
        credentials.ask_to_sign_in(account.id)

    site = sign_in.servers["home"]
    return DavSession(sign_in, site=site, slot=slot, refused=refused), sign_in


def check_site(url: str, *, site: str) -> None:
    """Raises NotPermitted for an address that the password is not to be sent to: one without TLS,
    and one of a site that the user did not name."""
    try:
        outgoing.check_form(url)
        there, named = urlsplit(url), urlsplit(site)
    except (outgoing.Forbidden, ValueError) as error:
        raise NotPermitted(str(error)) from error
    host, own = (there.hostname or "").lower(), (named.hostname or "").lower()
    if there.scheme != "https":
        raise NotPermitted("The server is to be reached over https:// alone.")
    if there.port not in (named.port, None, *OTHER_PORTS):
        raise NotPermitted(f"The server sends to port {there.port}. Name that one, if it is.")
    if host == own or host.endswith(f".{own}"):
        return
    name = _OWN_NAME.match(own)
    above = own[name.end() :] if name else ""
    if "." not in above or not host.endswith(f".{above}"):
        raise NotPermitted(f"The server sends to another site, {host}. Name that one, if it is.")


def _check_answered(answer: Answer) -> None:
    """Raises for what says nothing about the resource: too much at once, or the server's own
    fault."""
    status = answer.status
    wait = retries.retry_after(answer.headers.get("retry-after"))
    if status in (429, LOCKED) or (status == 503 and wait is not None):
        raise RateLimited(str(status), retry_after=wait)
    if status == NO_ROOM:
        raise Rejected("The server has no room left.")
    if status == 408 or status >= 500:
        raise Unavailable(str(status))


def _succeeded(answer: Answer) -> Answer:
    """Raises ProviderError."""
    status = answer.status
    if 200 <= status < 300:
        return answer
    error: ProviderError = Refused(answer)
    if status in multistatus.GONE:
        error = NotFound(str(status))
    elif status == 412 and not _names_uid(answer):
        error = Changed("it has another version by now")
    elif status in REDIRECTS:
        error = Rejected("It is elsewhere by now. Connect it again.")
    raise error


def _names_uid(answer: Answer) -> bool:
    name = f"{multistatus.C}no-uid-conflict"
    return multistatus.names_precondition(answer.content, name)
