"""What is asked for to connect an account of a user's own: one form for each kind of server."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import (
    UnfoldAdminEmailInputWidget,
    UnfoldAdminPasswordWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from integrations.accounts import trials
from integrations.accounts.connecting import Wish
from integrations.accounts.trials import Found
from integrations.contracts import ConnectedSource
from integrations.models import Organisation
from integrations.models.accounts import validate_time_zone
from integrations.providers.github import trial as github
from integrations.providers.imap.servers import MailServers, Security, Server, read_server
from integrations.providers.jira import trial as jira
from integrations.providers.webdav import trial as files

SECURITY = [("", "As is usual at the port"), ("tls", "From the start"), ("starttls", "STARTTLS")]
NOBODY = "nobody"
BASIC = ("user_id", "address", "password", "display_name", "time_zone")


class ConnectForm(forms.Form):
    """What is asked for everywhere. The other fields name servers, where they are not found."""

    source: ClassVar[ConnectedSource]
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
        help_text="Most providers want an app password, made in the security settings of the "
        "account there. It is sealed: this page cannot show it again.",
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
    user_name = forms.CharField(
        max_length=320,
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text="At the server, where it is not the address.",
    )

    def basic(self) -> list[forms.BoundField]:
        return [self[name] for name in BASIC if name in self.fields]

    def servers(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name not in BASIC]

    def are_servers_named(self) -> bool:
        return any(one.data or one.errors for one in self.servers())

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

    def try_it(self, wish: Wish) -> Found:
        """Raises ProviderError with a sentence."""
        raise NotImplementedError


class MailboxForm(ConnectForm):
    source = "imap"
    imap = forms.CharField(
        label="Mail server (IMAP)",
        max_length=260,
        required=False,
        widget=UnfoldAdminTextInputWidget({"placeholder": "imap.example.org:993"}),
        help_text="Empty: found by the address.",
    )
    imap_security = forms.ChoiceField(
        label="Its encryption",
        choices=SECURITY,
        required=False,
        widget=UnfoldAdminSelectWidget,
    )
    smtp = forms.CharField(
        label="Server to send with (SMTP)",
        max_length=260,
        required=False,
        widget=UnfoldAdminTextInputWidget({"placeholder": "smtp.example.org:465"}),
        help_text="Only beside a mail server; empty: mail is read and not sent.",
    )
    smtp_security = forms.ChoiceField(
        label="Its encryption",
        choices=SECURITY,
        required=False,
        widget=UnfoldAdminSelectWidget,
    )

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

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        if given.get("smtp") and not given.get("imap"):
            self.add_error("imap", "Name the mail server, too.")
        return given

    def try_it(self, wish: Wish) -> Found:
        given = self.cleaned_data
        named = MailServers(imap=given["imap"], smtp=given["smtp"]) if given["imap"] else None
        return trials.try_mailbox(
            wish.address, named, user_name=wish.user_name, secret=given["password"]
        )


class JmapForm(ConnectForm):
    source = "jmap"
    url = forms.CharField(
        label="Mail server (JMAP)",
        max_length=500,
        required=False,
        widget=UnfoldAdminTextInputWidget({"placeholder": "https://jmap.example.org"}),
        help_text="Empty: found by the address.",
    )

    def try_it(self, wish: Wish) -> Found:
        given = self.cleaned_data
        return trials.try_jmap(
            wish.address, given["url"], user_name=wish.user_name, secret=given["password"]
        )


class CalendarsForm(ConnectForm):
    source = "caldav"
    url = forms.CharField(
        label="Calendar server (CalDAV)",
        max_length=500,
        required=False,
        widget=UnfoldAdminTextInputWidget({"placeholder": "https://dav.example.org"}),
        help_text="Empty: found by the address.",
    )

    def try_it(self, wish: Wish) -> Found:
        given = self.cleaned_data
        return trials.try_calendars(
            wish.address, given["url"], user_name=wish.user_name, secret=given["password"]
        )


class FilesForm(ConnectForm):
    source = "webdav"
    url = forms.CharField(
        label="Folder (WebDAV)",
        max_length=500,
        widget=UnfoldAdminTextInputWidget({"placeholder": "https://cloud.example.org/dav/maya/"}),
        help_text=files.HOW,
    )
    readers = forms.CharField(
        label="Who else reads it",
        max_length=2000,
        required=False,
        widget=UnfoldAdminTextInputWidget({"placeholder": NOBODY}),
        help_text=f"Mail addresses with commas between them, or “{NOBODY}”. Empty: you do not "
        "know. Then nothing is written there, unless the server itself tells.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["address"].help_text = "The user's mail address."
        del self.fields["display_name"]

    def basic(self) -> list[forms.BoundField]:
        return [self["user_id"], self["url"], self["readers"], *super().basic()[1:]]

    def servers(self) -> list[forms.BoundField]:
        return [self["user_name"]]

    def clean_readers(self) -> tuple[str, ...] | None:
        text: str = self.cleaned_data["readers"].strip()
        if text.lower() in ("", NOBODY):
            return () if text else None
        return tuple(one.strip() for one in text.split(",") if one.strip())

    def try_it(self, wish: Wish) -> Found:
        given = self.cleaned_data
        return trials.try_files(
            given["url"],
            readers=given["readers"],
            user_name=wish.user_name,
            secret=given["password"],
        )


class ConsentForm(ConnectForm):
    """An account whose user signs in at its provider's own page: no password is asked for here."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["password"], self.fields["user_name"]


class GoogleMailForm(ConsentForm):
    source = "google_mail"


class IssuesForm(ConnectForm):
    """An issue tracker: a token in place of a password."""

    projects = forms.CharField(
        label="Only in these projects",
        max_length=2000,
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text="With commas between them. Empty: all that the token shows.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"].label = "Token"
        self.fields["address"].help_text = "The user's mail address."
        del self.fields["display_name"]

    def clean_projects(self) -> tuple[str, ...]:
        names = self.cleaned_data["projects"].split(",")
        return tuple(one.strip() for one in names if one.strip())


class GitHubForm(IssuesForm):
    source = "github_issues"
    url = forms.CharField(
        label="GitHub Enterprise Server",
        max_length=500,
        required=False,
        widget=UnfoldAdminTextInputWidget({"placeholder": "https://github.example.org"}),
        help_text="Empty: github.com.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"].help_text = github.HOW
        self.fields["projects"].label = "Only in these repositories"
        self.fields["projects"].widget.attrs["placeholder"] = "owner/name, owner/other"
        del self.fields["user_name"]

    def try_it(self, wish: Wish) -> Found:
        given = self.cleaned_data
        return trials.try_github(given["url"], only=given["projects"], secret=given["password"])


class JiraForm(IssuesForm):
    source = "jira_issues"
    url = forms.CharField(
        label="Jira",
        max_length=500,
        widget=UnfoldAdminTextInputWidget({"placeholder": "https://acme.atlassian.net"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"].help_text = jira.HOW
        self.fields["projects"].widget.attrs["placeholder"] = "PLAN, OPS"
        del self.fields["user_name"]

    def basic(self) -> list[forms.BoundField]:
        return [self["user_id"], self["url"], *super().basic()[1:]]

    def servers(self) -> list[forms.BoundField]:
        return [self["projects"]]

    def try_it(self, wish: Wish) -> Found:
        given = self.cleaned_data
        return trials.try_jira(
            given["url"],
            only=given["projects"],
            user_name=wish.user_name,
            secret=given["password"],
        )


FORMS: Mapping[ConnectedSource, type[ConnectForm]] = {
    "imap": MailboxForm,
    "jmap": JmapForm,
    "google_mail": GoogleMailForm,
    "caldav": CalendarsForm,
    "webdav": FilesForm,
    "github_issues": GitHubForm,
    "jira_issues": JiraForm,
}
