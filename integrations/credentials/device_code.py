"""Signing in with a code that the user types in at the provider's page, on a device of their own
(RFC 8628): for a machine without a browser and without a public address."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic, sleep

from pydantic import BaseModel, Field

from integrations.credentials import oauth
from integrations.credentials.oauth import AuthorizationServer, Client, Tokens
from integrations.exceptions import Malformed, NotPermitted, RateLimited, Rejected, Unavailable

GRANT = "urn:ietf:params:oauth:grant-type:device_code"
SLOWER_BY = 5.0  # RFC 8628, 3.5
LONGEST_PAUSE = 60.0
# The second of each is Microsoft's own.
DECLINED = frozenset({"access_denied", "authorization_declined"})
ENDED = frozenset({"expired_token", "bad_verification_code"})


@dataclass(frozen=True, kw_only=True)
class DeviceCode:
    """`user_code` is typed in at `page`, within `seconds`."""

    secret: str = field(repr=False)
    user_code: str
    page: str
    seconds: float
    every: float


class _Answer(BaseModel):
    device_code: str = Field(min_length=1, max_length=20_000)
    user_code: str = Field(min_length=1, max_length=50)
    verification_uri: str = Field(max_length=500, pattern="^https://[!-~]+$")
    expires_in: float = Field(gt=0, le=86_400)
    interval: float = Field(default=5, ge=1, le=60)


def ask(server: AuthorizationServer, client: Client, *, scopes: Sequence[str]) -> DeviceCode:
    """Raises ProviderError; NotPermitted where the server gives no such codes."""
    if not server.device:
        raise NotPermitted(
            f"{server.label} lets nobody agree to this with a code. Sign in with a browser."
        )
    form = {"scope": " ".join(scopes)}
    said = oauth.parse(_Answer, oauth.ask(server, client, form, url=server.device))
    if not said.user_code.isprintable():
        raise Malformed("a code that nobody can type in")
    return DeviceCode(
        secret=said.device_code,
        user_code=said.user_code,
        page=said.verification_uri,
        seconds=said.expires_in,
        every=said.interval,
    )


def wait(server: AuthorizationServer, client: Client, code: DeviceCode) -> Tokens:
    """Until the user has signed in. Raises ProviderError, Rejected with a sentence for a no and
    for nobody who came in time."""
    until, pause = monotonic() + code.seconds, code.every
    form = {"grant_type": GRANT, "device_code": code.secret}
    while monotonic() + pause < until:
        sleep(pause)
        try:
            return oauth.first_tokens(server, oauth.ask(server, client, form))
        except Unavailable:
            pause = min(pause * 2, LONGEST_PAUSE)
        except RateLimited as error:
            pause = max(pause, error.retry_after or LONGEST_PAUSE)
        except Rejected as error:
            if error.said == "slow_down":
                pause += SLOWER_BY
            elif error.said in DECLINED:
                raise Rejected(
                    f"At {server.label} somebody said no. Nothing was connected."
                ) from error
            elif error.said in ENDED:
                break
            elif error.said != "authorization_pending":
                raise
    raise Rejected(f"Nobody signed in at {server.label} in time. Begin again.")
