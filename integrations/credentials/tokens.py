"""Access tokens of accounts that were signed in at a provider's own page, renewed by one process at
a time.

A process that renews has the row's lease and no connection meanwhile. What the server gives is
stored before anybody uses it: where a server takes each refresh token once, the only good one is
never in memory alone for longer than that. A user who signs in again meanwhile is not overwritten.
"""

import logging
import time
from datetime import timedelta
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from integrations.contracts import AccountRef
from integrations.credentials import credentials, oauth
from integrations.credentials.oauth import AuthorizationServer, GrantEnded, Tokens
from integrations.credentials.sealing import Sealed
from integrations.database import clock
from integrations.database.pools import release_connections
from integrations.exceptions import ProviderError, SignInNeeded, Unavailable
from integrations.models import Credential

log = logging.getLogger(__name__)
EARLY = timedelta(minutes=5)  # renewed that long before it ends
# Longer than one request can take (`integrations.network.http`), so that two never ask at once.
LEASE = timedelta(seconds=120)
WAIT_SECONDS, LOOK_SECONDS = 20.0, 0.1


class RenewedElsewhere(Unavailable):
    """Another process renews the token and takes long. Nothing was asked for with it."""

    outcome_unknown = False


def access_token(account: AccountRef, server: AuthorizationServer, *, refused: str = "") -> str:
    """One that the provider takes for some minutes yet. `refused`: not this one, which it did not
    take. Raises NotPermitted where the user has to sign in, and another ProviderError."""
    until = time.monotonic() + WAIT_SECONDS
    while True:
        secret, sealed = credentials.open_sealed(account)
        tokens, now = Tokens.from_text(secret), timezone.now()
        is_good = tokens.access != refused and tokens.expires_at > now
        if is_good and tokens.expires_at - EARLY > now:
            return tokens.access
        if _claim(account.id, sealed):
            renewed = _renew(account, server, tokens, sealed)
            if renewed is not None:
                return renewed.access
            continue  # somebody signed in meanwhile
        if is_good:  # another process renews it
            return tokens.access
        if time.monotonic() > until:
            raise RenewedElsewhere("the token is renewed at this moment")
        release_connections()
        time.sleep(LOOK_SECONDS)


def _claim(account_id: UUID, sealed: Sealed) -> bool:
    now = clock.now()
    free = Q(refreshing_until=None) | Q(refreshing_until__lt=now)
    rows = Credential.objects.filter(free, account_id=account_id, sealed=sealed.data)
    return rows.update(refreshing_until=now + LEASE) == 1


def _renew(
    account: AccountRef, server: AuthorizationServer, old: Tokens, sealed: Sealed
) -> Tokens | None:
    """What is stored now; None where it is another sign-in's."""
    release_connections()
    try:
        new = oauth.refresh(server, oauth.client_of(server), old)
    except GrantEnded as error:
        if credentials.ask_to_sign_in(account.id, sealed=sealed):
            log.warning("credentials.sign_in_again", extra={"account": str(account.id)})
            raise SignInNeeded("its user has to sign in again") from error
        return None
    except ProviderError:
        Credential.objects.filter(account_id=account.id).update(refreshing_until=None)
        raise
    return new if _store(account, old, new, sealed) else None


def _store(account: AccountRef, old: Tokens, new: Tokens, before: Sealed) -> bool:
    """Whether it took the place of what was renewed, which may have been sealed anew meanwhile."""
    after = credentials.seal(new.to_text(), account_id=account.id)
    while True:
        rows = Credential.objects.filter(account_id=account.id, sealed=before.data)
        if rows.update(sealed=after.data, key_id=after.key_id, refreshing_until=None):
            return True
        secret, before = credentials.open_sealed(account)
        if secret != old.to_text():
            return False
