"""Drafts that the assistant wrote, from the first word to their end."""

from django.db import models

from integrations.models import Account


class AssistantDraft(models.Model):
    """One draft that Remit wrote into somebody's drafts. Noted before the provider is called, and
    dropped when nothing was written. Its text is the ledger's alone; here is only its digest."""

    class State(models.TextChoices):
        PENDING = "pending", "Waits for the user"
        SENT = "sent", "Sent by the user"
        EDITED = "edited", "Edited by the user"
        SUPERSEDED = "superseded", "Taken back, untouched"
        MISSING = "missing", "Gone"

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="assistant_drafts")
    action_id = models.UUIDField(unique=True, editable=False, help_text="Its id in the ledger.")
    draft_id = models.CharField(
        max_length=500, blank=True, help_text="The provider's id; empty until it is known."
    )
    message_id = models.TextField(blank=True)
    revision = models.TextField(blank=True, help_text="As it was written, where that is known.")
    digest = models.CharField(max_length=64, help_text="Of what was written.")
    thread_id = models.CharField(
        max_length=500, blank=True, help_text="The provider's; empty until it is known."
    )
    reply_to_id = models.CharField(
        max_length=500, blank=True, help_text="The mail it answers; empty for a new mail."
    )
    receivers = models.JSONField(default=list, help_text="Addresses in small letters.")
    of_own_accord = models.BooleanField(help_text="A mail set it off: nobody asked for it.")
    state = models.CharField(max_length=16, choices=State, default=State.PENDING)
    answer_id = models.CharField(
        max_length=500, blank=True, help_text="The mail that the user sent instead, or from it."
    )
    nearness = models.FloatField(
        null=True, help_text="How much of that mail and the draft is the same, from 0 to 1."
    )
    withdrawal_id = models.UUIDField(
        null=True, editable=False, help_text="The action that takes it back, in the ledger."
    )
    written_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-written_at"]
        indexes = [
            models.Index(
                fields=["account", "thread_id"],
                condition=models.Q(state="pending"),
                name="assistant_draft_pending",
            )
        ]

    def __str__(self) -> str:
        return f"{self.draft_id or 'draft'} {self.state}"
