"""Trying a tracker before anything is stored: what is said when it works, and when it does not."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from integrations.credentials.credentials import SignIn
from integrations.exceptions import (
    Malformed,
    NotFound,
    NotPermitted,
    ProviderError,
    RateLimited,
    TooLarge,
    TooSlow,
    Unavailable,
)
from integrations.network import certificates
from integrations.ports.evidence import Ability
from integrations.providers.trackers.session import Refused, SignInRefused

SEARCHED = (
    "The tracker keeps no keys. What Remit writes carries a mark, and after a lost answer it looks "
    "for that among what this user wrote. It never writes twice by itself."
)
COMPARED = (
    "Remit looks right before whether it is still what was decided on, and after a lost answer "
    "whether the change is there. The tracker holds no write to a version, so a moment is left."
)
READ = Ability(what="Read and search", grade="A", why="Reading changes nothing there.")


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A sign-in that worked, and in which projects there are issues. `server` is as a credential
    keeps it."""

    host: str
    server: dict[str, Any]
    projects: tuple[str, ...]
    abilities: tuple[Ability, ...]


@contextmanager
def trying(host: str, *, product: str, token: str) -> Iterator[None]:
    """Every ProviderError inside has a sentence for people. `token` says which one is wanted, and
    where it is made."""
    try:
        yield
    except ProviderError as error:
        kind = type(error) if not isinstance(error, Refused) else Malformed
        raise kind(_explain(error, host, product, token), retry_after=error.retry_after) from error


def sign_in(user_name: str, secret: str) -> SignIn:
    return SignIn(user_name=user_name, servers={}, secret=secret, fingerprint=uuid4().hex)


def _explain(error: ProviderError, host: str, product: str, token: str) -> str:
    if distrusted := certificates.find(error):
        return certificates.explain(host, distrusted)
    if isinstance(error, SignInRefused):
        return f"{host} refused the sign-in. {token}"
    if isinstance(error, RateLimited):
        return f"{host} takes no more requests now. Try again in a few minutes."
    if isinstance(error, TooSlow):
        return f"{host} answers too slowly. Try again in a few minutes."
    if isinstance(error, Unavailable):
        return f"{host} does not answer. Check the name of the server and the port."
    if isinstance(error, Malformed | Refused | NotFound | TooLarge):
        return f"{host} answers, but not as {product} does. Check the name of the server."
    if isinstance(error, NotPermitted) and str(error).startswith("The tracker does not"):
        return f"{host} does not let this token read issues. {token}"
    return str(error)
