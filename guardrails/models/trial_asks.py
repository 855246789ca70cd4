"""What a trial would have asked a person."""

from django.db import models

from integrations.models import Account


class TrialAsk(models.Model):
    """One action that a person would be asked about if a run over past mail that only tries were
    for real. Nobody sees it; later mails of the same trial are decided with it."""

    action_id = models.UUIDField(primary_key=True, editable=False)
    trial = models.UUIDField(help_text="The run over past mail.")
    account = models.ForeignKey(
        Account, on_delete=models.CASCADE, related_name="trial_asks", db_index=False
    )
    question = models.UUIDField(help_text="Like actions are one question: its first action's id.")
    asked = models.JSONField(help_text="What makes it like others, and what brought it up.")
    same = models.CharField(max_length=64, help_text="Equal for the very same action.")
    created_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["account", "trial"], name="trial_ask_of"),
            models.Index(fields=["created_at"], name="trial_ask_sweep"),
        ]

    def __str__(self) -> str:
        return f"{self.trial} {self.action_id}"
