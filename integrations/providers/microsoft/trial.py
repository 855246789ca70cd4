"""What trials at Microsoft have in common: who signed in."""

from integrations.network.answers import parse
from integrations.providers.microsoft.answers import Who
from integrations.providers.microsoft.session import GraphSession
from integrations.providers.signed_in.trial import check_who


def who_is(session: GraphSession) -> Who:
    return parse(Who, session.get("/me", {"$select": "mail,userPrincipalName"}))


def check_user(who: Who, address: str) -> None:
    """The address has to be their mail address, or their user name there. Raises Rejected where
    somebody else signed in."""
    if who.name.casefold() != address.casefold():
        check_who(who.mail or who.name, address)
