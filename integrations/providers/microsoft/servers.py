"""Where Microsoft's users sign in, and what Remit asks them for. Pure."""

from collections.abc import Sequence

from integrations.credentials.oauth import AuthorizationServer

# “common” takes accounts of organisations and of private people.
_SIGN_IN = "https://login.microsoftonline.com/common"
MICROSOFT = AuthorizationServer(
    name="microsoft",
    label="Microsoft",
    issuer=f"{_SIGN_IN}/v2.0",
    authorize=f"{_SIGN_IN}/oauth2/v2.0/authorize",
    token=f"{_SIGN_IN}/oauth2/v2.0/token",
    device=f"{_SIGN_IN}/oauth2/v2.0/devicecode",
    more={"prompt": "select_account"},
)
GRAPH_API = "https://graph.microsoft.com/v1.0"
_SCOPE = "https://graph.microsoft.com/"
CHANGE_MAIL, SEND_MAIL = f"{_SCOPE}Mail.ReadWrite", f"{_SCOPE}Mail.Send"
CHANGE_CALENDARS = f"{_SCOPE}Calendars.ReadWrite"
CHANGE_FILES = f"{_SCOPE}Files.ReadWrite"
WHO = f"{_SCOPE}User.Read"
# Without it there is no refresh token; what was granted does not name it.
LASTING = "offline_access"
HOW_LONG = (
    "How long the consent lasts: until somebody takes it back, or 90 days after it was used last; "
    "Remit uses it all the time. An organisation may ask its users to sign in more often, and may "
    "let only administrators agree."
)


def missing(wanted: Sequence[str], granted: Sequence[str]) -> tuple[str, ...]:
    """What the user did not agree to. Microsoft writes the same scope with and without its site,
    in small letters or not. An answer that names no scopes granted what was asked for (RFC 6749,
    5.1)."""
    given = {_bare(one) for one in granted}
    return tuple(one for one in wanted if given and one != LASTING and _bare(one) not in given)


def _bare(scope: str) -> str:
    return scope.rpartition("/")[2].casefold()
