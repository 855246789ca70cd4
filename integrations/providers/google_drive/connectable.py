"""Files at Google Drive, as people connect them: their users sign in at Google's own page."""

from integrations.credentials.oauth import Tokens
from integrations.providers.connectable import Connectable, Consent, Found
from integrations.providers.google.servers import GOOGLE, HOW_LONG
from integrations.providers.google_drive import changes, trial


def try_it(tokens: Tokens, address: str) -> Found:
    tried = trial.try_account(tokens, address=address)
    return Found(
        host=trial.HOST, abilities=tried.abilities, servers=tried.servers, folders=tried.folders
    )


CONNECTABLE = Connectable(
    what="folder",
    title="Connect files at Google Drive",
    about="Files of a user in {organisation}, at Google Drive: their user signs in at Google's own "
    "page, and Remit never sees the password.",
    in_short="files at Google Drive",
    over="Google's own API",
    consent=Consent(server=GOOGLE, scopes=trial.SCOPES, how_long=HOW_LONG, try_it=try_it),
    more=(),
    look=changes.look,
    trouble={
        "not_permitted": "Google does not let Remit work on these files. Sign in again, and agree "
        "to all of it.",
        "rate_limited": "Google asked Remit to wait.",
    },
)
