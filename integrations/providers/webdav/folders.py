"""The files of one account, open to be read: what lies in a folder, and all folders in their order.

A server's answer was written by strangers: what is not directly in the folder that was asked
counts as not there, and no walk is without end.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import quote, unquote, urljoin, urlsplit

from integrations.contracts import AccountRef
from integrations.exceptions import Malformed, NotFound, Rejected
from integrations.providers.dav.multistatus import GONE, D, Response
from integrations.providers.dav.session import session_of
from integrations.providers.webdav import access
from integrations.providers.webdav.servers import FileServer

KIND, ETAG, TYPE, SIZE, CHANGED, CREATED = (
    f"{D}resourcetype",
    f"{D}getetag",
    f"{D}getcontenttype",
    f"{D}getcontentlength",
    f"{D}getlastmodified",
    f"{D}creationdate",
)
WANTED = (KIND, ETAG, TYPE, SIZE, CHANGED, CREATED)
MAX_FOLDERS, MAX_DEPTH = 1000, 20
STRONG = '"'
PREFIX = "folder:"  # of a folder's id


@dataclass(frozen=True, kw_only=True)
class File:
    """`etag` is empty where the server does not tell versions apart."""

    path: str
    etag: str
    mime_type: str
    size: int
    changed_at: datetime
    created_at: datetime

    @property
    def name(self) -> str:
        return unquote(self.path.rpartition("/")[2])


@dataclass(frozen=True, kw_only=True)
class Listing:
    """What lies in one folder, both in the order of their paths. `readers` is who else reads it;
    None: nobody knows."""

    path: str
    readers: tuple[str, ...] | None
    files: tuple[File, ...]
    folders: tuple[str, ...]


class Files:
    def __init__(self, account: AccountRef) -> None:
        self.session, sign_in = session_of(account)
        self.account = account
        self.server = FileServer.from_json(sign_in.servers)
        self.home = urlsplit(self.server.home).path

    def url(self, path: str) -> str:
        return urljoin(self.server.home, path)

    def list(self, path: str) -> Listing:
        """Raises NotFound."""
        wanted = (*WANTED, *access.WANTED)
        found = self.session.propfind(self.url(path), wanted, depth=1).responses
        own = next((one for one in found if _folder(one.path) == path), None)
        if own is None or own.status in GONE:
            raise NotFound("there is no such folder")
        inside = [one for one in found if _is_directly_in(one.path, path)]
        listed = access.readers(own)
        return Listing(
            path=path,
            readers=self.server.readers if listed is None else listed,
            files=tuple(sorted(map(_file, filter(_is_file, inside)), key=lambda one: one.path)),
            folders=tuple(sorted(_folder(one.path) for one in inside if _is_folder(one))),
        )

    def walk(self, after: str = "") -> Iterator[Listing]:
        """Every folder with what lies in it, a folder before those in it. What comes up to the
        path `after` is left out. Raises Rejected for more folders than anybody looks through."""
        waiting, seen = [self.home], 0
        while waiting:
            path = waiting.pop()
            try:
                found = self.list(path)
            except NotFound:
                if path == self.home:
                    raise
                continue  # deleted meanwhile
            seen += 1
            if seen > MAX_FOLDERS:
                raise Rejected(f"There are more than {MAX_FOLDERS} folders. Connect one of them.")
            deep = path.count("/") - self.home.count("/") >= MAX_DEPTH
            inside = () if deep else found.folders
            if after.startswith(path):
                rest = after[len(path) :]
                here = f"{path}{rest.partition('/')[0]}/" if "/" in rest else ""
                inside = tuple(one for one in inside if one >= here)
                files = () if here else tuple(one for one in found.files if one.path > after)
                found = Listing(path=path, readers=found.readers, files=files, folders=inside)
            waiting += reversed(inside)
            yield found

    def file(self, path: str) -> File:
        """Raises NotFound."""
        found = self.session.propfind(self.url(path), WANTED).responses
        if not found or found[0].status in GONE or not _is_file(found[0]):
            raise NotFound("there is no such file")
        return _file(found[0])

    def folder_id(self, path: str) -> str:
        """Of the folder at this path: its place in the home folder, in plain letters."""
        return PREFIX + unquote(path.removeprefix(self.home).strip("/"))

    def folder_path(self, folder_id: str) -> str:
        """Raises NotFound for what is no id of a folder."""
        names = folder_id.removeprefix(PREFIX).split("/")
        if not folder_id.startswith(PREFIX) or any(one in (".", "..") for one in names):
            raise NotFound("there is no such folder")
        return self.home + "".join(f"{spell(one)}/" for one in names if one)


def spell(name: str) -> str:
    """A name as it stands in a path."""
    return quote(name, safe="@:!$&'()*+,;=~")


def _file(found: Response) -> File:
    changed = _http_date(found.text(CHANGED))
    size = found.text(SIZE)
    return File(
        path=found.path,
        etag=_strong(found.text(ETAG)),
        mime_type=found.text(TYPE)[:200] or "application/octet-stream",
        size=int(size) if size.isascii() and size.isdigit() and len(size) < 16 else 0,
        changed_at=changed,
        created_at=_iso_date(found.text(CREATED)) or changed,
    )


def _strong(etag: str) -> str:
    """As the same server gives it in a header: some leave out the quotes in a property. Empty for a
    weak one, which no write can be held to."""
    if not etag or etag.startswith(("W/", "w/")):
        return ""
    return etag if etag.startswith(STRONG) else f"{STRONG}{etag}{STRONG}"


def _is_folder(found: Response) -> bool:
    return found.status not in GONE and f"{D}collection" in found.names(KIND)


def _is_file(found: Response) -> bool:
    return found.status not in GONE and not found.names(KIND) and not found.path.endswith("/")


def _is_directly_in(path: str, folder: str) -> bool:
    name = path.removeprefix(folder).removesuffix("/")
    return path.startswith(folder) and bool(name) and "/" not in unquote(name)


def _folder(path: str) -> str:
    return path if path.endswith("/") else f"{path}/"


def _http_date(text: str) -> datetime:
    try:
        found = parsedate_to_datetime(text)
        found = found if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, TypeError, OverflowError) as error:
        raise Malformed("a file without the time of its last change") from error
    return found


def _iso_date(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
