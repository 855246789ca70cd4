"""Mailboxes at Microsoft, as people connect them: their users sign in at Microsoft's own page."""

from integrations.credentials.oauth import Tokens
from integrations.providers.connectable import Connectable, Consent, Found
from integrations.providers.microsoft.servers import HOW_LONG, MICROSOFT
from integrations.providers.microsoft_mail import changes, trial


def try_it(tokens: Tokens, address: str) -> Found:
    tried = trial.try_account(tokens, address=address)
    return Found(
        host=trial.HOST, abilities=tried.abilities, servers=tried.servers, mails=tried.mails
    )


CONNECTABLE = Connectable(
    what="mailbox",
    title="Connect a mailbox at Microsoft",
    about="A mailbox of a user in {organisation}, at Microsoft 365 or Outlook.com: its user "
    "signs in at Microsoft's own page, and Remit never sees the password.",
    in_short="a mailbox at Microsoft",
    over="Microsoft Graph",
    calls="Microsoft",
    consent=Consent(server=MICROSOFT, scopes=trial.SCOPES, how_long=HOW_LONG, try_it=try_it),
    more=(),
    look=changes.look,
    trouble={
        "not_permitted": "Microsoft does not let Remit read this mailbox. Sign in again, and agree "
        "to all of it.",
        "rate_limited": "Microsoft asked Remit to wait.",
    },
)
