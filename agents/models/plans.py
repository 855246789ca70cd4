"""The plan of a conversation."""

from django.db import models

from agents.models.conversations import Conversation


class Plan(models.Model):
    """What an agent intends to do for a conversation, and how far it is."""

    conversation = models.OneToOneField(Conversation, on_delete=models.CASCADE, related_name="plan")
    # agents.plans.plans.Plan as JSON, valid as it stands.
    content = models.JSONField()
    finished = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-updated_at"]

    def __str__(self) -> str:
        return f"Plan of {self.conversation_id}"
