"""Calendars at Microsoft, as people connect them: their users sign in at Microsoft's own page."""

from integrations.credentials.oauth import Tokens
from integrations.providers.connectable import Connectable, Consent, Found
from integrations.providers.microsoft.servers import HOW_LONG, MICROSOFT
from integrations.providers.microsoft_calendar import changes, trial


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
    title="Connect calendars at Microsoft",
    about="Calendars of a user in {organisation}, at Microsoft 365 or Outlook.com: their user "
    "signs in at Microsoft's own page, and Remit never sees the password.",
    in_short="calendars at Microsoft",
    over="Microsoft Graph",
    calls="Microsoft",
    consent=Consent(server=MICROSOFT, scopes=trial.SCOPES, how_long=HOW_LONG, try_it=try_it),
    more=(),
    look=changes.look,
    trouble={
        "not_permitted": "Microsoft does not let Remit read these calendars. Sign in again, and "
        "agree to all of it.",
        "rate_limited": "Microsoft asked Remit to wait.",
    },
)
