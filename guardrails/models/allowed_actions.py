"""What operators permit: action types, their targets, and groups of targets."""

import uuid
from collections.abc import Callable

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator
from django.db import models

from guardrails.actions import registry
from guardrails.actions.base import AnyAction
from guardrails.facts import targets, text
from guardrails.models.base import (
    MAX_HOLD_SECONDS,
    ConditionsField,
    ValidatedModel,
    fit,
)
from integrations.models import Account
from integrations.ports.registry import source_choices

CANONICAL: dict[str, Callable[[str], str]] = {
    "recipient": targets.address,
    "assignee": targets.address,
    "recipient_domain": targets.domain,
    "status": text.one_line,  # a status is its name
}


class AllowedAction(ValidatedModel):
    """One allowed action: this account's agent may do this. Without one, it may not."""

    class ApprovalMode(models.TextChoices):
        AUTO = "auto", "Automatic"
        ASK = "ask", "Ask a person"
        DRAFT_ONLY = "draft_only", "Draft only"
        NEVER = "never", "Never"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(
        Account,
        on_delete=models.CASCADE,
        related_name="allowed_actions",
        help_text="Whose agent may do this, and at which source.",
    )
    action_type = models.CharField(
        max_length=64, choices=registry.action_choices, help_text="What the agent may do."
    )
    # Never null: in PostgreSQL, null columns would let the same allowed action exist twice.
    resource_type = models.CharField(
        max_length=32,
        blank=True,
        default="",
        choices=registry.resource_type_choices,
        help_text="On what. Empty means on everything; an allowed action for one type of thing "
        "beats the general one.",
    )
    enabled = models.BooleanField(
        default=True, help_text="Switch it off to stop this action at once."
    )
    approval_mode = models.CharField(
        max_length=16,
        choices=ApprovalMode,
        default=ApprovalMode.ASK,
        help_text="Automatic: done when all conditions hold. Ask: waits for a person each time. "
        "Draft only: the agent has to propose a draft instead. Never: always refused.",
    )
    hold_seconds = models.PositiveIntegerField(
        default=0,
        validators=[MaxValueValidator(MAX_HOLD_SECONDS)],
        help_text="What reaches other people or destroys something is held for so many seconds "
        "first, and can be recalled until then. 0: not held.",
    )
    conditions = ConditionsField(
        default=list,
        blank=True,
        help_text="All of these must hold.",
    )
    patterns_unapproved = models.BooleanField(
        "Patterns without approval",
        default=False,
        help_text="A proposed pattern may do this before anybody approves it, if a person treated "
        "at least five mails like that and none otherwise. What the agent proposes while it works "
        "through a mail always waits for approval.",
    )
    confirm_in_words = models.BooleanField(
        "Confirming in words",
        default=False,
        help_text="The user may confirm this by typing a short “yes, do it” in the conversation "
        "that asks, not only with its button.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["account", "action_type", "resource_type"]
        constraints = [
            models.UniqueConstraint(
                fields=["account", "action_type", "resource_type"], name="allowed_action_once"
            ),
            models.CheckConstraint(
                condition=models.Q(approval_mode__in=["auto", "ask", "draft_only", "never"]),
                name="allowed_action_mode",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_action_type_display()} · {self.get_approval_mode_display()}"

    def clean(self) -> None:
        """Refuses an allowed action that could never grant anything."""
        action = registry.BY_NAME.get(self.action_type)
        if action is None or not hasattr(self, "account"):
            return
        check_source(self.account, action)
        if self.resource_type not in ("", action.resource_type):
            raise ValidationError(
                {"resource_type": f"“{action.title}” is only done to: {action.resource_type}."}
            )
        if self.approval_mode == self.ApprovalMode.DRAFT_ONLY and not action.can_be_drafted:
            raise ValidationError({"approval_mode": f"“{action.title}” has no draft."})
        fit(self)


class TargetGroup(ValidatedModel):
    """Targets that belong together, such as the states a mail thread can be in."""

    class Cardinality(models.TextChoices):
        SINGLE = "single", "One at a time"
        MULTI = "multi", "Several at once"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(
        Account,
        on_delete=models.CASCADE,
        related_name="target_groups",
        help_text="Whose targets these are.",
    )
    name = models.CharField(max_length=100, help_text="For people, for example “Thread status”.")
    cardinality = models.CharField(
        max_length=8,
        choices=Cardinality,
        default=Cardinality.MULTI,
        help_text="One at a time: setting one target takes the others of the group off.",
    )

    class Meta:
        ordering = ["account", "name"]
        constraints = [
            models.UniqueConstraint(fields=["account", "name"], name="target_group_once"),
            models.CheckConstraint(
                condition=models.Q(cardinality__in=["single", "multi"]),
                name="target_group_cardinality",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} · {self.get_cardinality_display()}"


class AllowedActionOption(ValidatedModel):
    """One target an action may have. An action that takes targets and has none does nothing."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(
        Account,
        on_delete=models.CASCADE,
        related_name="listed_targets",
        help_text="Whose agent may use this target.",
    )
    action_type = models.CharField(
        max_length=64, choices=registry.action_choices, help_text="For which action."
    )
    resource_type = models.CharField(
        max_length=32,
        blank=True,
        default="",
        choices=registry.resource_type_choices,
        help_text="Only when the action is done to this type of thing. Empty: always.",
    )
    source = models.CharField(
        max_length=32, choices=source_choices, help_text="Where the target exists."
    )
    kind = models.CharField(
        max_length=32,
        choices=registry.target_kind_choices,
        help_text="Recipient: one exact address. Recipient domain: every address of exactly this "
        "domain, but never as a blind copy.",
    )
    external_id = models.CharField(
        max_length=500,
        help_text="The target's identity: the id at the provider, the address or the domain. "
        "Only this is compared.",
    )
    name = models.CharField(
        max_length=500,
        help_text="For people. For labels and projects it must be the present name at the "
        "provider: a renamed target is refused until somebody looks at it.",
    )
    group = models.ForeignKey(
        TargetGroup,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="listed_targets",
        help_text="Optional. In a one-at-a-time group, setting this target takes the others off.",
    )

    class Meta:
        verbose_name = "target"
        ordering = ["account", "action_type", "kind", "name"]
        constraints = [
            models.UniqueConstraint(
                fields=[
                    "account",
                    "action_type",
                    "resource_type",
                    "source",
                    "kind",
                    "external_id",
                ],
                name="option_once",
            ),
            models.CheckConstraint(
                condition=~models.Q(external_id="") & ~models.Q(kind=""),
                name="option_names_a_target",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_action_type_display()} · {self.get_kind_display()} · {self.name}"

    def clean(self) -> None:
        """Stores the identity in the form that is compared; refuses what could never match."""
        action = registry.BY_NAME.get(self.action_type)
        if action is None or not hasattr(self, "account"):
            return
        check_source(self.account, action)
        if self.source and self.source != self.account.source:
            raise ValidationError({"source": f"This account is of: {self.account.source}."})
        if self.kind and self.kind not in action.takes:
            kinds = ", ".join(action.takes) or "no targets"
            raise ValidationError({"kind": f"“{action.title}” takes: {kinds}."})
        try:
            self.external_id = CANONICAL.get(self.kind, text.identifier)(self.external_id)
        except ValueError as error:
            raise ValidationError({"external_id": f"“{self.external_id}” {error}."}) from error
        try:
            text.written_line(self.name)
        except ValueError as error:
            raise ValidationError({"name": f"The name {error}."}) from error
        if self.group is not None and self.group.account_id != self.account_id:
            raise ValidationError({"group": "This group belongs to another account."})


def check_source(account: Account, action: AnyAction) -> None:
    if not action.works_on(account.source):
        needed = f"This action needs {action.kind} that can be written to"
        raise ValidationError({"action_type": f"{needed}, and this is {account}."})
