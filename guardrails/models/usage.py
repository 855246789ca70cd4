"""What agents used of their rates."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from integrations.models import Account


class Usage(models.Model):
    """One action as the rates count it: when a person was asked about it, and when it was
    permitted for good. Kept for as long as a condition may look back (`guardrails.gather.usage`):
    of accounts whose policy has a rate, and of what puts mail out of sight."""

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
        indexes = [
            models.Index(fields=["account", "counted_at"], name="usage_window"),
            models.Index(fields=["account", "run"], name="usage_run"),
            models.Index(fields=["updated_at"], name="usage_sweep"),
        ]

    def __str__(self) -> str:
        return f"{self.action_type} {self.action_id}"
