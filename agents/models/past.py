"""Runs over mail that was there before, and what became of each mail in them."""

import uuid

from django.db import models

from agents.models.turns import Turn
from integrations.models import Account


class PastRun(models.Model):
    """A person's wish that past mail of one account be looked at: tried, which changes nothing
    outside, or worked through like mail that arrives."""

    class State(models.TextChoices):
        QUEUED = "queued", "Waiting"
        RUNNING = "running", "Running"
        PAUSED = "paused", "Paused"
        DONE = "done", "Done"
        STOPPED = "stopped", "Stopped"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="past_runs")
    is_trial = models.BooleanField(
        "only tried", help_text="Decided about and counted; nothing is done in the mailbox."
    )
    writes_drafts = models.BooleanField(
        "with drafts", default=False, help_text="Off: mail is filed and labelled, never answered."
    )
    last = models.PositiveIntegerField("newest mails", help_text="At most so many, the newest.")
    since = models.DateField(null=True, blank=True, help_text="Mail from this day on.")
    until = models.DateField(null=True, blank=True, help_text="Mail up to this day, included.")
    folder = models.CharField(
        max_length=500, blank=True, help_text="A label or folder, by the provider's id."
    )
    folder_name = models.CharField("folder", max_length=500, blank=True)
    policy = models.JSONField(
        null=True,
        blank=True,
        editable=False,
        help_text="What a trial is under, as a policy file. Empty: the policy as it is.",
    )
    state = models.CharField(max_length=16, choices=State, default=State.QUEUED)
    waits_for = models.CharField(
        max_length=64, blank=True, help_text="What was away when it was tried last."
    )
    claims = models.PositiveIntegerField(default=0, help_text="The fence of who works on it.")
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    started_by = models.CharField(max_length=200)
    changed_by = models.CharField(
        "last word by", max_length=200, blank=True, help_text="Who paused, resumed or stopped it."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "run over past mail"
        verbose_name_plural = "runs over past mail"
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["account"],
                name="past_run_one_open_an_account",
                condition=models.Q(state__in=["queued", "running", "paused"]),
            ),
        ]
        indexes = [models.Index(fields=["-created_at"], name="past_run_newest")]

    def __str__(self) -> str:
        return f"{'Trial' if self.is_trial else 'Run'} over past mail of {self.account}"


class PastMail(models.Model):
    """One mail of a run, chosen when it was started. Its head is kept for the log."""

    class State(models.TextChoices):
        QUEUED = "queued", "To come"
        DONE = "done", "Done"
        SKIPPED = "skipped", "Left out"
        FAILED = "failed", "Failed"

    run = models.ForeignKey(PastRun, on_delete=models.CASCADE, related_name="mails")
    position = models.PositiveIntegerField(help_text="0 is the oldest.")
    source_id = models.CharField(max_length=500)
    thread_id = models.CharField(max_length=500, blank=True)
    sender = models.CharField(max_length=320, blank=True)
    subject = models.CharField(max_length=500, blank=True)
    occurred_at = models.DateTimeField()
    state = models.CharField(max_length=16, choices=State, default=State.QUEUED)
    reason = models.CharField(max_length=64, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    turn = models.OneToOneField(
        Turn, null=True, blank=True, on_delete=models.SET_NULL, related_name="past_mail"
    )
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["run", "position"]
        constraints = [
            models.UniqueConstraint(fields=["run", "position"], name="past_mail_position_once"),
            models.UniqueConstraint(fields=["run", "source_id"], name="past_mail_once"),
        ]
        indexes = [
            models.Index(
                fields=["run", "position"],
                name="past_mail_to_come",
                condition=models.Q(state="queued"),
            ),
            models.Index(fields=["run", "-finished_at"], name="past_mail_log"),
        ]

    def __str__(self) -> str:
        return self.subject or self.source_id
