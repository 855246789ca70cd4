"""Where a provider was asked to call Remit when something changes at an account."""

from django.db import models

from integrations.models.accounts import Account


class Subscription(models.Model):
    """One account's, or that there is none and when to ask for one again. What is asked for is an
    action in the ledger; this row says how far that went."""

    class Step(models.TextChoices):
        OPEN = "open", "Open"
        RENEW = "renew", "Renew"
        CLOSE = "close", "Close"

    account = models.OneToOneField(
        Account, primary_key=True, on_delete=models.CASCADE, related_name="subscription"
    )
    external_id = models.CharField(
        max_length=200, blank=True, help_text="Its name at the provider. Empty: there is none."
    )
    secret_digest = models.CharField(
        max_length=64,
        blank=True,
        help_text="SHA-256 of the secret that the provider sends with each call.",
    )
    answered_until = models.DateTimeField(
        null=True, help_text="Until then the provider may try whether this address is Remit's."
    )
    expires_at = models.DateTimeField(null=True)
    is_challenged = models.BooleanField(
        default=False, help_text="The provider wants to hear of it before it expires."
    )
    step = models.CharField(
        max_length=8, choices=Step, blank=True, help_text="What is under way. Empty: nothing."
    )
    action_id = models.UUIDField(null=True, help_text="That step's action, in the ledger.")
    write_key = models.CharField(
        max_length=100, blank=True, help_text="Of the last request that was begun."
    )
    written_at = models.DateTimeField(null=True, help_text="When that was begun.")
    failure = models.CharField(max_length=64, blank=True, help_text="Why there is none.")
    due_at = models.DateTimeField(help_text="When it is looked after next.")

    class Meta:
        indexes = [models.Index(fields=["due_at"], name="subscription_due")]

    def __str__(self) -> str:
        return f"Pushes of {self.account_id}"
