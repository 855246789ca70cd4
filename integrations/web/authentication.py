"""Who calls the API: a service token, or an operator who is logged in to the admin."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.utils import timezone
from django.utils.translation import gettext_noop
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import (
    AuthenticationFailed,
    NotAuthenticated,
    NotFound,
    PermissionDenied,
)
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from integrations.database.caches import quick
from integrations.models import ServiceToken
from integrations.models.tokens import PREFIX, digest
from integrations.web import second_factor, staff

if TYPE_CHECKING:  # DRF's views load this module through the settings: it would be a circle
    from rest_framework.views import APIView

OWN_CONSOLE = "agents.use_own_console"
# What somebody may do as the user that they are themself.
OWN_SCOPES = frozenset(
    scope.value
    for scope in (
        ServiceToken.Scope.CHAT,
        ServiceToken.Scope.APPROVALS,
        ServiceToken.Scope.LEARNING,
    )
)
# Which right of the admin gives a session which scope. MCP is for other agents alone.
RIGHTS: Mapping[str, str] = {
    ServiceToken.Scope.CHAT: "agents.use_console",
    ServiceToken.Scope.SYNC: "knowledge.change_syncrun",
    ServiceToken.Scope.ACCOUNTS: "integrations.change_account",
    ServiceToken.Scope.APPROVALS: "guardrails.change_approval",
    ServiceToken.Scope.PAST_MAIL: "agents.add_pastrun",
    ServiceToken.Scope.AUDIT_READ: "audit.view_executedagentaction",
    ServiceToken.Scope.POLICY: "guardrails.view_allowedaction",
    ServiceToken.Scope.LEARNING: "guardrails.change_learnedpattern",
    ServiceToken.Scope.WEBHOOKS: "integrations.view_delivery",
}
USED_EVERY = timedelta(minutes=1)  # last_used_at is written at most this often


@dataclass(frozen=True, kw_only=True)
class Caller:
    """What a request may do: `request.auth` of every API view.

    `principal` names the caller in the ledger. Empty `user_ids` means every user of the
    organisation, and of no other.
    """

    organisation_id: UUID
    organisation_slug: str
    principal: str
    scopes: frozenset[str]
    user_ids: frozenset[str]
    throttle_key: str

    def allows_user(self, external_user_id: str) -> bool:
        """Whether the caller may act for this user. No id holds a NUL: PostgreSQL has none."""
        if "\0" in external_user_id:
            return False
        return not self.user_ids or external_user_id in self.user_ids


def caller_of(request: Request) -> Caller:
    """Who calls. For views behind IsAuthenticated."""
    if not isinstance(request.auth, Caller):
        raise NotAuthenticated
    return request.auth


def caller_for(request: Request, external_user_id: str) -> Caller:
    """The caller, when it may act for this user. Another user's id is as unknown as none."""
    caller = caller_of(request)
    if not caller.allows_user(external_user_id):
        raise NotFound("There is no such user.", code="unknown_user")
    return caller


def caller_by_token(token: str) -> Caller | None:
    """Whose token this is; None for one that is unknown, expired or revoked. One query; the
    digest is the look-up key, so that no comparison of secrets happens in Python."""
    token = token.strip()
    if not token.startswith(PREFIX):
        return None
    now = timezone.now()
    rows = ServiceToken.objects.select_related("organisation")
    row = rows.filter(digest=digest(token), revoked_at=None).first()
    if row is None or (row.expires_at and row.expires_at <= now):
        return None
    if row.last_used_at is None or now - row.last_used_at > USED_EVERY:
        ServiceToken.objects.filter(pk=row.pk).update(last_used_at=now)
    return Caller(
        organisation_id=row.organisation_id,
        organisation_slug=row.organisation.slug,
        principal=f"token:{row.id}",
        scopes=frozenset(row.scopes),
        user_ids=frozenset(row.user_ids),
        throttle_key=str(row.id),
    )


class ServiceTokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer remit_…`."""

    def authenticate(self, request: Request) -> tuple[AnonymousUser, Caller] | None:
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() != "bearer":
            return None
        caller = caller_by_token(token)
        if caller is None:
            raise AuthenticationFailed("This token is unknown, expired or revoked.")
        return TokenHolder(), caller

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class TokenHolder(AnonymousUser):
    """A caller that is no Django user, but is authenticated."""

    @property
    def is_authenticated(self) -> bool:  # type: ignore[override]  # a token is proof enough
        return True


class OperatorAuthentication(SessionAuthentication):
    """A staff session of the admin (with CSRF token): what the chat console uses. It has the
    scopes that the person has the rights to (RIGHTS). Who is a user of the agent themself acts as
    that user alone, and needs no right to all users.

    The organisation is the one of theirs that the X-Remit-Organisation header names, else the
    one that pages begin with.
    """

    def authenticate(self, request: Request) -> tuple[User, Caller] | None:
        found = super().authenticate(request)
        if found is None:
            return None
        user = found[0]
        if not (isinstance(user, User) and user.is_staff):
            raise AuthenticationFailed("Only staff may use the API with a session.")
        if second_factor.is_missing(user):
            raise AuthenticationFailed("Set up a second factor in the admin first.")
        slug = request.headers.get("X-Remit-Organisation", "")
        organisation = None if "\0" in slug else staff.find_organisation(user, slug)
        if organisation is None:
            raise AuthenticationFailed("There is no such organisation.")
        scopes = frozenset(scope for scope, right in RIGHTS.items() if user.has_perm(right))
        own = staff.own_user_id(user, organisation.id)
        if own and user.has_perm(OWN_CONSOLE):
            scopes |= OWN_SCOPES
        return user, Caller(
            organisation_id=organisation.id,
            organisation_slug=organisation.slug,
            principal=f"user:{own}" if own else f"operator:{user.get_username()}",
            scopes=scopes,
            user_ids=frozenset({own} if own else ()),
            throttle_key=f"operator-{user.pk}",
        )


class TokenThrottle(SimpleRateThrottle):
    """Requests per caller; the rate is the setting TOKEN_RATE."""

    scope = "token"
    cache: Any = quick  # one statement more for every request would be too many

    def get_cache_key(self, request: Request, view: "APIView") -> str | None:
        if not isinstance(request.auth, Caller):
            return None
        return f"throttle:{request.auth.organisation_id}:{request.auth.throttle_key}"


class LacksScope(PermissionDenied):
    """Who calls is known, and may not do this. `template` and `values`: how it is said."""

    template = gettext_noop("This token or login lacks the scope “%(scope)s”.")

    def __init__(self, scope: str) -> None:
        self.values = {"scope": scope}
        super().__init__(self.template % self.values)


def HasScope(scope: str) -> type[BasePermission]:  # noqa: N802  # makes a class
    """For `permission_classes`: the caller holds `scope`."""

    class Scoped(BasePermission):
        needs = scope  # said in the schema of the API (integrations.web.schema)

        def has_permission(self, request: Request, view: "APIView") -> bool:
            """False for who is nobody. Raises LacksScope."""
            if not isinstance(request.auth, Caller):
                return False
            if scope not in request.auth.scopes:
                raise LacksScope(scope)
            return True

    return Scoped


class ServiceTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = ServiceTokenAuthentication
    name = "serviceToken"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A token from the admin."}


class OperatorScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = OperatorAuthentication
    name = "operatorSession"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME}
