"""Who works in the admin or the console has a second factor, where the setting asks for one."""

import base64
from collections.abc import Callable
from typing import Any

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.utils import is_mfa_enabled
from cryptography.fernet import Fernet
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext, gettext_noop

from integrations.web.languages import language_for, speaking

SENTENCE = gettext_noop(
    "Set up a second factor first: an authenticator app, or a passkey. Nothing else is open to "
    "you until then."
)


class SecondFactors(DefaultMFAAdapter):  # type: ignore[misc]  # allauth is untyped
    """What apps and recovery codes are derived from is encrypted in the database."""

    def encrypt(self, text: str) -> str:
        return _box().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return _box().decrypt(encrypted_text.encode()).decode()


def _box() -> Fernet:
    key = salted_hmac("integrations.web.second_factor", "", algorithm="sha256").digest()
    return Fernet(base64.urlsafe_b64encode(key))


def is_missing(user: Any) -> bool:
    """Whether they have to set up a second factor before anything else. Who has one was asked for
    it when they logged in."""
    if not (settings.SECOND_FACTOR and user.is_authenticated):
        return False
    return not is_mfa_enabled(user)


class SecondFactorMiddleware:
    """Sends people without one to where it is set up, from every page of the admin and the
    console. The API asks `is_missing` itself, because it answers in another way."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self.guarded = (reverse("admin:index"), reverse("console"))
        self.open = reverse("admin:logout")

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        is_guarded = request.path.startswith(self.guarded) and request.path != self.open
        if is_guarded and is_missing(request.user):
            with speaking(language_for(request)):
                messages.warning(request, gettext(SENTENCE))
            return redirect("mfa_index")
        return self.get_response(request)
