"""Requests to one user's JMAP server, signed in.

The secret goes to the site that the user named and nowhere else, over TLS alone, and to the very
address that was looked at. A sign-in that is refused is not tried again.
"""

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any
from urllib.parse import quote, urljoin, urlsplit
from uuid import UUID

from django.conf import settings
from pydantic import Field

from integrations.contracts import AccountRef
from integrations.credentials import credentials
from integrations.credentials.credentials import SignIn
from integrations.exceptions import (
    Malformed,
    NotFound,
    NotPermitted,
    RateLimited,
    Rejected,
    SignInNeeded,
    Unavailable,
)
from integrations.mail.mail import MAX_MESSAGE_BYTES
from integrations.network import http, outgoing, retries
from integrations.network.gate import Gate
from integrations.network.http import Answer, Stream
from integrations.providers.dav.session import REDIRECTS, check_site
from integrations.providers.jmap.answers import (
    Answers,
    Call,
    Envelope,
    Id,
    Limits,
    Said,
    SubmissionLimits,
    read,
)
from integrations.providers.jmap.servers import JmapServer

CORE = "urn:ietf:params:jmap:core"
MAIL = "urn:ietf:params:jmap:mail"
SUBMISSION = "urn:ietf:params:jmap:submission"
SHARING = "urn:ietf:params:jmap:principals"
MAX_ANSWER_BYTES = 32 * 1024 * 1024
MAX_REDIRECTS = 5
KEPT_SECONDS = 300.0
SAID_CHARS = 200
EVENTS = "text/event-stream"
# Servers may say something at least this often so that both know that the other is there.
PING_SECONDS, QUIET = 60, 200.0
Slot = Callable[[], AbstractContextManager[None]]


class SignInRefused(SignInNeeded):
    """The server does not take this name and password, or this token."""


class AccountSaid(Said):
    is_personal: bool = Field(default=False, alias="isPersonal")
    is_read_only: bool = Field(default=True, alias="isReadOnly")
    capabilities: dict[str, dict[str, Any]] = Field(default={}, alias="accountCapabilities")


class Resource(Said):
    """The session resource: where what is done, and what can be (RFC 8620, 2)."""

    api: str = Field(alias="apiUrl")
    download: str = Field(alias="downloadUrl")
    upload: str = Field(alias="uploadUrl")
    event_source: str = Field(default="", alias="eventSourceUrl")
    capabilities: dict[str, dict[str, Any]]
    accounts: dict[Id, AccountSaid]
    primary: dict[str, Id] = Field(alias="primaryAccounts")

    @property
    def account(self) -> str:
        """The id of the user's own mailbox."""
        found = self.primary.get(MAIL)
        if found is None or found not in self.accounts:
            raise Rejected("The server keeps no mail for this user.")
        return found

    @property
    def sends(self) -> bool:
        return SUBMISSION in self.capabilities and self.primary.get(SUBMISSION) == self.account

    @property
    def most_delay(self) -> int:
        """For how many seconds at most the server holds back a mail; 0: for none."""
        said = self.accounts[self.account].capabilities.get(SUBMISSION, {})
        return read(said, SubmissionLimits).most_delay if self.sends else 0

    @property
    def at_once(self) -> int:
        """How many mails may be asked for in one call."""
        return min(read(self.capabilities.get(CORE, {}), Limits).at_once, 50)


class JmapSession:
    """What one server is asked in one user's name. `refused` hears that it does not take the
    sign-in."""

    def __init__(
        self,
        sign_in: SignIn,
        server: JmapServer,
        *,
        slot: Slot = nullcontext,
        refused: Callable[[], None] = lambda: None,
    ) -> None:
        self.server, self.request_id = server, ""
        self._slot, self._refused = slot, refused
        self._resource: Resource | None = None
        pair = base64.b64encode(f"{sign_in.user_name}:{sign_in.secret}".encode()).decode()
        given = {"basic": f"Basic {pair}", "bearer": f"Bearer {sign_in.secret}"}
        self._headers = {
            "Authorization": given[server.scheme],
            "User-Agent": "remit",
            "Accept-Encoding": "identity",
        }

    @property
    def resource(self) -> Resource:
        if self._resource is None:
            self.find()
        assert self._resource is not None  # noqa: S101  # find keeps it
        return self._resource

    def find(self) -> str:
        """Reads the session resource; its address, where the named one leads to within the
        site."""
        url = self.server.session
        for _ in range(MAX_REDIRECTS + 1):
            answer = self._read("GET", url)
            if answer.status not in REDIRECTS:
                self._resource = read(_json(_succeeded(answer)), Resource)
                return url
            url = urljoin(url, answer.headers.get("location", ""))
        raise Rejected("The server sends from one address to the next without end.")

    def use(self, resource: Resource) -> None:
        self._resource = resource

    def ask(self, *calls: Call) -> Answers:
        """Methods that change nothing: what may pass is tried again."""
        return self._answers(self._read("POST", self._api(), self._body(calls)))

    def change(self, *calls: Call) -> Answers:
        """Sent once. Unavailable: it may have been done."""
        content, url = self._body(calls), self._api()
        with self._slot():
            answer = self._once("POST", url, content, "application/json", MAX_ANSWER_BYTES)
        return self._answers(answer)

    def download(self, blob_id: str) -> bytes:
        names = {
            "accountId": self.resource.account,
            "blobId": blob_id,
            "name": "mail.eml",
            "type": "application/octet-stream",
        }
        url = self._url(self.resource.download, **names)
        return _succeeded(self._read("GET", url, most_bytes=MAX_MESSAGE_BYTES)).content

    def upload(self, content: bytes, kind: str) -> str:
        """The id of a blob: bytes that nothing refers to yet, and that the server forgets."""
        url = self._url(self.resource.upload, accountId=self.resource.account)
        return read(_json(_succeeded(self._read("POST", url, content, kind))), Uploaded).blob_id

    @contextmanager
    def listen(self) -> Iterator[Stream | None]:
        """What the server says by itself, as events (RFC 8620, 7.3); None where it says nothing."""
        if not self.resource.event_source:
            yield None
            return
        said = {"types": "Email", "closeafter": "no", "ping": str(PING_SECONDS)}
        url = self._url(self.resource.event_source, **said)
        check_site(url, site=self.server.session)
        headers = self._headers | {"Accept": EVENTS, "Cache-Control": "no-store"}
        address = outgoing.public_address(url)
        with http.listen(url, address=address, headers=headers, quiet_seconds=QUIET) as stream:
            self._check(stream.status, stream.headers)
            is_one = stream.headers.get("content-type", "").partition(";")[0].strip() == EVENTS
            yield stream if stream.status == 200 and is_one else None

    def _api(self) -> str:
        return urljoin(self.server.session, self.resource.api)

    def _url(self, template: str, **values: str) -> str:
        for name, value in values.items():
            template = template.replace(f"{{{name}}}", quote(value, safe=""))
        return urljoin(self.server.session, template)

    def _body(self, calls: tuple[Call, ...]) -> bytes:
        account = {"accountId": self.resource.account}
        more = [one for one in (SUBMISSION, SHARING) if one in self.resource.capabilities]
        using = [CORE, MAIL, *more]
        methods = [[name, account | said, str(at)] for at, (name, said) in enumerate(calls)]
        return json.dumps({"using": using, "methodCalls": methods}).encode()

    def _answers(self, answer: Answer) -> Answers:
        return Answers(read(_json(_succeeded(answer)), Envelope).responses)

    def _read(
        self,
        method: str,
        url: str,
        content: bytes = b"",
        kind: str = "application/json",
        *,
        most_bytes: int = MAX_ANSWER_BYTES,
    ) -> Answer:
        return retries.tried(
            lambda: self._once(method, url, content, kind, most_bytes),
            attempts=settings.DATA_SERVICE_ATTEMPTS,
            slot=self._slot,
        )

    def _once(self, method: str, url: str, content: bytes, kind: str, most_bytes: int) -> Answer:
        check_site(url, site=self.server.session)
        parts = urlsplit(url)
        answer = http.exchange(
            http.client(f"{parts.scheme}://{parts.netloc}"),
            method,
            url,
            address=outgoing.public_address(url),
            content=content,
            headers=self._headers | ({"Content-Type": kind} if method == "POST" else {}),
            most_bytes=most_bytes,
        )
        self._check(answer.status, answer.headers)
        return answer

    def _check(self, status: int, headers: Mapping[str, str]) -> None:
        if status == 401:
            self._refused()
            raise SignInRefused("The server refused the sign-in.")
        if status == 429:
            raise RateLimited("429", retry_after=retries.retry_after(headers.get("retry-after")))
        if status == 408 or status >= 500:
            raise Unavailable(str(status))


class Uploaded(Said):
    blob_id: Id = Field(alias="blobId")


_resources: dict[UUID, tuple[str, float, Resource]] = {}
_lock = threading.Lock()


def session_of(account: AccountRef) -> JmapSession:
    """Raises NotPermitted where the account is not connected, or signed in no more."""
    sign_in = credentials.open_sign_in(account)

    def slot() -> AbstractContextManager[None]:
        return Gate(f"jmap {account.id}").slot()

    def refused() -> None:
        credentials.ask_to_sign_in(account.id)

    server = JmapServer.from_json(sign_in.servers)
    session = JmapSession(sign_in, server, slot=slot, refused=refused)
    now = time.monotonic()
    with _lock:
        known = _resources.get(account.id)
    if known and known[0] == sign_in.fingerprint and now - known[1] < KEPT_SECONDS:
        session.use(known[2])
    else:
        session.find()
        with _lock:
            _resources[account.id] = (sign_in.fingerprint, now, session.resource)
    return session


def _succeeded(answer: Answer) -> Answer:
    """Raises ProviderError."""
    status = answer.status
    if 200 <= status < 300:
        return answer
    said = answer.content[:SAID_CHARS].decode(errors="replace")
    if status == 403:
        raise NotPermitted("the server does not permit this")
    if status in (404, 410):
        raise NotFound(str(status))
    if b"jmap:error:limit" in answer.content:
        raise RateLimited("the server says: less at once", said=said)
    raise Rejected(f"the server said no ({status})", said=said)


def _json(answer: Answer) -> Any:
    try:
        return json.loads(answer.content)
    except (ValueError, RecursionError) as error:
        raise Malformed("the answer is not JSON") from error
