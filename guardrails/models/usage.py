"""What agents used of their rates."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from integrations.models import Account


class UsedUp(models.Model):
    """One action as the rates count it: when a person was asked about it, and when it was
    permitted for good."""

    action_id = models.UUIDField(primary_key=True, editable=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="usage")
    action_type = models.CharField(max_length=64)
    run = models.CharField(max_length=64, blank=True)
    receivers = ArrayField(models.CharField(max_length=254), default=list)
    new_receivers = ArrayField(models.CharField(max_length=254), default=list)
    destructive = models.BooleanField(default=False)
    hidden = models.BooleanField(default=False)
    amounts = models.JSONField(default=dict)
    asked_at = models.DateTimeField(null=True)
    counted_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.action_type} {self.action_id}"


class Usage(UsedUp):
    """What was used up. Kept for as long as a condition may look back (`guardrails.gather.usage`):
    of accounts whose policy has a rate, and of what puts mail out of sight."""

    class Meta:
        indexes = [
            models.Index(fields=["account", "counted_at"], name="usage_window"),
            models.Index(fields=["account", "run"], name="usage_run"),
            models.Index(fields=["updated_at"], name="usage_sweep"),
        ]


class TrialUsage(UsedUp):
    """What a run over past mail that only tries would have used up if it were for real. Later mails
    of the same trial are decided with it, and nothing else ever is."""

    account = models.ForeignKey(
        Account, on_delete=models.CASCADE, related_name="trial_usage", db_index=False
    )
    trial = models.UUIDField(help_text="The run over past mail.")

    class Meta:
        indexes = [
            models.Index(fields=["account", "trial"], name="trial_usage_of"),
            models.Index(fields=["updated_at"], name="trial_usage_sweep"),
        ]
