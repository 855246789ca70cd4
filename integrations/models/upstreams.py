"""How each data service is doing, shared by every process that calls it."""

from django.db import models


class Upstream(models.Model):
    """One organisation's data service: its pace and its circuit (`integrations.network.gate`).

    The table is not logged: after a crash of the database it is empty, and made again.
    """

    name = models.SlugField(primary_key=True, help_text="The organisation's slug.")
    next_at = models.DateTimeField(help_text="Until when its pace is used up by requests.")
    blocked_until = models.DateTimeField(
        null=True, blank=True, help_text="It asked Remit to wait until then."
    )
    failures = models.PositiveIntegerField(
        default=0, help_text="Requests in a row that it did not answer, of all processes."
    )
    opened_until = models.DateTimeField(
        null=True, blank=True, help_text="Until then nothing is sent; then one request tries it."
    )
    last_error = models.CharField(max_length=200, blank=True)
    last_error_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "data service"
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
