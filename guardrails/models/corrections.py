"""Labels that people took off again."""

from django.db import models

from integrations.models import Account


class LabelCorrection(models.Model):
    """A person took off a mail, or replaced, a label that the agent had put on it of its own
    accord. It stands until they put that label on such mail themselves. `sender` is the proved
    one, so that nothing is said of somebody whose name a forged mail bears."""

    account = models.ForeignKey(
        Account, on_delete=models.CASCADE, related_name="label_corrections", db_index=False
    )
    item_id = models.CharField(max_length=500, help_text="The provider's id of the mail.")
    label_id = models.CharField(max_length=500, help_text="The provider's id of the label.")
    sender = models.CharField(
        max_length=254, blank=True, help_text="Who wrote the mail; empty where that is not proved."
    )
    list_id = models.TextField(blank=True, help_text="The mailing list that it came through.")
    at = models.DateTimeField(help_text="When it was noticed.")
    lifted_at = models.DateTimeField(
        null=True, blank=True, help_text="When the person put the label on such mail themselves."
    )

    class Meta:
        ordering = ["-at"]
        constraints = [
            models.UniqueConstraint(
                fields=["account", "item_id", "label_id"], name="label_correction_once"
            )
        ]
        indexes = [models.Index(fields=["account", "sender"], name="label_correction_of")]

    def __str__(self) -> str:
        return f"{self.label_id} {self.item_id}"
