"""Logging in to the admin and the console: who tries too often waits, and the ledger says so.

The forms, the second factor and the counting are django-allauth's; here is what is Remit's own.
"""

import hashlib
import logging
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import get_authentication_records
from allauth.core import context
from allauth.core.internal import ratelimit
from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from audit.contracts import LEDGER_TENANT, LedgerError
from audit.ledger import events
from integrations.web import sessions

log = logging.getLogger(__name__)
ACTION_TYPE = "login.locked"
LOGGED_IN = "login.succeeded"
RENEWED = "login.password_changed"
ENDED = "login.ended"
BY_NAME = "login_failed_of_name"  # in ACCOUNT_RATE_LIMITS
NOTED_SECONDS = 300  # a lock is written down once in this time
SENTENCE = gettext_noop(
    "Too many wrong log-ins. Wait five minutes and try again; a passkey works at once. This was "
    "written into the ledger."
)


class LogIns(DefaultAccountAdapter):  # type: ignore[misc]  # allauth is untyped
    """Wrong log-ins are counted by the address, by name and address together, and, far higher, by
    name. So a stranger who guesses from elsewhere does not keep the owner of a name out for the
    asking, and no lock lasts for ever. Passkeys have no secret to guess, and are not locked by
    name at all."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False  # staff is added in the admin

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        try:
            super().pre_authenticate(request, **credentials)
            self._of_name = ratelimit.consume(
                request, app="allauth.account", action=BY_NAME, key=_name(credentials)
            )
            if not self._of_name:
                self._login_failed_rl_usage.rollback()
                raise self.validation_error("too_many_login_attempts")
        except ValidationError as error:
            _note(_name(credentials), self.get_client_ip(request))
            raise ValidationError(gettext(SENTENCE), code="too_many_login_attempts") from error

    def post_login(self, request: HttpRequest, user: User, **hooked: Any) -> HttpResponseBase:
        """Whichever way somebody came in, after the last of their factors."""
        used = [one["method"] for one in get_authentication_records(request, user)]
        about = {"operator": user.username, "address": self.get_client_ip(request), "by": used}
        record(LOGGED_IN, f"{user.username} logged in", about)
        sessions.begin(request)
        answer: HttpResponseBase = super().post_login(request, user, **hooked)
        return answer

    def set_password(self, user: User, password: str) -> None:
        """By themself, on the page for it: one row of the ledger. It logs them out elsewhere."""
        super().set_password(user, password)
        sessions.end_others(user, context.request.session if context.request else None)
        record(RENEWED, f"{user.username} chose a new password", {"operator": user.username})

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("console-you")

    def get_client_ip(self, request: HttpRequest) -> str:
        """Of a proxy that is trusted, the address that it speaks for."""
        address = str(request.META.get("REMOTE_ADDR", ""))
        if address in settings.TRUSTED_PROXIES:
            named = request.headers.get("X-Forwarded-For", "").split(",")
            return named[-1].strip() or address
        return address

    def _rollback_login_failed_rl_usage(self) -> None:
        super()._rollback_login_failed_rl_usage()
        self._of_name.rollback()

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        return f"{_name(credentials)} {self.get_client_ip(request)}"


def log_out(request: HttpRequest, id: str) -> bool:
    """Somebody logs out in another browser of theirs, or, without its `id`, in all others: one row
    of the ledger. False where they were logged in there no more."""
    user: Any = request.user
    ended = sessions.end_one(user, id) if id else sessions.end_others(user, request.session)
    if ended:
        about = {"operator": user.username, "browsers": list(ended)}
        record(ENDED, f"{user.username} logged out in other browsers", about)
    return bool(ended)


def _name(credentials: dict[str, Any]) -> str:
    return str(credentials.get("username", "")).lower()


def _note(name: str, address: str) -> None:
    """One row of the ledger for each name and address in a while: who floods the log-in does not
    flood the ledger. What was typed is named only where it is a name that there is: people type
    passwords into the wrong box."""
    key = hashlib.sha256(f"{name} {address}".encode()).hexdigest()
    if not cache.add(f"{ACTION_TYPE}:{key}", True, NOTED_SECONDS):
        return
    known = User.objects.filter(username__iexact=name).values_list("username", flat=True).first()
    record(
        ACTION_TYPE,
        f"Too many wrong log-ins as {known or 'somebody who is not known'}",
        {"operator": known or "", "address": address, "seconds": NOTED_SECONDS},
    )


def record(action_type: str, says: str, about: dict[str, Any]) -> None:
    """One row of the ledger about logging in, in words and in parts. Where the ledger takes none
    people are let in all the same, or nobody could mend it."""
    try:
        events.record(action_type, tenant_id=LEDGER_TENANT, payload={"description": says, **about})
    except LedgerError:
        log.exception("login.not_recorded")
