"""How an account of somebody's own is reached: where, by which name, and the sealed secret."""

from typing import Any

from django.db import models

from integrations.models.accounts import Account


class Credential(models.Model):
    """The sign-in of one account. The secret is sealed (`integrations.credentials.sealing`): it
    stands in no page, log, task or export, and the web process cannot open it."""

    class State(models.TextChoices):
        GOOD = "good", "Signed in"
        SIGN_IN = "sign_in", "Sign in again"

    account = models.OneToOneField(
        Account, primary_key=True, on_delete=models.CASCADE, related_name="credential"
    )
    user_name = models.CharField(max_length=320)
    servers: "models.JSONField[Any, Any]" = models.JSONField(
        default=dict, help_text="Where the account is, as its provider needs to know."
    )
    sealed = models.BinaryField()
    key_id = models.CharField(max_length=16, db_index=True)
    state = models.CharField(max_length=16, choices=State, default=State.GOOD)
    changed_at = models.DateTimeField(auto_now=True)
    refreshing_until = models.DateTimeField(
        null=True, blank=True, help_text="Until then one process renews the token."
    )
    looked_at = models.DateTimeField(
        null=True, blank=True, help_text="When somebody last began to look for what is new."
    )

    seen_at = models.DateTimeField(
        null=True, blank=True, help_text="All that was new until then has been seen."
    )
    watched_by = models.UUIDField(null=True, blank=True, help_text="Which process listens there.")
    watched_until = models.DateTimeField(null=True, blank=True)
    failure = models.CharField(max_length=64, blank=True, help_text="Why the last look failed.")
    failed_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"Sign-in of {self.account_id}"
