"""What was read from the files of an item."""

from django.db import models

from knowledge.models.items import Item


class ItemFile(models.Model):
    """An attachment of a mail, or the file that is a document: what was read from it, or why
    nothing was."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="files")
    position = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=200, blank=True)
    mime_type = models.CharField("type", max_length=200, blank=True)
    size = models.BigIntegerField(default=0, help_text="In bytes, as the provider says.")
    file_id = models.CharField(
        max_length=500, blank=True, help_text="Names exactly these bytes. Empty: not offered."
    )
    attached = models.BooleanField(default=True, help_text="No: it is the document itself.")
    text = models.TextField(blank=True)
    reason = models.CharField(
        max_length=32, blank=True, help_text="Why there is no text. Empty: it was read."
    )
    cut = models.BooleanField(default=False, help_text="There is more in it than is kept.")
    tries = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(null=True, blank=True, help_text="When it is asked for again.")

    class Meta:
        verbose_name = "file"
        ordering = ["item_id", "position"]
        constraints = [models.UniqueConstraint(fields=["item", "position"], name="item_file_once")]
        indexes = [
            models.Index(
                fields=["due_at"], name="item_file_due", condition=models.Q(due_at__isnull=False)
            )
        ]

    def __str__(self) -> str:
        return self.name or f"File {self.position + 1}"
