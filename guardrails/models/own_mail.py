"""Mail that agents sent, and mail that they filed, of their own accord."""

from django.db import models

from integrations.models import Account


class AgentMail(models.Model):
    """One receiver of a mail that the agent sent although nobody typed the address or said yes
    to the mail. Written before the provider is called, taken back when nothing was sent."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="agent_mails")
    action_id = models.UUIDField(editable=False)
    address = models.CharField(max_length=254, help_text="In small letters.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["action_id", "address"], name="agent_mail_once")
        ]
        indexes = [models.Index(fields=["account", "address"], name="agent_mail_to")]

    def __str__(self) -> str:
        return f"{self.address} {self.action_id}"


class AgentFiling(models.Model):
    """One mail that the agent archived, labelled, moved or marked as read although nobody said yes
    to it. Written before the provider is called, taken back when nothing was done; it outlives what
    the ledger keeps of it, so that the mail is never taken for one that a person filed."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="agent_filings")
    action_id = models.UUIDField(editable=False)
    item_id = models.CharField(max_length=500, help_text="The provider's id of the mail.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["action_id", "item_id"], name="agent_filing_once")
        ]
        indexes = [models.Index(fields=["account", "item_id"], name="agent_filing_of")]

    def __str__(self) -> str:
        return f"{self.item_id} {self.action_id}"
