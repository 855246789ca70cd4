"""The forms for passkeys, in which django-allauth leaves one label in English."""

from typing import Any

from allauth.mfa.webauthn.forms import AddWebAuthnForm, EditWebAuthnForm
from django.utils.translation import gettext


class AddPasskey(AddWebAuthnForm):  # type: ignore[misc]  # allauth is untyped
    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.fields["name"].label = gettext("Name")


class EditPasskey(EditWebAuthnForm):  # type: ignore[misc]  # allauth is untyped
    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.fields["name"].label = gettext("Name")
