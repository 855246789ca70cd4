"""What is asked for to connect an account of a user's own, as its provider wants it."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import (
    UnfoldAdminEmailInputWidget,
    UnfoldAdminPasswordWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from integrations.accounts import connectables
from integrations.accounts.connecting import Wish
from integrations.contracts import Source
from integrations.contracts.servers import Security, Server, read_server
from integrations.models import Organisation
from integrations.models.accounts import validate_time_zone
from integrations.providers.connectable import Asked, Given

SECURITY = [("", "As is usual at the port"), ("tls", "From the start"), ("starttls", "STARTTLS")]
NOBODY = "nobody"
SERVERS = ("imap", "smtp")
LONGEST = {"user_name": 320, "url": 500, "imap": 260, "smtp": 260, "projects": 2000}


class ConnectForm(forms.Form):
    """What is asked for everywhere, and what the provider of this source wants to know."""

    user_id = forms.CharField(
        label="User",
        max_length=200,
        widget=UnfoldAdminTextInputWidget({"list": "known-users"}),
        help_text="Whose it is: choose one, or give the id of a new one in your frontend.",
    )
    address = forms.CharField(label="Address", max_length=320, widget=UnfoldAdminEmailInputWidget)
    password = forms.CharField(
        max_length=1000,
        strip=False,
        widget=UnfoldAdminPasswordWidget({"autocomplete": "new-password"}),
    )
    display_name = forms.CharField(
        label="Name",
        max_length=200,
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text="As it stands beside the address in mail and invitations.",
    )
    time_zone = forms.CharField(
        max_length=64,
        initial="UTC",
        widget=UnfoldAdminTextInputWidget,
        validators=[validate_time_zone],
        help_text="A name such as Europe/Stockholm.",
    )

    def __init__(self, source: Source, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.source, self.wanted = source, connectables.of(source)
        self.fields["address"].help_text = self.wanted.address_hint
        if self.wanted.consent is not None:
            del self.fields["password"]
        else:
            self.fields["password"].label = self.wanted.secret.label
            self.fields["password"].help_text = self.wanted.secret.hint
        if not self.wanted.has_display_name:
            del self.fields["display_name"]
        everywhere = list(self.fields)
        self._first = self._add(self.wanted.first)
        self._more = self._add(self.wanted.more)
        self._basic = [everywhere[0], *self._first, *everywhere[1:]]

    def _add(self, asked: Sequence[Asked]) -> list[str]:
        before = set(self.fields)
        for one in asked:
            placeholder = {"placeholder": one.placeholder} if one.placeholder else {}
            self.fields[one.name] = forms.CharField(
                label=one.label,
                max_length=LONGEST.get(one.name, 2000),
                required=bool(one.missing),
                widget=UnfoldAdminTextInputWidget(placeholder),
                help_text=one.hint,
            )
            if one.name in SERVERS:
                self.fields[f"{one.name}_security"] = forms.ChoiceField(
                    label="Its encryption",
                    choices=SECURITY,
                    required=False,
                    widget=UnfoldAdminSelectWidget,
                )
        return [name for name in self.fields if name not in before]

    def basic(self) -> list[forms.BoundField]:
        return [self[name] for name in self._basic]

    def servers(self) -> list[forms.BoundField]:
        return [self[name] for name in self._more]

    def are_servers_named(self) -> bool:
        return any(one.data or one.errors for one in self.servers())

    def clean_imap(self) -> Server | None:
        return self._server("imap", 993)

    def clean_smtp(self) -> Server | None:
        return self._server("smtp", 465)

    def _server(self, name: str, usual_port: int) -> Server | None:
        text: str = self.cleaned_data[name]
        wanted = self.data.get(f"{name}_security")
        security: Security | None = wanted if wanted in ("tls", "starttls") else None
        try:
            found = read_server(text, usual_port=usual_port, security=security) if text else None
        except ValueError as error:
            raise ValidationError(str(error)) from error
        return found

    def clean_readers(self) -> tuple[str, ...] | None:
        text: str = self.cleaned_data["readers"].strip()
        if text.lower() in ("", NOBODY):
            return () if text else None
        return _listed(text)

    def clean_projects(self) -> tuple[str, ...]:
        return _listed(self.cleaned_data["projects"])

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        if given.get("smtp") and not given.get("imap"):
            self.add_error("imap", "Name the mail server, too.")
        return given

    def wish(self, organisation: Organisation) -> Wish:
        given = self.cleaned_data
        return Wish(
            organisation_id=organisation.id,
            user_id=given["user_id"],
            address=given["address"],
            user_name=given.get("user_name") or given["address"],
            display_name=given.get("display_name", ""),
            time_zone=given["time_zone"],
            source=self.source,
        )

    def given(self) -> Given:
        given = self.cleaned_data
        return Given(
            address=given["address"],
            user_name=given.get("user_name") or given["address"],
            secret=given["password"],
            **{name: given[name] for name in self.wanted.asked if name != "user_name"},
        )


def _listed(text: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in text.split(",") if one.strip())
