"""What Remit has to remember about a calendar server: where events are, writes under way, how far
it looked."""

from typing import Any

from django.db import models

from integrations.models.accounts import Account


class CalendarPlace(models.Model):
    """Where a server keeps an event or a series with all that was moved in it: one resource. Its
    id is made from its path. A resource that is gone keeps its row, without an `etag`."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="calendar_places")
    event_id = models.CharField(max_length=40)
    path = models.CharField(max_length=1000)
    etag = models.CharField(max_length=500, blank=True, help_text="As it was last read in.")
    parts: "models.JSONField[Any, Any]" = models.JSONField(
        default=list, help_text="The ids of the events in it that were read in."
    )
    changes = models.BigIntegerField(default=0, help_text="How often it came out changed.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "event_id"], name="calendar_place_once")
        ]

    def __str__(self) -> str:
        return f"{self.event_id} at {self.path}"


class CalendarWrite(models.Model):
    """One write to a calendar server under its idempotency key: committed before the server is
    called, with the version of the event that it was made on."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="calendar_writes")
    key = models.CharField(max_length=200)
    operation = models.CharField(max_length=40)
    event_id = models.CharField(max_length=80)
    path = models.CharField(max_length=1000)
    etag_before = models.CharField(max_length=500, blank=True)
    answer: "models.JSONField[Any, Any]" = models.JSONField(default=dict)
    done = models.BooleanField(default=False)
    begun_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "key"], name="calendar_write_once")
        ]

    def __str__(self) -> str:
        return f"{self.operation} {self.key}"


class CalendarMark(models.Model):
    """How far a calendar had been looked at: the token that its server gave for that, or the
    link."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="calendar_marks")
    path = models.CharField(max_length=1000)
    token = models.CharField(max_length=1000, blank=True)
    link = models.TextField(blank=True, default="", db_default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "path"], name="calendar_mark_once")
        ]

    def __str__(self) -> str:
        return f"{self.path} at {self.token}"
