"""What trials of all of Google's services have in common: a session with what a consent just gave,
and what went wrong in words."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from integrations.credentials.oauth import Tokens
from integrations.exceptions import ProviderError, RateLimited, Rejected, Unavailable
from integrations.providers.google.servers import missing
from integrations.providers.google.session import GoogleSession, SignInRefused
from integrations.providers.trial_slots import slots


def session_with(found: Tokens, api: str, *, scopes: Sequence[str], what: str) -> GoogleSession:
    """Raises Rejected where the user did not agree to all: to `what`, in words."""
    if missing(scopes, found.scopes):
        raise Rejected(
            f"You did not allow Remit to {what}. Begin again, and tick every box on Google's page."
        )

    def token(refused: str) -> str:
        if refused:
            raise SignInRefused("Google does not take the consent that it just gave.")
        return found.access

    return GoogleSession(api, token, slot=slots())


@contextmanager
def explained(otherwise: str) -> Iterator[None]:
    """Raises ProviderError with a sentence for people."""
    try:
        yield
    except RateLimited as error:
        raise RateLimited("Google takes no more requests now. Try again later.") from error
    except Unavailable as error:
        raise Unavailable("Google does not answer. Try again later.") from error
    except ProviderError as error:
        raise type(error)(otherwise, said=error.said) from error


def check_who(who: str, address: str) -> None:
    """Raises Rejected where somebody else signed in."""
    if who.casefold() != address.casefold():
        raise Rejected(
            f"Somebody signed in as {who}, and {address} is to be connected. Begin again, and "
            "choose that one."
        )
