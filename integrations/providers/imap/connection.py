"""One signed-in connection to a mail server, and those that wait to be used again.

Signing in takes a mail server longer than most commands, and large ones refuse who does it too
often. So a connection is kept for a minute after its last use, by account.
"""

import contextlib
import imaplib
import ssl
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from uuid import UUID

from imapclient import SocketTimeout  # type: ignore[import-untyped]
from imapclient.exceptions import (  # type: ignore[import-untyped]
    CapabilityError,
    IMAPClientAbortError,
    IMAPClientError,
    LoginError,
)

from integrations.contracts import AccountRef
from integrations.credentials import credentials
from integrations.credentials.credentials import SignIn
from integrations.exceptions import (
    Full,
    Malformed,
    NotPermitted,
    ProviderError,
    RateLimited,
    Rejected,
    SignInNeeded,
    Unavailable,
)
from integrations.network.gate import Gate
from integrations.providers.imap import gmail
from integrations.providers.imap.clients import Imap, Resynced
from integrations.providers.imap.folders import MailFolders, read_folders
from integrations.providers.imap.servers import MailServers

CONNECT_SECONDS, ANSWER_SECONDS = 10.0, 60.0
KEPT_SECONDS = 60.0
FOLDERS_SECONDS = 60.0
KEPT_CONNECTIONS = 2  # of one account
SAID_CHARS = 200
# Codes of RFC 5530 that mean: later.
FULL = "[OVERQUOTA]"  # RFC 5530
LATER = ("[UNAVAILABLE]", "[INUSE]", "[LIMIT]", "[SERVERBUG]")


class Connection:
    """A signed-in client. `folder` is what is selected, with what the server said about it."""

    def __init__(
        self, client: Imap, servers: MailServers, sign_in: SignIn, *, resyncs: bool = False
    ) -> None:
        self.client, self.servers, self.sign_in = client, servers, sign_in
        self.resyncs = resyncs
        self.used_at = time.monotonic()
        self._selected: tuple[str, bool, dict[bytes, object]] | None = None
        self._folders: tuple[float, MailFolders] | None = None

    @property
    def folders(self) -> MailFolders:
        """As they were within the last minute."""
        now = time.monotonic()
        if self._folders is None or now - self._folders[0] > FOLDERS_SECONDS:
            self._folders = (now, read_folders(self.client.list_folders()))
        return self._folders[1]

    @property
    def has_labels(self) -> bool:
        """Whether it is Gmail, and shows the folder of all mail, where each mail is once with all
        its labels."""
        return bool(self.client.has_capability(gmail.CAPABILITY)) and "all" in (
            self.folders.roles.values()
        )

    def list_again(self) -> MailFolders:
        """As they are now: somebody may have made one."""
        self._folders = None
        return self.folders

    def select(self, folder: str, *, readonly: bool = True) -> dict[bytes, object]:
        """Opens the folder unless it is open. A folder to be read is never changed by it."""
        if self._selected is None or self._selected[:2] != (folder, readonly):
            self._selected = None
            self._selected = (folder, readonly, self.client.select_folder(folder, readonly))
        return self._selected[2]

    def resync(self, folder: str, *, validity: int, modseq: int) -> Resynced | None:
        """Opens the folder to be read, with what happened in it since. None where the server cannot
        say: then nothing is opened."""
        if not (self.resyncs and modseq):
            return None
        self._selected = None
        found = self.client.resync_folder(folder, validity=validity, modseq=modseq)
        self._selected = (folder, True, found.said)
        return found

    def let_go(self) -> None:
        """What the server said about the folder is not known any more."""
        self._selected = None

    def validity(self) -> int:
        found = self._selected[2].get(b"UIDVALIDITY") if self._selected else None
        if not isinstance(found, int):
            raise Malformed("the server does not number its mails")
        return found


_idle: dict[UUID, list[Connection]] = defaultdict(list)
_lock = threading.Lock()


@contextlib.contextmanager
def connection(account: AccountRef) -> Iterator[Connection]:
    """A connection of the account, for the block alone. Errors of the block that are the server's
    come out as ProviderError; after one that may have left it confused it is closed."""
    sign_in = credentials.open_sign_in(account)
    with Gate(f"imap {account.id}").slot(), refusals_kept(account), as_provider_errors():
        own = _take(account, sign_in) or connect(sign_in)
        try:
            yield own
        except IMAPClientAbortError:
            _close(own)
            raise
        except (IMAPClientError, ProviderError) as error:
            own.let_go()
            _close(own) if isinstance(error, Unavailable) else _keep(account.id, own)
            raise
        except BaseException:
            _close(own)
            raise
        _keep(account.id, own)


def connect(sign_in: SignIn) -> Connection:
    """A new connection. Raises what imapclient and sockets raise."""
    servers = MailServers.from_json(sign_in.servers)
    imap, context = servers.imap, ssl.create_default_context()
    client = Imap(
        imap.host,
        imap.port,
        ssl=imap.security == "tls",
        ssl_context=context,
        timeout=SocketTimeout(connect=CONNECT_SECONDS, read=ANSWER_SECONDS),
    )
    client.normalise_times = False  # a time with its zone
    try:
        if imap.security == "starttls":
            client.starttls(context)
        if client.has_capability("AUTH=PLAIN"):
            client.plain_login(sign_in.user_name, sign_in.secret)
        else:
            client.login(sign_in.user_name, sign_in.secret)
        resyncs = client.enable_resync()
    except BaseException:
        with contextlib.suppress(Exception):
            client.shutdown()
        raise
    return Connection(client, servers, sign_in, resyncs=resyncs)


def close_idle(account_id: UUID | None = None) -> None:
    """Close what waits to be used again: of one account, or of all."""
    with _lock:
        ids = [account_id] if account_id else list(_idle)
        found = [one for id in ids for one in _idle.pop(id, [])]
    for one in found:
        _close(one)


def _take(account: AccountRef, sign_in: SignIn) -> Connection | None:
    while True:
        with _lock:
            if not _idle[account.id]:
                return None
            found = _idle[account.id].pop()
        fresh = time.monotonic() - found.used_at < KEPT_SECONDS
        if fresh and found.sign_in.fingerprint == sign_in.fingerprint:
            try:
                found.client.noop()
            except (IMAPClientError, OSError):
                pass
            else:
                return found
        _close(found)


def _keep(account_id: UUID, one: Connection) -> None:
    one.used_at = time.monotonic()
    with _lock:
        if len(_idle[account_id]) < KEPT_CONNECTIONS:
            _idle[account_id].append(one)
            return
    _close(one)


def _close(one: Connection) -> None:
    with contextlib.suppress(Exception):
        one.client.logout()
    with contextlib.suppress(Exception):
        one.client.shutdown()


class SignInRefused(SignInNeeded):
    """The server does not take this name and password."""


@contextlib.contextmanager
def connected(sign_in: SignIn) -> Iterator[Connection]:
    """A connection that is closed with the block."""
    own = connect(sign_in)
    try:
        yield own
    finally:
        _close(own)


@contextlib.contextmanager
def refusals_kept(account: AccountRef) -> Iterator[None]:
    """A sign-in that is refused is not tried again: servers lock who does."""
    try:
        yield
    except SignInRefused:
        credentials.ask_to_sign_in(account.id)
        raise


@contextlib.contextmanager
def as_provider_errors() -> Iterator[None]:
    """What goes wrong between a client and its server, in the terms of a provider."""
    try:
        yield
    except LoginError as error:
        # Of imapclient also where the connection broke while it signed in.
        if isinstance(error.__context__, IMAPClientAbortError):
            raise Unavailable("The connection broke while signing in.") from error
        if any(code in str(error) for code in LATER):
            raise RateLimited("The server takes no sign-in now.") from error
        raise SignInRefused("The server refused the sign-in.") from error
    except ssl.SSLCertVerificationError as error:
        raise NotPermitted(f"The server's certificate: {error.verify_message}.") from error
    except CapabilityError as error:
        raise Rejected("The server cannot do this.") from error
    except (IMAPClientAbortError, OSError, EOFError) as error:
        raise Unavailable(type(error).__name__) from error
    except (IMAPClientError, imaplib.IMAP4.error) as error:
        said = str(error)[:SAID_CHARS]
        if FULL in said:
            raise Full("The mailbox is full.", said=said) from error
        if any(code in said for code in LATER):
            raise RateLimited(said) from error
        raise Rejected("The server said no.", said=said) from error
