"""Calendars at Google, as people connect them: their users sign in at Google's own page."""

from integrations.credentials.oauth import Tokens
from integrations.providers.connectable import Connectable, Consent, Found
from integrations.providers.google.servers import GOOGLE, HOW_LONG
from integrations.providers.google_calendar import changes, trial


def try_it(tokens: Tokens, address: str) -> Found:
    tried = trial.try_account(tokens, address=address)
    return Found(
        host=trial.HOST,
        abilities=tried.abilities,
        servers=tried.servers,
        calendars=tried.calendars,
    )


CONNECTABLE = Connectable(
    what="calendar",
    title="Connect calendars at Google",
    about="Calendars of a user in {organisation}, at Google: their user signs in at Google's own "
    "page, and Remit never sees the password.",
    in_short="calendars at Google",
    over="Google's own API",
    consent=Consent(server=GOOGLE, scopes=trial.SCOPES, how_long=HOW_LONG, try_it=try_it),
    more=(),
    look=changes.look,
    trouble={
        "not_permitted": "Google does not let Remit read these calendars. Sign in again, and agree "
        "to all of it.",
        "rate_limited": "Google asked Remit to wait.",
    },
)
