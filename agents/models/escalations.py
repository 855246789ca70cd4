"""What an agent has handed to a person."""

import uuid

from django.db import models

from agents.models.conversations import Conversation
from agents.models.turns import Turn
from integrations.models import Organisation


class Escalation(models.Model):
    """A conversation that waits for a person of the organisation. What they answer is a message
    of the conversation."""

    class State(models.TextChoices):
        OPEN = "open", "Waiting"
        TAKEN = "taken", "Taken"
        DONE = "done", "Done"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(
        Organisation, on_delete=models.PROTECT, related_name="escalations"
    )
    external_user_id = models.CharField("user", max_length=200)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="escalations"
    )
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="escalations")
    call_id = models.UUIDField(unique=True, editable=False)
    reason = models.TextField(help_text="In the agent's words.")
    tried = models.TextField("what was tried", blank=True, help_text="In the agent's words.")
    state = models.CharField(max_length=16, choices=State, default=State.OPEN)
    taken_by = models.CharField(max_length=200, blank=True)
    taken_at = models.DateTimeField(null=True, blank=True)
    done_by = models.CharField(max_length=200, blank=True)
    done_at = models.DateTimeField(null=True, blank=True)
    note = models.TextField(blank=True, help_text="For colleagues. The user does not see it.")
    last_news = models.CharField(
        max_length=16, blank=True, help_text="The news that was sent out last."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["conversation"],
                name="escalation_one_open_a_conversation",
                condition=models.Q(state__in=["open", "taken"]),
            ),
        ]
        indexes = [
            models.Index(fields=["organisation", "state", "-created_at"], name="escalation_open"),
            models.Index(fields=["-created_at"], name="escalation_newest"),
        ]

    def __str__(self) -> str:
        return f"Conversation of {self.external_user_id}"
