"""Which organisations a member of the staff works for."""

from django.conf import settings
from django.db import models

from integrations.models.accounts import Organisation


class Membership(models.Model):
    """Somebody of the staff meets this organisation in the admin, and no other that they have no
    membership of. Superusers meet all."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    organisation = models.ForeignKey(
        Organisation, on_delete=models.CASCADE, related_name="memberships"
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
