"""What users ask operators to permit, after the guardrails refused it."""

from django.db import models
from django.db.models import Q

from audit.ledger.ids import uuid7
from guardrails.actions import registry
from integrations.models import Account, Organisation


class ChangeRequest(models.Model):
    """A user's wish for a change of policy, small enough that what was refused would be
    permitted. It grants nothing: an operator approves it, which changes the policy, or declines
    it. Written by `guardrails.approve.change_requests`; decided once."""

    class State(models.TextChoices):
        OPEN = "open", "Waiting"
        APPROVED = "approved", "Approved"
        DECLINED = "declined", "Declined"

    id = models.UUIDField(
        primary_key=True, default=uuid7, editable=False, help_text="Its id in the ledger too."
    )
    organisation = models.ForeignKey(
        Organisation, on_delete=models.CASCADE, related_name="change_requests"
    )
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="change_requests")
    external_user_id = models.CharField("user", max_length=200, help_text="Who asks.")
    action_id = models.UUIDField(help_text="The refused action's id in the ledger.")
    turn_id = models.CharField(max_length=64, blank=True, help_text="The turn it was refused in.")
    action_type = models.CharField(max_length=64, choices=registry.action_choices)
    description = models.TextField(help_text="The refused action in one line.")
    fingerprint = models.CharField(
        max_length=64, help_text="Equal for equal changes: the same wish is one request."
    )
    differences = models.JSONField(
        default=list, help_text="What would change in words, or what was changed: one text each."
    )
    wordings = models.JSONField(
        default=dict, help_text="How Remit's own lines were made, to say them in other languages."
    )
    times_refused = models.PositiveIntegerField(
        default=1, help_text="Refusals among the account's latest decisions that it would end."
    )
    first_refused_at = models.DateTimeField(help_text="When the first of those was.")
    state = models.CharField(max_length=16, choices=State, default=State.OPEN)
    asked_by = models.CharField(max_length=200, help_text="The caller that the user asked through.")
    created_at = models.DateTimeField(auto_now_add=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.CharField(max_length=200, blank=True)
    answer = models.TextField(blank=True, help_text="What the operator says to the user.")
    last_news = models.CharField(
        max_length=16, blank=True, editable=False, help_text="The news that was sent out last."
    )

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["account", "fingerprint"],
                name="change_request_one_open",
                condition=Q(state="open"),
            ),
            models.CheckConstraint(
                condition=Q(state="open", decided_at__isnull=True)
                | (Q(state__in=["approved", "declined"]) & Q(decided_at__isnull=False)),
                name="change_request_decided_once",
            ),
        ]
        indexes = [
            models.Index(
                fields=["organisation", "external_user_id", "-created_at"],
                name="change_request_of_user",
            ),
            models.Index(fields=["state", "created_at"], name="change_request_waiting"),
        ]

    def __str__(self) -> str:
        return self.description


class AskedRefusal(models.Model):
    """One refused action that a user asked about, and the request that this became part of."""

    action_id = models.UUIDField(
        primary_key=True, editable=False, help_text="The refused action's id in the ledger."
    )
    change_request = models.ForeignKey(
        ChangeRequest, on_delete=models.CASCADE, related_name="refusals"
    )
    asked_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["asked_at"]

    def __str__(self) -> str:
        return str(self.action_id)
