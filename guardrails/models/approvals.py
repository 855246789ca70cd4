"""Actions that wait for a person, or were decided by one."""

import uuid
from typing import Self

from django.db import models
from django.db.models import Case, F, Q, Subquery, Value, When

from guardrails.actions import registry
from guardrails.facts.text import heading_of
from integrations.models import Account, Organisation

WAITING_FIRST = Case(When(state="pending", then=Value(0)), default=Value(1))


class ApprovalQuerySet(models.QuerySet["Approval"]):
    def for_user(self, external_user_id: str) -> Self:
        """What this user is asked about, and what was delegated to them."""
        return self.filter(
            Q(external_user_id=external_user_id) | Q(delegated_to=f"user:{external_user_id}")
        )

    def below(self, approval_id: uuid.UUID) -> Self:
        """What comes after that approval, newest first."""
        that = Approval.objects.filter(id=approval_id)
        at = Subquery(that.values("created_at"))
        return self.filter(Q(created_at__lt=at) | Q(created_at=at, id__lt=approval_id))


class Approval(models.Model):
    """One action, exactly as a person would confirm it. Made when the agent proposes it.

    Changes only by conditional updates in `guardrails.approve.approvals` and
    `guardrails.execute.approval_requests`: pending to approved, rejected, expired or superseded,
    and approved to executed, failed or refused.
    """

    class State(models.TextChoices):
        PENDING = "pending", "Waiting"
        APPROVED = "approved", "Confirmed, being done"
        EXECUTED = "executed", "Confirmed and done"
        FAILED = "failed", "Confirmed, but failed"
        REFUSED = "refused", "Confirmed, but refused"
        REJECTED = "rejected", "Rejected"
        EXPIRED = "expired", "Expired"
        SUPERSEDED = "superseded", "Changed by a person"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    action_id = models.UUIDField(unique=True, help_text="The action's id in the ledger.")
    revises = models.OneToOneField(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="revision",
        help_text="What a person changed into this.",
    )
    organisation = models.ForeignKey(
        Organisation, on_delete=models.CASCADE, related_name="approvals"
    )
    question = models.UUIDField(
        help_text="Like actions of one run are one question: the id of its first approval."
    )
    asked = models.JSONField(help_text="What makes it like others, and what brought it up.")
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="approvals")
    external_user_id = models.CharField(max_length=200, help_text="The user who is asked.")
    turn_id = models.CharField(max_length=64, blank=True, help_text="The turn that proposed it.")
    call_id = models.CharField(max_length=200, blank=True)
    action_type = models.CharField(max_length=64, choices=registry.action_choices)
    arguments = models.JSONField(help_text="The canonical arguments: exactly these are executed.")
    origin = models.JSONField(help_text="Where the request came from, to decide it again.")
    provenance = models.JSONField(default=dict, help_text="Where each value came from.")
    readings = models.JSONField(
        default=dict, help_text="How the user's words were read as a value, by path."
    )
    side_effects = models.JSONField(default=list, help_text="What happens besides.")
    digest = models.CharField(
        max_length=64, help_text="Binds the person's word to exactly this action."
    )
    policy_digest = models.CharField(max_length=64, help_text="The policy when it was asked.")
    description = models.TextField(help_text="The action in one line.")
    reason = models.TextField(blank=True, help_text="Why a person is asked.")
    first_seen = models.JSONField(
        default=dict, help_text="Where values came up that nobody typed or listed, by path."
    )
    differences = models.JSONField(
        default=list, help_text="What is there now and what there would be: [what, before, after]."
    )
    reached = models.JSONField(
        default=dict, help_text="Whom and what it reaches though no argument says so, by path."
    )
    exposures = models.JSONField(
        default=list, help_text="What others get to see by it, and who they are."
    )
    wordings = models.JSONField(
        default=dict, help_text="How Remit's own lines were made, to say them in other languages."
    )
    state = models.CharField(max_length=16, choices=State, default=State.PENDING)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    announced_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="When the people who decide heard that it waits.",
    )
    shown_at = models.DateTimeField(
        null=True, blank=True, help_text="When it was first before the person who decides."
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.CharField(max_length=200, blank=True)
    decided_as = models.CharField(
        max_length=200, blank=True, help_text="The user for whom the word was given."
    )
    said_in = models.CharField(
        max_length=64, blank=True, help_text="The chat message in which it was confirmed in words."
    )
    decision_reason = models.TextField(blank=True, help_text="What the person said about it.")
    people_needed = models.PositiveSmallIntegerField(
        default=1, db_default=1, help_text="How many different people have to say yes."
    )
    first_yes_at = models.DateTimeField(null=True, blank=True)
    first_yes_by = models.CharField(max_length=200, blank=True, default="", db_default="")
    first_yes_as = models.CharField(
        max_length=200,
        blank=True,
        default="",
        db_default="",
        help_text="The user for whom the first of two yeses was given.",
    )
    first_yes_in = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        help_text="The chat message in which the first of two yeses was given.",
    )
    first_yes_names = models.JSONField(
        null=True, blank=True, editable=False, help_text="Every name of who gave it."
    )
    delegated_to = models.CharField(
        max_length=200, blank=True, help_text="user:…, operator:… or group:…: who decides now."
    )
    delegated_by = models.CharField(max_length=200, blank=True)
    delegated_as = models.CharField(
        max_length=200, blank=True, help_text="The user for whom it was handed on."
    )
    delegated_at = models.DateTimeField(null=True, blank=True)
    escalated_at = models.DateTimeField(
        null=True, blank=True, help_text="When it was brought to the operators' attention."
    )
    escalated_by = models.CharField(max_length=200, blank=True)
    executed = models.JSONField(default=dict, help_text="What became of it.")
    in_ledger = models.BooleanField(
        default=False, editable=False, help_text="Whether the decision is a row of the ledger."
    )

    objects = ApprovalQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    state__in=[
                        "pending",
                        "approved",
                        "executed",
                        "failed",
                        "refused",
                        "rejected",
                        "expired",
                        "superseded",
                    ]
                ),
                name="approval_state",
            ),
            models.CheckConstraint(
                condition=Q(state="pending", decided_at__isnull=True)
                | (~Q(state="pending") & Q(decided_at__isnull=False)),
                name="approval_decided_once",
            ),
        ]
        indexes = [
            models.Index(
                fields=["organisation", "external_user_id", "-created_at"], name="approval_inbox"
            ),
            models.Index(fields=["turn_id"], name="approval_turn"),
            models.Index(fields=["expires_at"], name="approval_open", condition=Q(state="pending")),
            models.Index(
                fields=["decided_at"], name="approval_unfinished", condition=Q(state="approved")
            ),
            models.Index(
                fields=["decided_at"],
                name="approval_unrecorded",
                condition=Q(in_ledger=False) & ~Q(state__in=["pending", "approved"]),
            ),
            models.Index(
                fields=["account", "turn_id"],
                name="approval_waiting",
                condition=Q(state="pending"),
            ),
            models.Index(
                fields=["delegated_to", "-created_at"],
                name="approval_delegated",
                condition=~Q(delegated_to=""),
            ),
            models.Index(WAITING_FIRST, F("created_at").desc(), name="approval_waiting_first"),
        ]

    def __str__(self) -> str:
        return heading_of(self.description)

    @property
    def seconds_to_decide(self) -> float:
        """From the first look (or else the asking) to the decision; 0 before."""
        began = self.shown_at or self.created_at
        return (self.decided_at - began).total_seconds() if self.decided_at else 0.0
