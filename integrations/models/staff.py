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


class SignInIdentity(models.Model):
    """Who somebody is at the provider that they log in at: its name for itself and its name for
    them, which both stay. A mail address does not: it is given to the next person."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="sign_in_identities"
    )
    issuer = models.CharField(
        max_length=500, help_text="As OIDC_ISSUER has it, for example https://login.company.com."
    )
    subject = models.CharField(
        max_length=255,
        help_text="What the provider calls them: “sub”. The page says it to who is refused.",
    )
    by_mail = models.BooleanField(
        "bound by mail", default=False, editable=False, help_text="Nobody bound it by hand."
    )
    created_at = models.DateTimeField("bound at", auto_now_add=True)
    last_used_at = models.DateTimeField("last log-in", null=True, editable=False)

    class Meta:
        verbose_name_plural = "sign-in identities"
        constraints = [
            models.UniqueConstraint(
                fields=["issuer", "subject"],
                name="sign_in_identity_of_one_user",
                violation_error_message="This identity is bound to a user already.",
            ),
            models.UniqueConstraint(
                fields=["user", "issuer"],
                name="sign_in_identity_once",
                violation_error_message="This user has an identity of this provider already.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.subject} at {self.issuer}"
