"""What trials of such services have in common: a token that a consent just gave, and what went
wrong in words."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from integrations.credentials.oauth import AuthorizationServer, Tokens
from integrations.exceptions import ProviderError, RateLimited, Rejected, Unavailable
from integrations.providers.signed_in.session import SignInRefused


def token_of(found: Tokens, server: AuthorizationServer) -> Callable[[str], str]:
    def token(refused: str) -> str:
        if refused:
            raise SignInRefused(f"{server.label} does not take the consent that it just gave.")
        return found.access

    return token


@contextmanager
def explained(server: AuthorizationServer, otherwise: str) -> Iterator[None]:
    """Raises ProviderError with a sentence for people."""
    try:
        yield
    except RateLimited as error:
        said = f"{server.label} takes no more requests now. Try again later."
        raise RateLimited(said) from error
    except Unavailable as error:
        raise Unavailable(f"{server.label} does not answer. Try again later.") from error
    except ProviderError as error:
        raise type(error)(otherwise, said=error.said) from error


def check_who(who: str, address: str) -> None:
    """Raises Rejected where somebody else signed in."""
    if who.casefold() != address.casefold():
        raise Rejected(
            f"Somebody signed in as {who}, and {address} is to be connected. Begin again, and "
            "choose that one."
        )
