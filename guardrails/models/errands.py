"""Actions that a process which may not carry them out leaves to one that may."""

import uuid

from django.db import models

from integrations.models import Account


class Errand(models.Model):
    """One request as it was asked for, until the cluster has carried it out. Tasks carry its id,
    so that nothing of it lies in the queue. Written by `guardrails.execute.errands`."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    action_id = models.UUIDField(unique=True, help_text="The action's id in the ledger.")
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="errands")
    action_type = models.CharField(max_length=64)
    arguments = models.JSONField()
    origin = models.JSONField()
    confirmation = models.JSONField(default=dict, help_text="The person's word, if one was asked.")
    asked_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.action_type} {self.action_id}"
