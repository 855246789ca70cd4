"""What has changed in one collection, as its server tells it (RFC 6578)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from integrations.exceptions import Changed, Malformed, NotFound
from integrations.providers.dav import multistatus
from integrations.providers.dav.multistatus import GONE, D, Response
from integrations.providers.dav.session import DavSession, Refused

ETAG = f"{D}getetag"
MAX_STEPS = 100  # of a server that tells its changes bit by bit
NO_ROOM = 507  # for more in this answer


@dataclass(kw_only=True)
class News:
    """Paths that are new or have another version, paths that are gone, and how far that is."""

    changed: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    token: str = ""


def reported(session: DavSession, *, url: str, path: str, token: str) -> News | None:
    """Since `token`; None where the server does not tell, or knows the token no more."""
    if not token:
        return None
    news = News(token=token)
    for _ in range(MAX_STEPS):
        try:
            found = session.report(url, multistatus.changes_since(news.token))
        except (Refused, Changed, NotFound, Malformed):
            return None
        if not found.token:
            return None
        for one in found.responses:
            if is_in(one.path, path) and one.status in GONE:
                news.gone.add(one.path)
                news.changed.pop(one.path, None)
        for there, etag in listed(found.responses, path):
            news.changed[there] = etag
            news.gone.discard(there)
        more = any(one.status == NO_ROOM for one in found.responses)
        if not more or found.token == news.token:
            news.token = found.token
            return news
        news.token = found.token
    return None


def listed(responses: Iterable[Response], path: str) -> Iterator[tuple[str, str]]:
    """The resources of the collection at `path` among these, with their versions."""
    for one in responses:
        if is_in(one.path, path) and one.status not in GONE and one.text(ETAG):
            yield one.path, one.text(ETAG)


def is_in(resource: str, path: str) -> bool:
    name = resource.removeprefix(path)
    return resource.startswith(path) and bool(name) and "/" not in name
