"""Syncs: one run, its part for each account, and the dead letters of that."""

import uuid

from django.db import models
from django.utils import timezone

from integrations.models import Account, Organisation


class SyncRun(models.Model):
    """One sync: some or all accounts of one user, asked for or due.

    When its last account has ended it is finished, and the frontend hears it
    (`knowledge.sync.callbacks`) if it named an address.
    """

    class Callback(models.TextChoices):
        NONE = "none", "None"
        WAITING = "waiting", "Waiting"
        SENT = "sent", "Sent"
        FAILED = "failed", "Failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(
        Organisation, on_delete=models.CASCADE, related_name="sync_runs"
    )
    external_user_id = models.CharField(max_length=200)
    only_changes = models.BooleanField(
        default=False, help_text="Reads what changed since the last sync, not the whole window."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    callback = models.CharField(max_length=16, choices=Callback, default=Callback.NONE)
    callback_attempts = models.PositiveIntegerField(default=0)
    callback_due_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["-created_at"], name="sync_run_newest"),
            models.Index(
                fields=["organisation", "external_user_id", "-created_at"], name="sync_run_recent"
            ),
            models.Index(
                fields=["callback_due_at"],
                name="sync_run_callback",
                condition=models.Q(callback="waiting"),
            ),
            models.Index(
                fields=["finished_at"],
                name="sync_run_of_changes",
                condition=models.Q(only_changes=True),
            ),
        ]

    def __str__(self) -> str:
        return f"Sync of {self.external_user_id}"


class SyncSource(models.Model):
    """The part of a sync that reads one account. It goes on at `cursor` after a crash.

    received = processed + skipped + failed after every page. `attempt` is the claim: a
    worker that lost its lease can write nothing any more.
    """

    class State(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey(SyncRun, on_delete=models.CASCADE, related_name="sources")
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="syncs")
    state = models.CharField(max_length=16, choices=State, default=State.QUEUED)
    created_at = models.DateTimeField(default=timezone.now)
    only_changes = models.BooleanField(default=False)
    since = models.DateTimeField(help_text="How far back it reads.")
    cursor = models.TextField(blank=True, help_text="Where the next page begins.")
    received = models.PositiveIntegerField(default=0)
    processed = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    reasons = models.JSONField(
        default=dict, blank=True, help_text="How many items were skipped or failed, by reason."
    )
    remaining = models.PositiveIntegerField(
        null=True, blank=True, help_text="Items still to come, where the data service says so."
    )
    waiting_since = models.DateTimeField(
        null=True, blank=True, help_text="Since when it waits for what does not answer."
    )
    restarts = models.PositiveIntegerField(
        default=0, help_text="How often the window was read from its start again."
    )
    attempt = models.PositiveIntegerField(default=0)
    stalls = models.PositiveIntegerField(
        default=0, help_text="How often it was started again since the last page was finished."
    )
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["run_id", "account_id"]
        constraints = [
            models.UniqueConstraint(
                fields=["account"],
                name="one_active_sync_per_account",
                condition=models.Q(state__in=["queued", "running"]),
            )
        ]
        indexes = [
            models.Index(fields=["account", "-finished_at"], name="sync_source_last"),
            models.Index(fields=["-created_at"], name="sync_source_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.account}: {self.get_state_display().lower()}"


class SyncFailure(models.Model):
    """A dead letter of a sync: an item that could not be stored, and why. It stays until it is
    taken up again; then it counts as what came of it. One for which the model did not answer is
    queued, to be tried again for a day, and only then dead."""

    class State(models.TextChoices):
        DEAD = "dead", "Dead letter"
        QUEUED = "queued", "Queued"
        PROCESSED = "processed", "Processed"
        SKIPPED = "skipped", "Skipped"

    sync = models.ForeignKey(SyncSource, on_delete=models.CASCADE, related_name="failures")
    source_id = models.CharField(max_length=500)
    reason = models.CharField(max_length=64)
    state = models.CharField(max_length=16, choices=State, default=State.DEAD)
    failed_at = models.DateTimeField()
    retried_at = models.DateTimeField(null=True, blank=True)
    due_at = models.DateTimeField(
        null=True, blank=True, help_text="When it is tried again without being asked for."
    )

    class Meta:
        verbose_name = "dead letter of a sync"
        verbose_name_plural = "dead letters of syncs"
        ordering = ["-failed_at"]
        indexes = [
            models.Index(fields=["state", "-failed_at"], name="sync_failure_newest"),
            models.Index(fields=["-failed_at"], name="sync_failure_all_newest"),
            models.Index(
                fields=["due_at"],
                name="sync_failure_due",
                condition=models.Q(due_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.source_id}: {self.reason}"
