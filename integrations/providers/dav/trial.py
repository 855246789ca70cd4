"""What trials of all servers over DAV have in common: a session that ends in time, and what went
wrong in words."""

from collections.abc import Callable, Sequence
from typing import TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

from integrations.credentials.credentials import SignIn
from integrations.exceptions import (
    Malformed,
    NotFound,
    ProviderError,
    RateLimited,
    Rejected,
    TooLarge,
    TooSlow,
    Unavailable,
)
from integrations.network import certificates
from integrations.providers.dav.session import DavSession, Refused, SignInRefused
from integrations.providers.trial_slots import Slot, slots

T = TypeVar("T")


def session(url: str, *, user_name: str, secret: str, slot: Slot) -> DavSession:
    sign_in = SignIn(user_name=user_name, servers={}, secret=secret, fingerprint=uuid4().hex)
    return DavSession(sign_in, site=url, slot=slot)


def read_url(text: str, *, otherwise: str) -> str:
    """From HOST, HOST:PORT or an address. Raises Rejected with the sentence `otherwise`."""
    url = text.strip()
    url = url if "://" in url else f"https://{url}"
    try:
        host = (urlsplit(url).port, urlsplit(url).hostname)[1]
    except ValueError:
        host = None
    if not host:
        raise Rejected(otherwise)
    return url


def try_first(
    urls: Sequence[str],
    sign_in: Callable[[str, Slot], T],
    *,
    none: str,
    refused: str,
    otherwise: str,
) -> T:
    """What the first server says that lets in. Raises ProviderError with a sentence for people:
    `none` where there is no address; the others are those of `explained`. A sign-in that is
    refused is not tried elsewhere."""
    last: ProviderError = Unavailable(none)
    slot = slots()
    for url in urls:
        try:
            return sign_in(url, slot)
        except ProviderError as error:
            found = explained(url, error, refused=refused, otherwise=otherwise)
        # What a server that is there says tells more than that another one is not.
        if not isinstance(found, Unavailable) or isinstance(last, Unavailable):
            last = found
        if isinstance(last, SignInRefused | RateLimited):
            break
    raise last


def explained(url: str, error: ProviderError, *, refused: str, otherwise: str) -> ProviderError:
    """The same with a sentence for people. `refused` is what helps against a refused sign-in;
    `otherwise` says, of the host, that what answers is not what was looked for."""
    kind = Rejected if isinstance(error, Refused) else type(error)
    found = kind(_explain(urlsplit(url).netloc, error, refused, otherwise))
    found.__cause__ = error
    return found


def _explain(host: str, error: ProviderError, refused: str, otherwise: str) -> str:
    if distrusted := certificates.find(error):
        return certificates.explain(host, distrusted)
    if isinstance(error, SignInRefused):
        return f"{host} refused the sign-in. {refused}"
    if isinstance(error, RateLimited):
        return f"{host} takes no sign-in now. Try again in a few minutes."
    if isinstance(error, TooSlow):
        return f"{host} answers too slowly. Try again in a few minutes."
    if isinstance(error, Unavailable):
        return f"{host} does not answer. Check the name of the server and the port."
    if isinstance(error, Malformed | Refused | NotFound | TooLarge):
        return otherwise.format(host=host)
    return str(error)
