"""Actions that are permitted and wait, so that somebody can still recall them."""

import uuid

from django.db import models
from django.db.models import Q

from guardrails.actions import registry
from guardrails.facts.text import heading_of
from integrations.models import Account, Organisation


class HeldSend(models.Model):
    """One permitted action that is carried out later. Changes only by conditional updates:
    held to released or recalled, by the first who asks; released to refused or failed. A
    provider call begins only after a release."""

    class State(models.TextChoices):
        HELD = "held", "Held"
        RELEASED = "released", "Released"
        RECALLED = "recalled", "Recalled"
        REFUSED = "refused", "Released, but refused"
        FAILED = "failed", "Released, but failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    action_id = models.UUIDField(unique=True, help_text="The action's id in the ledger.")
    organisation = models.ForeignKey(
        Organisation, on_delete=models.CASCADE, related_name="held_sends"
    )
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="held_sends")
    external_user_id = models.CharField(max_length=200, help_text="On whose behalf.")
    turn_id = models.CharField(max_length=64, blank=True)
    action_type = models.CharField(max_length=64, choices=registry.action_choices)
    arguments = models.JSONField(help_text="The canonical arguments: exactly these are executed.")
    origin = models.JSONField(help_text="Where the request came from, to decide it again.")
    confirmation = models.JSONField(default=dict, help_text="The person's word, if one was asked.")
    description = models.TextField(help_text="The action in one line.")
    seen = models.JSONField(
        default=list,
        help_text="The object when it was decided: each part with its digest.",
    )
    until = models.DateTimeField(help_text="When it is carried out, if nobody recalls it.")
    state = models.CharField(max_length=16, choices=State, default=State.HELD)
    held_at = models.DateTimeField(auto_now_add=True)
    decided_at = models.DateTimeField(
        null=True, blank=True, help_text="When it was released or recalled."
    )
    decided_by = models.CharField(max_length=200, blank=True)
    finished_at = models.DateTimeField(
        null=True, blank=True, help_text="When what became of it was in the ledger."
    )
    outcome = models.TextField(blank=True, help_text="What became of it, for people.")

    class Meta:
        ordering = ["-held_at"]
        verbose_name = "held send"
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["held", "released", "recalled", "refused", "failed"]),
                name="held_send_state",
            ),
            models.CheckConstraint(
                condition=Q(state="held", decided_at__isnull=True)
                | (~Q(state="held") & Q(decided_at__isnull=False)),
                name="held_send_decided_once",
            ),
        ]
        indexes = [
            models.Index(fields=["until"], name="held_send_due", condition=Q(state="held")),
            models.Index(
                fields=["decided_at"],
                name="held_send_unfinished",
                condition=Q(state__in=["released", "recalled"], finished_at=None),
            ),
            models.Index(
                fields=["organisation", "external_user_id", "-held_at"], name="held_send_inbox"
            ),
        ]

    def __str__(self) -> str:
        return heading_of(self.description)
