"""What calls of models used and cost, and what they may."""

from django.core.validators import MinValueValidator
from django.db import models

from integrations.models.accounts import Account, Organisation


class ModelCall(models.Model):
    """One call of a model: who it was for, what it used and cost."""

    organisation = models.ForeignKey(
        Organisation, on_delete=models.PROTECT, related_name="model_calls"
    )
    external_user_id = models.CharField("user", max_length=200)
    account = models.ForeignKey(
        Account, null=True, blank=True, on_delete=models.SET_NULL, related_name="model_calls"
    )
    run_id = models.UUIDField("turn", null=True, blank=True)
    purpose = models.CharField(max_length=64, help_text="The agent or the task that asked.")
    model = models.CharField(max_length=100)
    prompt_tokens = models.PositiveIntegerField(default=0)
    cached_tokens = models.PositiveIntegerField(
        default=0, help_text="Of the prompt's tokens, those the provider had cached."
    )
    answer_tokens = models.PositiveIntegerField(default=0)
    cost = models.DecimalField("cost (US$)", max_digits=14, decimal_places=8, default=0)
    latency_ms = models.PositiveIntegerField(default=0)
    error_code = models.CharField(max_length=64, blank=True)
    at = models.DateTimeField("time", auto_now_add=True)

    class Meta:
        ordering = ["-at"]
        verbose_name = "model call"
        indexes = [
            models.Index(fields=["run_id"], name="model_call_run"),
            models.Index(fields=["organisation", "external_user_id", "at"], name="model_call_user"),
            models.Index(fields=["account", "at"], name="model_call_account"),
            models.Index(fields=["-at"], name="model_call_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.purpose.replace('_', ' ')}: {self.model}"


class Budget(models.Model):
    """What models may use and cost within 24 hours. Every budget that fits must have room."""

    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="budgets")
    external_user_id = models.CharField(
        "user",
        max_length=200,
        blank=True,
        help_text="Empty: each user of the organisation who has no budget of their own.",
    )
    account = models.ForeignKey(
        Account,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="budgets",
        help_text="Only what is done for this account without a person: its incoming mail and "
        "its syncs.",
    )
    max_tokens = models.PositiveBigIntegerField(
        "tokens in 24 hours", null=True, blank=True, help_text="Empty: any number."
    )
    max_cost = models.DecimalField(
        "US$ in 24 hours",
        max_digits=10,
        decimal_places=2,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="Empty: any amount.",
    )

    class Meta:
        ordering = ["organisation", "external_user_id"]
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "external_user_id", "account"],
                name="budget_once",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                condition=models.Q(account=None) | models.Q(external_user_id=""),
                name="budget_of_user_or_account",
                violation_error_message="Choose a user or an account, not both.",
            ),
        ]

    def __str__(self) -> str:
        return f"Budget of {self.account or self.external_user_id or 'every user'}"
