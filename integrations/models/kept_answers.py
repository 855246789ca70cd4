"""Answers that are given again to a caller who asks with the same idempotency key."""

from django.db import models

from integrations.models.accounts import Organisation

KEY_CHARS = 200


class KeptAnswer(models.Model):
    """What one request of a caller with an idempotency key was answered, for a day. Without
    `status` it has no answer yet, or its process ended before it had one."""

    organisation = models.ForeignKey(
        Organisation, on_delete=models.CASCADE, related_name="kept_answers"
    )
    principal = models.CharField(max_length=300, help_text="The caller, as the ledger names it.")
    key = models.CharField(max_length=KEY_CHARS)
    fingerprint = models.CharField(max_length=64, help_text="Of address and body.")
    status = models.PositiveSmallIntegerField(null=True)
    body = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "principal", "key"], name="kept_answer_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.principal} {self.key}"
