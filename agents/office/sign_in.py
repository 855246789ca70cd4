"""Logging in at the provider of OpenID Connect that the operator configured: whom of the users here
its identity is, if anybody.

That an administrator decides, by binding issuer and subject to a user. By a verified mail address
somebody is bound once, where the operator switched that on, and only who is nobody but the one
organisation's. Every refusal is a row of the ledger, and a sentence on the page for logging in.
"""

import hashlib
import logging
from typing import Any

from allauth.account.internal.flows.login import perform_login, record_authentication
from allauth.account.models import Login
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from agents.office.log_ins import record
from integrations.models import Membership, Organisation, SignInIdentity
from integrations.web import oidc
from integrations.web.oidc import Identity, SignInFailed

log = logging.getLogger(__name__)
SESSION_KEY = "oidc"
REFUSED, BOUND, CREATED = "login.refused", "login.bound", "login.user_created"
NOTED_SECONDS = 300  # one refusal of one identity is written down once in this time


def offered() -> str:
    """The provider's name on the page for logging in; empty where there is none."""
    return settings.SINGLE_SIGN_ON.name if settings.SINGLE_SIGN_ON else ""


@never_cache
@require_GET
def begin(request: HttpRequest) -> HttpResponseBase:
    """To the provider's page. A link leads here: the policy of pages lets no form lead away."""
    try:
        url, attempt = oidc.begin(_provider(), redirect=_redirect_url(request))
    except SignInFailed as error:
        return _refuse(request, error)
    request.session[SESSION_KEY] = {**attempt, "next": _local(request, request.GET.get("next", ""))}
    return redirect(url)


@never_cache
@require_GET
def finish(request: HttpRequest) -> HttpResponseBase:
    """Back from there. What was begun is forgotten first: a second answer finds nothing."""
    provider, attempt = _provider(), request.session.pop(SESSION_KEY, None)
    if attempt is not None:
        request.session.save()
    identity = None
    try:
        identity = oidc.finish(provider, request.GET.dict(), attempt)
        user = find_user(identity)
    except SignInFailed as error:
        return _refuse(request, error, identity)
    record_authentication(request, user, method="oidc", uid=identity.subject)
    answer: HttpResponseBase = perform_login(
        request, Login(user=user, redirect_url=attempt["next"] or None)
    )
    return answer


def find_user(identity: Identity) -> User:
    """The user whom this identity is bound to, or is now. Raises SignInFailed for others."""
    with transaction.atomic():
        row = (
            SignInIdentity.objects.select_related("user")
            .filter(issuer=identity.issuer, subject=identity.subject)
            .first()
        )
        user = row.user if row else _bind_by_mail(identity) or _create(identity)
    if not user.is_active:
        raise SignInFailed(
            gettext("Your account here is disabled. Ask an administrator."), code="user_disabled"
        )
    if not user.is_staff:
        raise SignInFailed(
            gettext("Your account here has no rights yet. Ask an administrator for a role."),
            code="user_without_rights",
        )
    SignInIdentity.objects.filter(user=user, issuer=identity.issuer).update(
        last_used_at=timezone.now()
    )
    return user


def _bind_by_mail(identity: Identity) -> User | None:
    """The one active user who has this address, who works for this organisation and no other, is no
    superuser, and is nobody at this provider yet."""
    if not (_configured().binds_by_mail and identity.mail):
        return None
    found = User.objects.filter(email__iexact=identity.mail, is_active=True)[:2]
    if len(found) != 1 or found[0].is_superuser:
        return None
    user = found[0]
    slugs = Membership.objects.filter(user=user).values_list("organisation__slug", flat=True)
    if list(slugs) != [_configured().organisation]:
        return None
    return user if _bind(identity, user, BOUND) else None


def _create(identity: Identity) -> User:
    """A new user without any right, where that is switched on."""
    organisation = Organisation.objects.filter(slug=_configured().organisation).first()
    if not _configured().creates_users or organisation is None:
        raise SignInFailed(
            gettext(
                "Nobody here is known by this log-in. Ask an administrator to bind it to your "
                "user: %(subject)s at %(issuer)s."
            )
            % {"subject": identity.subject, "issuer": identity.issuer},
            code="identity_unknown",
        )
    named = hashlib.sha256(f"{identity.issuer} {identity.subject}".encode()).hexdigest()[:12]
    user, is_new = User.objects.get_or_create(
        username=f"oidc-{named}", defaults={"email": identity.mail, "first_name": identity.name}
    )
    if is_new:
        user.set_unusable_password()
        user.save(update_fields=["password"])
        Membership.objects.create(user=user, organisation=organisation)
    if not is_new or not _bind(identity, user, CREATED):
        raise SignInFailed(
            gettext("This log-in was taken away. Ask an administrator."), code="identity_unknown"
        )
    return user


def _bind(identity: Identity, user: User, action_type: str) -> bool:
    """False where the user is somebody else at this provider, or was bound in this moment."""
    try:
        with transaction.atomic():
            SignInIdentity.objects.create(
                user=user,
                issuer=identity.issuer,
                subject=identity.subject,
                by_mail=action_type == BOUND,
            )
    except IntegrityError:
        return False
    about = {"operator": user.username, "issuer": identity.issuer, "subject": identity.subject}
    says = f"{user.username} may log in through a provider of identities"
    transaction.on_commit(lambda: record(action_type, says, about))
    return True


def _refuse(
    request: HttpRequest, error: SignInFailed, identity: Identity | None = None
) -> HttpResponseBase:
    log.warning("login.refused", extra={"code": error.code}, exc_info=error.__cause__)
    issuer, subject = _configured().issuer, identity.subject if identity else ""
    key = hashlib.sha256(f"{issuer} {subject} {error.code}".encode()).hexdigest()
    if cache.add(f"{REFUSED}:{key}", True, NOTED_SECONDS):
        about = {"issuer": issuer, "subject": subject, "reason": error.code}
        record(REFUSED, "A log-in through a provider of identities was refused", about)
    messages.error(request, str(error))
    return redirect(settings.LOGIN_URL)


def _configured() -> Any:
    """Raises Http404 where no provider is."""
    if settings.SINGLE_SIGN_ON is None:
        raise Http404("There is no such address.")
    return settings.SINGLE_SIGN_ON


def _provider() -> oidc.Provider:
    configured = _configured()
    return oidc.Provider(
        issuer=configured.issuer,
        client_id=configured.client_id,
        client_secret=configured.client_secret,
        name=configured.name,
    )


def _redirect_url(request: HttpRequest) -> str:
    path = reverse("oidc_finish")
    public: str = settings.PUBLIC_URL
    return f"{public.rstrip('/')}{path}" if public else request.build_absolute_uri(path)


def _local(request: HttpRequest, url: str) -> str:
    """The page that somebody came from, if it is one of ours."""
    hosts: Any = {request.get_host()}
    is_ours = url_has_allowed_host_and_scheme(url, hosts, require_https=request.is_secure())
    return url if is_ours else ""
