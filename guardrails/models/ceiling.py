"""What an organisation forbids whatever its accounts permit, and what stops everything."""

import uuid

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext

from guardrails.actions import registry
from guardrails.decide.conditions import vocabulary as conditions
from guardrails.facts.effects import IN_WORDS
from guardrails.models.base import (
    MAX_HOLD_SECONDS,
    ConditionsField,
    ValidatedModel,
    fit,
)
from integrations.models import Account, Organisation
from integrations.ports.registry import source_choices


class CeilingLimit(ValidatedModel):
    """One limit for all accounts of an organisation. It only narrows what allowed actions grant;
    where several apply, all of them count."""

    class AtMost(models.TextChoices):
        NEVER = "never", "Forbidden"
        DRAFT_ONLY = "draft_only", "At most as a draft"
        ASK = "ask", "At most after asking a person"
        AUTO = "auto", "Only under these conditions"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(
        Organisation,
        on_delete=models.CASCADE,
        related_name="ceiling",
        help_text="Whose accounts it holds for: all of them.",
    )
    action_type = models.CharField(
        max_length=64,
        blank=True,
        default="",
        choices=registry.action_choices,
        help_text="Which action. Empty means every action.",
    )
    at_most = models.CharField(
        max_length=16,
        choices=AtMost,
        default=AtMost.ASK,
        help_text="The most that any account may permit.",
    )
    conditions = ConditionsField(
        default=list,
        blank=True,
        help_text="All of these must hold besides.",
    )
    hold_seconds = models.PositiveIntegerField(
        default=0,
        validators=[MaxValueValidator(MAX_HOLD_SECONDS)],
        help_text="What reaches other people or destroys something is held for at least so many "
        "seconds first, and can be recalled until then. 0: not held.",
    )
    note = models.CharField(max_length=300, blank=True, help_text="Why, for people.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["organisation", "action_type", "at_most"]
        constraints = [
            models.CheckConstraint(
                condition=Q(at_most__in=["never", "draft_only", "ask", "auto"]),
                name="ceiling_at_most",
            ),
        ]
        verbose_name = "ceiling limit"

    def __str__(self) -> str:
        return f"{self.get_action_type_display() or 'Every action'} · {self.get_at_most_display()}"

    def clean(self) -> None:
        """Refuses a limit that says nothing, and conditions nobody could ever meet."""
        action = registry.BY_NAME.get(self.action_type)
        try:
            parsed = conditions.parse_all(self.conditions)
        except ValueError:
            return  # the field says so
        if self.at_most == self.AtMost.AUTO and not (parsed or self.hold_seconds):
            raise ValidationError({"conditions": "Name the conditions, or this limits nothing."})
        if self.at_most == self.AtMost.NEVER and parsed:
            raise ValidationError({"conditions": "What is forbidden needs no conditions."})
        if self.at_most == self.AtMost.DRAFT_ONLY and not (action and action.can_be_drafted):
            raise ValidationError({"at_most": "Name an action that has a draft: sending mail."})
        fit(self)


class KillSwitch(ValidatedModel):
    """A switch that somebody threw. While it is not lifted, what it names is refused; rows
    are kept when it is lifted. Thrown and lifted by `guardrails.execute.switches` alone."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(
        Organisation,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="switches",
        help_text="Empty: every organisation.",
    )
    account = models.ForeignKey(
        Account,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="switches",
        help_text="Empty: every account.",
    )
    action_type = models.CharField(
        max_length=64, blank=True, default="", choices=registry.action_choices
    )
    source = models.CharField(max_length=32, blank=True, default="", choices=source_choices)
    effect = models.CharField(
        max_length=16,
        blank=True,
        default="",
        choices=[(name, str(words)) for name, words in IN_WORDS.items()],
    )
    why = models.CharField(max_length=300)
    thrown_by = models.CharField(max_length=200)
    thrown_at = models.DateTimeField(auto_now_add=True)
    lifted_by = models.CharField(max_length=200, blank=True)
    lifted_at = models.DateTimeField(null=True, blank=True)
    lifted_why = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["-thrown_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "account", "action_type", "source", "effect"],
                condition=Q(lifted_at=None),
                nulls_distinct=False,
                name="switch_thrown_once",
            ),
            models.CheckConstraint(
                condition=Q(lifted_at=None, lifted_by="")
                | (Q(lifted_at__isnull=False) & ~Q(lifted_by="")),
                name="switch_lifted_by_somebody",
            ),
        ]
        verbose_name = "switch"
        verbose_name_plural = "switches"

    def __str__(self) -> str:
        action, effect = self.get_action_type_display(), self.get_effect_display()
        parts = (
            str(self.organisation) if self.organisation_id else gettext("Everything"),
            str(self.account) if self.account_id else "",
            action and gettext(action),
            self.get_source_display(),
            effect and gettext(effect),
        )
        return " · ".join(part for part in parts if part)

    @property
    def is_whole(self) -> bool:
        """Whether it stops its account or organisation altogether."""
        return not (self.action_type or self.source or self.effect)

    def clean(self) -> None:
        if self.organisation_id is None and not (self.is_whole and self.account_id is None):
            raise ValidationError("Say for which organisation, or stop everything.")
        if self.account is not None and self.account.organisation_id != self.organisation_id:
            raise ValidationError({"account": "This account belongs to another organisation."})
