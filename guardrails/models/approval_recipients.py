"""Who hears that an action waits, and each message to them."""

import uuid
from typing import ClassVar
from zoneinfo import available_timezones

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, validate_email
from django.db import models
from django.db.models import Q
from django.utils.translation import get_language_info

from guardrails.models.approvals import Approval
from integrations.models import Account, Organisation
from integrations.web.languages import LANGUAGES

MOST_MINUTES = 7 * 24 * 60


def spoken_choices() -> list[tuple[str, str]]:
    return [(tag, str(get_language_info(tag)["name_local"])) for tag in LANGUAGES]


class ApprovalRecipient(models.Model):
    """Somebody, or a channel, that hears what waits for a person. It decides nothing: who decides
    is said by the rights of the person who logs in.

    The address of a webhook or of a browser is a secret: it is sealed
    (`integrations.credentials.sealing`), shown nowhere, and the web process cannot open it.
    `address` then names its host alone.

    A browser is somebody's own, and `person` hears there of what they may decide themself.
    """

    class Kind(models.TextChoices):
        MAIL = "mail", "Mail"
        SLACK = "slack", "Slack"
        TEAMS = "teams", "Teams"
        PUSH = "push", "Browser"

    SEALED: ClassVar = (Kind.SLACK, Kind.TEAMS, Kind.PUSH)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(
        Organisation, on_delete=models.CASCADE, related_name="approval_recipients"
    )
    account = models.ForeignKey(
        Account,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="approval_recipients",
        help_text="Only what this account asks. Empty: what any account of the organisation asks.",
    )
    name = models.CharField(max_length=100, help_text="Who hears it, for example “Ada” or “Desk”.")
    kind = models.CharField(max_length=16, choices=Kind, default=Kind.MAIL)
    address = models.CharField(max_length=320, editable=False)
    sealed = models.BinaryField(default=bytes, editable=False)
    key_id = models.CharField(max_length=16, blank=True, editable=False, db_index=True)
    after_minutes = models.PositiveIntegerField(
        default=0,
        validators=[MaxValueValidator(MOST_MINUTES)],
        help_text="0: at once. Otherwise only what nobody has decided after so many minutes.",
    )
    quiet_from = models.TimeField(
        null=True, blank=True, help_text="From then on nothing is sent, for example 20:00."
    )
    quiet_until = models.TimeField(
        null=True,
        blank=True,
        help_text="What came meanwhile is sent then. What expires before is sent at once.",
    )
    time_zone = models.CharField(
        max_length=64, default="UTC", help_text="Of the quiet hours, for example Europe/Berlin."
    )
    language = models.CharField(
        max_length=8,
        choices=spoken_choices,
        default="en",
        db_default="en",
        help_text="In which messages are. What people and programs wrote stays as it is.",
    )
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        editable=False,
        on_delete=models.CASCADE,
        related_name="approval_devices",
    )
    device = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="Tells one browser from another.",
    )
    added_by = models.CharField(max_length=200, editable=False)
    added_at = models.DateTimeField(auto_now_add=True)
    sent_at = models.DateTimeField(null=True, blank=True, editable=False)
    problem = models.CharField(
        max_length=300, blank=True, editable=False, help_text="Why the last message did not arrive."
    )
    stopped_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="The other side wants nothing any more."
    )

    class Meta:
        ordering = ["organisation", "after_minutes", "name"]
        verbose_name = "approval recipient"
        constraints = [
            models.CheckConstraint(
                condition=Q(quiet_from=None, quiet_until=None)
                | Q(quiet_from__isnull=False, quiet_until__isnull=False),
                name="approval_recipient_quiet",
            ),
            models.UniqueConstraint(
                fields=["organisation", "device"],
                condition=~Q(device=""),
                name="approval_recipient_device",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_sealed(self) -> bool:
        return self.kind in self.SEALED

    def clean(self) -> None:
        if (
            self.account_id
            and self.account
            and self.account.organisation_id != (self.organisation_id)
        ):
            raise ValidationError({"account": "This account is of another organisation."})
        if (self.quiet_from is None) != (self.quiet_until is None):
            raise ValidationError({"quiet_until": "Say both when it begins and when it ends."})
        if self.quiet_from is not None and self.quiet_from == self.quiet_until:
            raise ValidationError({"quiet_until": "A whole day of quiet would be no recipient."})
        if self.time_zone not in available_timezones():
            raise ValidationError({"time_zone": "There is no such time zone."})
        if self.kind == self.Kind.MAIL and not settings.EMAIL_URL:
            raise ValidationError({"kind": "Mail is not set up: set EMAIL_URL."})


def check_mail(address: str) -> None:
    """Raises ValidationError with a sentence."""
    try:
        validate_email(address)
    except ValidationError as error:
        raise ValidationError({"new_address": "This is not a mail address."}) from error


class ApprovalNotice(models.Model):
    """That one recipient hears of one approval. Claimed by a conditional update before anything is
    sent: a process that dies meanwhile leaves it `sending`, and nobody sends it again."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        SENDING = "sending", "Being sent"
        SENT = "sent", "Sent"
        UNCERTAIN = "uncertain", "Sent or not: nobody knows"
        FAILED = "failed", "Not sent"
        CALLED_OFF = "called_off", "Decided before it was sent"

    recipient = models.ForeignKey(
        ApprovalRecipient, on_delete=models.CASCADE, related_name="notices"
    )
    approval = models.ForeignKey(Approval, on_delete=models.CASCADE, related_name="notices")
    state = models.CharField(max_length=16, choices=State, default=State.WAITING)
    next_at = models.DateTimeField()
    tries = models.PositiveSmallIntegerField(default=0)
    error_code = models.CharField(max_length=64, blank=True)
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["recipient", "approval"], name="approval_notice_once")
        ]
        indexes = [
            models.Index(
                fields=["next_at"],
                name="approval_notice_open",
                condition=Q(state__in=["waiting", "sending"]),
            )
        ]

    def __str__(self) -> str:
        return f"{self.approval_id} for {self.recipient_id}"
