"""What people save for themselves; not evidence."""

import uuid

from django.db import models


class SavedFilter(models.Model):
    """Filters of the ledger's list that somebody saved. Not evidence: they may change.
    Shared, everybody who sees the ledger of the same organisation sees it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.TextField(help_text="The key of the person who keeps it.")
    tenant_id = models.UUIDField(null=True)
    name = models.CharField(max_length=60)
    query = models.TextField()
    is_shared = models.BooleanField(default=False)
    saved_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="saved_filter_once")]

    def __str__(self) -> str:
        return self.name
