"""How often an account's items were written (`knowledge.ingest.write_counts`)."""

from django.db import models

from integrations.models import Account


class WriteCount(models.Model):
    """One of several counts of one account and language; only their sum says something."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    language = models.CharField(max_length=32)
    slot = models.PositiveSmallIntegerField()
    writes = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "language", "slot"], name="write_count_once")
        ]

    def __str__(self) -> str:
        return f"{self.writes} in {self.language}"
