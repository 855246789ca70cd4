"""What all processes must see at once, for a time."""

from django.db import models


class SharedEntry(models.Model):
    """An entry of Django's default cache: counts of wrong log-ins, and codes that were used.
    Django's DatabaseCache, whose columns these are, reads and writes it."""

    cache_key = models.CharField(max_length=255, primary_key=True)
    value = models.TextField()
    expires = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.cache_key
