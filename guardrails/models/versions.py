"""Every policy that ever decided something, by its digest."""

from django.db import models


class PolicyVersion(models.Model):
    """One account's whole policy at one time. Written once by `guardrails.versions`."""

    digest = models.CharField(primary_key=True, max_length=64, editable=False)
    content = models.JSONField(editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"Policy {self.digest[:12]}"
