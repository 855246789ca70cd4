"""Who is signed in at a server over DAV (RFC 5397), and what is their own."""

from urllib.parse import urljoin

from integrations.exceptions import Malformed, NotFound, ProviderError, Rejected
from integrations.providers.dav.multistatus import D, Response
from integrations.providers.dav.session import DavSession, Refused

SELF, OWNER = f"{D}current-user-principal", f"{D}owner"


def find(session: DavSession, url: str, *, well_known: str, otherwise: str) -> str:
    """Who is signed in, asked at each of the places where servers tell. Raises ProviderError;
    Rejected with the sentence `otherwise` where none of them tells."""
    last: ProviderError = NotFound("nobody")
    for place in dict.fromkeys((url, urljoin(url, well_known), urljoin(url, "/"))):
        try:
            there, found = session.find(place, [SELF])
        except (NotFound, Refused, Malformed) as error:
            last = error
            continue
        for response in found.responses:
            for href in response.hrefs(SELF):
                return urljoin(there, href)
    raise Rejected(otherwise) from last


def is_own(found: Response) -> bool:
    """Whether nobody but the user is said to own it."""
    owners, own = found.hrefs(OWNER), found.hrefs(SELF)
    return not owners or not own or owners[0].rstrip("/") == own[0].rstrip("/")
