"""Which organisations a member of the staff works for."""

from django.conf import settings
from django.db import models

from integrations.models.accounts import Organisation


class Membership(models.Model):
    """Somebody of the staff meets this organisation in the admin, and no other that they have no
    membership of. Superusers meet all. Who is a user of the agent there themself speaks and decides
    as that user alone."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    organisation = models.ForeignKey(
        Organisation, on_delete=models.CASCADE, related_name="memberships"
    )
    external_user_id = models.CharField(
        "user of the agent",
        max_length=200,
        blank=True,
        default="",
        db_default="",
        help_text="The user id that this person has themself, for the role “User”. In the console "
        "and over the API they are this user and nobody else. Empty: they work for all.",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "organisation"],
                name="membership_once",
                violation_error_message="They are a member of this organisation already.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.user} of {self.organisation}"
