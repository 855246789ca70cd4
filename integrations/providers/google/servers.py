"""Where Google's users sign in, and what Remit asks them for. Pure."""

from collections.abc import Sequence

from integrations.credentials.oauth import AuthorizationServer

# Without the two, Google gives no refresh token to somebody who agreed before.
GOOGLE = AuthorizationServer(
    name="google",
    label="Google",
    issuer="https://accounts.google.com",
    authorize="https://accounts.google.com/o/oauth2/v2/auth",
    token="https://oauth2.googleapis.com/token",  # noqa: S106  # an address
    more={"access_type": "offline", "prompt": "consent"},
)
MODIFY_MAIL = "https://www.googleapis.com/auth/gmail.modify"
MAIL_API = "https://gmail.googleapis.com/gmail/v1"
_CALENDAR = "https://www.googleapis.com/auth/calendar"
READ_CALENDARS = f"{_CALENDAR}.calendarlist.readonly"
READ_EVENTS = f"{_CALENDAR}.events.readonly"
WRITE_OWN_EVENTS = f"{_CALENDAR}.events.owned"
CALENDAR_API = "https://www.googleapis.com/calendar/v3"
# Google's narrower scope reaches no file that the user made elsewhere.
CHANGE_DRIVE = "https://www.googleapis.com/auth/drive"
DRIVE_API = "https://www.googleapis.com/drive/v3"
DOCS_API = "https://docs.googleapis.com/v1"
HOW_LONG = (
    "How long the consent lasts, Google decides by the kind of project that the client belongs to. "
    "Internal to a Workspace: until somebody takes it back. Published and verified: the same; "
    "unused for six months, it ends. In testing: seven days, then the user signs in again. A "
    "changed password ends a consent to mail."
)


def missing(wanted: Sequence[str], granted: Sequence[str]) -> tuple[str, ...]:
    """What the user did not agree to: Google's page lets them leave out each part. An answer that
    names no scopes granted what was asked for (RFC 6749, 5.1)."""
    return tuple(one for one in wanted if granted and one not in granted)
