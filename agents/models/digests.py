"""That a user gets the mail about a day: once, whatever dies in between."""

from django.db import models

from integrations.models import Organisation


class DailyDigest(models.Model):
    """The mail about one day of one user. It is sent once: what a process left at *sending* may
    have gone out, so nobody sends it again."""

    class State(models.TextChoices):
        QUEUED = "queued", "Waiting"
        SENDING = "sending", "Being sent"
        SENT = "sent", "Sent"
        QUIET = "quiet", "Nothing to say"
        FAILED = "failed", "Failed"

    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="+")
    external_user_id = models.CharField(max_length=200)
    day = models.DateField(help_text="On the user's calendar.")
    state = models.CharField(max_length=16, choices=State, default=State.QUEUED)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-day"]
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "external_user_id", "day"], name="daily_digest_once"
            )
        ]
        indexes = [models.Index(fields=["day"], name="daily_digest_day")]

    def __str__(self) -> str:
        return f"{self.external_user_id}, {self.day}"
