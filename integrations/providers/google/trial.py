"""What trials of all of Google's services have in common: a session with what a consent just
gave."""

from collections.abc import Sequence

from integrations.credentials.oauth import Tokens
from integrations.exceptions import Rejected
from integrations.providers.google.servers import GOOGLE, missing
from integrations.providers.google.session import GoogleSession
from integrations.providers.signed_in.trial import token_of
from integrations.providers.trial_slots import slots


def session_with(found: Tokens, api: str, *, scopes: Sequence[str], what: str) -> GoogleSession:
    """Raises Rejected where the user did not agree to all: to `what`, in words."""
    if missing(scopes, found.scopes):
        raise Rejected(
            f"You did not allow Remit to {what}. Begin again, and tick every box on Google's page."
        )
    return GoogleSession(api, token_of(found, GOOGLE), slot=slots())
