"""The policies that decided."""

from django.db import models

from audit.models.base import AppendOnlyModel


class LedgerPolicy(AppendOnlyModel):
    """One account's whole policy as it was when it decided; the digest is that of its canonical
    JSON, which is in `box`, or in `body` where it is from before policies were encrypted.
    Written once and read by `audit.ledger.policies`."""

    digest = models.TextField(primary_key=True)
    tenant_id = models.UUIDField()
    body = models.TextField(null=True)  # noqa: DJ001  # none: in the box
    box = models.BinaryField(null=True)
    recorded_at = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "audit_policy"
        verbose_name = "policy version"
        ordering = ["-recorded_at"]

    def __str__(self) -> str:
        return f"Policy {self.digest[:12]}"
