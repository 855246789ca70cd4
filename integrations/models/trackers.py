"""What Remit has to remember about an issue tracker: writes under way, how far it looked."""

from typing import Any

from django.db import models

from integrations.models.accounts import Account


class IssueWrite(models.Model):
    """One write to an issue tracker under its idempotency key, committed before the tracker is
    called, because trackers keep no such keys."""

    class State(models.TextChoices):
        STARTED = "started", "Started: nothing has been sent"
        SENT = "sent", "Sent: the tracker may have done it"
        DONE = "done", "Done"
        GIVEN_UP = "given_up", "Given up: nothing is sent under this key any more"

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="issue_writes")
    key = models.CharField(max_length=200)
    operation = models.CharField(max_length=40)
    project = models.CharField(max_length=255)
    issue_key = models.CharField(max_length=255, blank=True, help_text="Empty: a new one.")
    revision_before = models.CharField(max_length=200, blank=True)
    wanted: "models.JSONField[Any, Any]" = models.JSONField(
        default=dict, help_text="A digest of what each changed field is to be."
    )
    answer: "models.JSONField[Any, Any]" = models.JSONField(default=dict)
    state = models.CharField(max_length=16, choices=State, default=State.STARTED)
    begun_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "key"], name="issue_write_once")]

    def __str__(self) -> str:
        return f"{self.operation} {self.key}"


class IssueMark(models.Model):
    """How far a tracker had been looked at: what changed after this, in the tracker's own time, is
    new."""

    account = models.OneToOneField(Account, on_delete=models.CASCADE, related_name="issue_mark")
    seen_to = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.account_id} to {self.seen_to}"
