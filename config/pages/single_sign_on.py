"""Where people may log in beside a password: a provider of OpenID Connect, from the environment.

Nothing is offered unless issuer, client and secret are set. Each of the two switches widens who may
log in, so each is off unless somebody says so.
"""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from config.local.variables import Variables


@dataclass(frozen=True, kw_only=True)
class SingleSignOn:
    """`organisation` is the slug of the one that the provider vouches for."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    name: str
    organisation: str
    binds_by_mail: bool
    creates_users: bool


def read(env: Variables, *, is_web: bool) -> SingleSignOn | None:
    """None where none is configured, and in processes that log nobody in. Raises
    ImproperlyConfigured with a sentence for a part of it, and for an issuer that is none."""
    if not is_web:
        return None
    wanted = ("OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET")
    issuer, client_id, client_secret = (env.str(name, default="").strip() for name in wanted)
    given = (issuer, client_id, client_secret)
    if not (issuer or client_id):
        return None
    if missing := [name for name, value in zip(wanted, given, strict=True) if not value]:
        raise ImproperlyConfigured(
            f"Logging in by OpenID Connect needs {' and '.join(missing)} too."
        )
    parts = urlsplit(issuer)
    if parts.scheme != "https" or not parts.hostname or parts.query or parts.fragment:
        raise ImproperlyConfigured("OIDC_ISSUER must be an address that begins with https://.")
    return SingleSignOn(
        issuer=issuer,
        client_id=client_id,
        client_secret=client_secret,
        name=env.str("OIDC_NAME", default="") or parts.hostname,
        organisation=env.str("OIDC_ORGANISATION", default="") or "default",
        binds_by_mail=env.bool("OIDC_BIND_BY_MAIL", default=False),
        creates_users=env.bool("OIDC_CREATE_USERS", default=False),
    )
