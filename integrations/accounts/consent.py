"""Connecting accounts whose users sign in at their provider's own page (OAuth 2.0).

Who asks gets the address of that page, and a ticket that they keep for the one browser that goes
there. What the browser comes back with is good together with that ticket alone, for half an hour.
Then the account is tried and offered like any other (`integrations.accounts.connecting`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.core import signing

from integrations.accounts import connectables, connecting, trials
from integrations.accounts.connecting import Offer, Wish
from integrations.contracts import Source
from integrations.credentials import device_code, oauth
from integrations.credentials.device_code import DeviceCode
from integrations.credentials.oauth import Tokens
from integrations.exceptions import Rejected
from integrations.providers.connectable import Consent, Found

GOOD_FOR = timedelta(minutes=30)
SALT = "integrations.accounts.consent"
BEGIN_AGAIN = "This sign-in was begun elsewhere, or more than half an hour ago. Begin it again."


PLACES: dict[Source, Consent] = {
    source: one.consent for source, one in connectables.ALL.items() if one.consent is not None
}


@dataclass(frozen=True, kw_only=True)
class Started:
    """`page` is where the user signs in. Anybody who has the `ticket` can finish it: it belongs
    into the session of that user's browser, and is shown to nobody."""

    page: str
    ticket: str


@dataclass(frozen=True, kw_only=True)
class Finished:
    wish: Wish
    found: Found
    offer: Offer


def place_of(source: Source) -> Consent | None:
    """None for a source that wants a password or a token."""
    return PLACES.get(source)


def begin(wish: Wish, *, by: str, redirect: str) -> Started:
    """`by` names who may finish it, and `redirect` is the very address that the browser comes back
    to. Raises what `connecting.check` raises, and NotPermitted where this installation has no
    client there."""
    connecting.check(wish)
    place = PLACES[wish.source]
    state, verifier = oauth.new_secret(), oauth.new_secret()
    page = oauth.page_url(
        place.server,
        oauth.client_of(place.server),
        scopes=place.scopes,
        redirect=redirect,
        state=state,
        verifier=verifier,
        address=wish.address,
    )
    data = {"by": by, "wish": wish.to_json(), "redirect": redirect}
    data |= {"state": state, "verifier": verifier}
    return Started(page=page, ticket=signing.dumps(data, salt=SALT))


def finish(ticket: str, answer: Mapping[str, str], *, by: str) -> Finished:
    """`answer` has the parameters that the browser came back with. The code is exchanged, and the
    account tried. Raises ProviderError with a sentence, sealing.BadKey, and ValidationError for
    values that no account can have."""
    data = _open(ticket)
    if data["by"] != by:
        raise Rejected(BEGIN_AGAIN)
    wish = Wish.from_json(data["wish"])
    connecting.check(wish)
    place = PLACES[wish.source]
    code = oauth.read_code(place.server, answer, state=data["state"])
    tokens = oauth.exchange(
        place.server,
        oauth.client_of(place.server),
        code=code,
        redirect=data["redirect"],
        verifier=data["verifier"],
    )
    return _tried(wish, tokens)


def begin_with_code(wish: Wish) -> DeviceCode:
    """For who has no browser there: the user types the code in at the provider's page, wherever
    they are. Raises what `begin` raises, and ProviderError."""
    connecting.check(wish)
    server = PLACES[wish.source].server
    client = oauth.client_of(server)
    return device_code.ask(server, client, scopes=PLACES[wish.source].scopes)


def finish_with_code(wish: Wish, code: DeviceCode) -> Finished:
    """Waits until the user has signed in. Raises what `finish` raises."""
    server = PLACES[wish.source].server
    return _tried(wish, device_code.wait(server, oauth.client_of(server), code))


def _tried(wish: Wish, tokens: Tokens) -> Finished:
    with trials.place():
        found = PLACES[wish.source].try_it(tokens, wish.address)
    offer = connecting.make_offer(wish, found.servers, secret=tokens.to_text())
    return Finished(wish=wish, found=found, offer=offer)


def wish_of(ticket: str) -> Wish:
    """What a ticket is for. Raises Rejected for one that is too old, or changed."""
    return Wish.from_json(_open(ticket)["wish"])


def _open(ticket: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = signing.loads(ticket, salt=SALT, max_age=GOOD_FOR)
    except signing.BadSignature as error:
        raise Rejected(BEGIN_AGAIN) from error
    return found
