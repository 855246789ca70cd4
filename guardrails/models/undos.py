"""A person's commands to take actions back."""

from django.db import models

from integrations.models import Account, Organisation


class Undo(models.Model):
    """Which action takes which other action back. One row for each action that somebody
    asked to undo: it keeps the request from acting twice. Written by
    `guardrails.execute.undo`."""

    undone_action_id = models.UUIDField(primary_key=True, editable=False)
    action_id = models.UUIDField(unique=True, help_text="The undoing action's id in the ledger.")
    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="undos")
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="undos")
    description = models.TextField(help_text="The action that is taken back, in one line.")
    commanded_by = models.CharField(max_length=200)
    commanded_at = models.DateTimeField(auto_now=True)
    state = models.CharField(max_length=16, blank=True, help_text="What became of it.")
    outcome = models.TextField(blank=True, help_text="The same, for people.")

    class Meta:
        ordering = ["-commanded_at"]

    def __str__(self) -> str:
        return self.description
