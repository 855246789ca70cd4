"""Tenants, the accounts their users connected, and stable handles of provider things."""

import uuid
from collections.abc import Collection
from typing import Any
from zoneinfo import available_timezones

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models

from integrations.contracts import AccountRef
from integrations.ports.registry import BY_SOURCE, PROVIDER_OF, source_choices

FEATURE = RegexValidator(
    r"^[a-z0-9]+(?:-[a-z0-9]+)*\Z", "Use small letters, digits and hyphens, such as auto-drafts."
)
MIME_TYPE = RegexValidator(
    r"^[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*\Z",
    "Name a kind of file as its MIME type, such as application/pdf.",
)
MAX_WINDOW_DAYS = 3650
# What narrows what is read, and the kind of account that has such a thing.
NARROWED = {"project_keys": "issues", "mime_types": "files"}
# Their users have each source once: user and source name the data. Elsewhere the address does.
ONE_A_USER = ("data_service", "imports", "mcp")


def validate_time_zone(name: str) -> None:
    if name not in available_timezones():
        raise ValidationError(f"“{name}” is not a time zone. Use a name such as Europe/Stockholm.")


class Organisation(models.Model):
    """The tenant: nothing crosses from one organisation to another."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    slug = models.SlugField(
        unique=True,
        help_text="Names this organisation in web addresses and in the environment "
        "(DATA_SERVICES, WEBHOOK_SECRETS). The first one is “default”.",
    )
    name = models.CharField(max_length=200)
    paused = models.BooleanField(
        default=False, help_text="Stops every action of every account at once."
    )
    daily_digest = models.BooleanField(
        "a mail about each day",
        default=False,
        db_default=False,
        help_text="Each morning, to every user with a mailbox who does not say otherwise in their "
        "preferences: what was done, asked and refused the day before, and what waits.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.name


class Account(models.Model):
    """One source that one end user connected (Maya's mailbox, Maya's Jira). Its `kind` says what
    can be done with it, its `provider` who keeps it; both follow from the source and are stored to
    be asked for. A user may have several of one kind."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(
        Organisation, on_delete=models.PROTECT, related_name="accounts"
    )
    external_user_id = models.CharField(
        max_length=200, help_text="The user's id in your frontend and in the data service."
    )
    source = models.CharField(max_length=32, choices=source_choices)
    kind = models.CharField(max_length=16, editable=False)
    provider = models.CharField(max_length=32, editable=False)
    address = models.CharField(
        max_length=320, blank=True, help_text="The user's own address at this source."
    )
    display_name = models.CharField(max_length=200, blank=True)
    time_zone = models.CharField(max_length=64, default="UTC", validators=[validate_time_zone])
    paused = models.BooleanField(
        default=False,
        help_text="Stops every action of this account at once, and takes its address out of the "
        "directory of colleagues.",
    )
    features = ArrayField(
        models.CharField(max_length=50, validators=[FEATURE]),
        default=list,
        blank=True,
        help_text="The features this account has opted in to.",
    )
    window_days = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_WINDOW_DAYS)],
        verbose_name="first sync, in days",
        help_text="How far back a whole sync reads. Empty: 30 days of mail, events and messages, "
        "6 months of documents, 3 months of issues, and every issue that is open.",
    )
    project_keys = ArrayField(
        models.CharField(max_length=100),
        default=list,
        blank=True,
        verbose_name="projects",
        help_text="Only issues of these projects are read. Empty: all that the user sees.",
    )
    mime_types = ArrayField(
        models.CharField(max_length=127, validators=[MIME_TYPE]),
        default=list,
        blank=True,
        verbose_name="kinds of file",
        help_text="Only documents of these kinds are read, such as application/pdf. Empty: all.",
    )
    bcc_self = models.BooleanField(
        "a copy to oneself",
        default=False,
        db_default=False,
        help_text="The user gets a blind copy of each mail that Remit sends, and it is filed among "
        "the sent mail. When the connection breaks off at the end of a mail, the copy proves that "
        "it went out, and nobody has to find out. It lies in the inbox for a moment: a phone may "
        "announce it. For mail over IMAP and SMTP.",
    )
    listed_at = models.DateTimeField(
        null=True,
        editable=False,
        help_text="When its labels, folders, projects and people were last read from the provider.",
    )
    lists_due_at = models.DateTimeField(
        null=True, editable=False, help_text="When they are read again. Empty: at once."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["external_user_id", "source"]
        indexes = [models.Index(fields=["external_user_id", "source"], name="account_in_order")]
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "external_user_id", "source"],
                condition=models.Q(provider__in=ONE_A_USER),
                name="account_once",
                violation_error_message="This user has an account of this source already.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.display_name or self.external_user_id} · {self.get_source_display()}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        self._follow_source()
        super().save(*args, **kwargs)

    def clean(self) -> None:
        """Before constraints are checked: one of them looks at the provider."""
        self._follow_source()
        if self.source == "jira":
            self.project_keys = [key.upper() for key in self.project_keys]
        for name, kind in NARROWED.items():
            if getattr(self, name) and self.kind != kind:
                message = f"Only an account of {kind} is narrowed by this."
                raise ValidationError({name: message})
        if self.bcc_self and self.provider != "imap":
            raise ValidationError({"bcc_self": "Only mail that is sent over SMTP needs a copy."})

    def validate_constraints(self, exclude: Collection[str] | None = None) -> None:
        super().validate_constraints(exclude=set(exclude or ()) - {"provider"})

    def _follow_source(self) -> None:
        if self.source in BY_SOURCE:
            self.kind = BY_SOURCE[self.source].kind
            self.provider = PROVIDER_OF[self.source].name

    def ref(self) -> AccountRef:
        """This account as a value. Needs `organisation` loaded (select_related)."""
        return AccountRef(
            id=self.id,
            organisation_id=self.organisation_id,
            organisation_slug=self.organisation.slug,
            external_user_id=self.external_user_id,
            kind=self.kind,  # type: ignore[arg-type]  # choices are the registry's kinds
            provider=self.provider,
            source=self.source,
            address=self.address,
            display_name=self.display_name,
            time_zone=self.time_zone,
            paused=self.paused or self.organisation.paused,
            features=tuple(self.features),
            project_keys=tuple(self.project_keys),
            mime_types=tuple(self.mime_types),
            bcc_self=self.bcc_self,
        )


class ProviderResource(models.Model):
    """A stable handle of one thing at a provider, kept by `integrations.accounts.catalogue`. Holds
    no state: the provider has that, and is asked again before anything is done."""

    class Type(models.TextChoices):
        LABEL = "label", "Label"
        FOLDER = "folder", "Folder"
        PROJECT = "project", "Project"
        PERSON = "person", "Person"
        CALENDAR = "calendar", "Calendar"

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="resources")
    resource_type = models.CharField(max_length=32, choices=Type)
    external_id = models.CharField(max_length=500)
    name = models.CharField(max_length=500, blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "resource"
        constraints = [
            models.UniqueConstraint(
                fields=["account", "resource_type", "external_id"], name="resource_once"
            )
        ]

    def __str__(self) -> str:
        return self.name or f"{self.resource_type} {self.external_id}"
