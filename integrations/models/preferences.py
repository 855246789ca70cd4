"""What users say of themselves: one row each."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.db import models
from django.db.models import OuterRef, Subquery
from django.db.models.functions import Coalesce, NullIf

from integrations.contracts import preferences as said
from integrations.contracts.preferences import Preferences
from integrations.mail.addresses import is_addr_spec
from integrations.models.accounts import Account, Organisation, validate_time_zone


def _accepts(check: Callable[[Any], object], value: Any) -> None:
    """Runs a check that raises ValueError. Raises ValidationError, as Django's validators do."""
    try:
        check(value)
    except ValueError as error:
        raise ValidationError(said.explain(error)) from error


def validate_language(tag: str) -> None:
    _accepts(said.clean_language, tag)


def validate_line(text: str) -> None:
    _accepts(said.check_text, text)


def validate_lines(text: str) -> None:
    _accepts(lambda found: said.check_text(found.replace("\r\n", "\n"), lines=True), text)


def validate_address(text: str) -> None:
    if not is_addr_spec(text):
        raise ValidationError("Write plain addresses, such as tom@client.com.")


def validate_hours(raw: Any) -> None:
    _accepts(said.read_hours, raw)


class UserPreferences(models.Model):
    """How one user of an organisation wants to be addressed, and when they work. What is left
    empty is taken from the account they connected first, or from what they write."""

    organisation = models.ForeignKey(
        Organisation, on_delete=models.CASCADE, related_name="preferences"
    )
    external_user_id = models.CharField(
        "user", max_length=200, help_text="The user's id in your frontend and in the data service."
    )
    name = models.CharField(
        max_length=said.NAME_CHARS,
        blank=True,
        validators=[validate_line],
        help_text="As they sign. Empty: the name of the account they connected first.",
    )
    language = models.CharField(
        max_length=said.LANGUAGE_CHARS,
        blank=True,
        validators=[validate_language],
        help_text="A tag such as de or pt-BR. Empty: the language they write in.",
    )
    time_zone = models.CharField(
        max_length=64,
        blank=True,
        validators=[validate_time_zone],
        help_text="Such as Europe/Berlin. Empty: the zone of the account they connected first.",
    )
    working_hours = models.JSONField(default=dict, blank=True, validators=[validate_hours])
    signature = models.TextField(
        max_length=said.SIGNATURE_CHARS,
        blank=True,
        validators=[validate_lines, MaxLengthValidator(said.SIGNATURE_CHARS)],
        help_text="Ends the mails that are drafted for them.",
    )
    known_senders = ArrayField(
        models.CharField(max_length=320, validators=[validate_address]),
        size=said.KNOWN_SENDERS,
        default=list,
        db_default=[],
        blank=True,
        help_text="Addresses of people who are no strangers, though the user never wrote to them, "
        "with commas. It permits nothing else.",
    )
    daily_digest = models.BooleanField(
        "a mail about each day",
        null=True,
        blank=True,
        help_text="In the morning, to their mailbox: what was done, asked and refused the day "
        "before, and what waits. Unknown: as the organisation has it.",
    )

    class Meta:
        ordering = ["external_user_id"]
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "external_user_id"],
                name="preferences_once",
                violation_error_message="This user has preferences already.",
            )
        ]
        verbose_name = "preferences"
        verbose_name_plural = "preferences"

    def __str__(self) -> str:
        return self.name or self.external_user_id

    def clean(self) -> None:
        """Languages and addresses are stored in one spelling, days in the order of the week."""
        self.known_senders = sorted({one.strip().lower() for one in self.known_senders})
        self.signature = self.signature.replace("\r\n", "\n").strip()
        with suppress(ValueError):  # the field says so
            self.language = self.language and said.clean_language(self.language)
        with suppress(ValueError):
            self.working_hours = said.dump_hours(said.read_hours(self.working_hours))

    def value(self) -> Preferences:
        return Preferences(
            name=self.name,
            language=self.language,
            time_zone=self.time_zone,
            working_hours=said.read_hours(self.working_hours),
            signature=self.signature,
        )


def load_preferences(organisation_id: UUID, external_user_id: str) -> Preferences:
    """What this user has said; nothing where there is no row. One query."""
    row = UserPreferences.objects.filter(
        organisation_id=organisation_id, external_user_id=external_user_id
    ).first()
    return row.value() if row else Preferences()


def find_zones(organisation_id: UUID, external_user_ids: Iterable[str]) -> dict[str, str]:
    """The time zone of each of these users that has an account. One query."""
    own = UserPreferences.objects.filter(
        organisation_id=organisation_id, external_user_id=OuterRef("external_user_id")
    )
    accounts = Account.objects.filter(
        organisation_id=organisation_id, external_user_id__in=set(external_user_ids)
    )
    zone = Coalesce(
        NullIf(Subquery(own.values("time_zone")[:1]), models.Value("")), models.F("time_zone")
    )
    newest_first = accounts.annotate(zone=zone).order_by("-created_at", "-id")
    return dict(newest_first.values_list("external_user_id", "zone"))
