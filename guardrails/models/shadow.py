"""A policy that is only watched."""

import uuid

from django.db import models

from integrations.models import Account


class ShadowPolicy(models.Model):
    """What would be decided for an account if this were its policy. It grants and refuses
    nothing; changed by `guardrails.policies.shadow` alone."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.OneToOneField(Account, on_delete=models.CASCADE, related_name="shadow")
    content = models.JSONField(help_text="A whole policy file, as plain data.")
    since = models.DateTimeField(auto_now_add=True)
    by = models.CharField(max_length=200, help_text="Who put it there.")
    note = models.CharField(max_length=300, blank=True, help_text="What for.")

    class Meta:
        verbose_name = "shadow policy"
        verbose_name_plural = "shadow policies"

    def __str__(self) -> str:
        return f"Shadow policy of {self.account}"
