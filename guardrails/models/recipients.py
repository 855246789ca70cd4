"""Who outside receives the ledger's checkpoints."""

import uuid

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import models

from integrations.models import Organisation
from integrations.network import outgoing


class CheckpointRecipient(models.Model):
    """An address that receives an organisation's newest checkpoint every day. Another address
    is another row: each is confirmed by a code that arrives there."""

    class Kind(models.TextChoices):
        WEBHOOK = "webhook", "Webhook"
        MAIL = "mail", "Mail"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(
        Organisation, on_delete=models.CASCADE, related_name="checkpoint_recipients"
    )
    kind = models.CharField(max_length=16, choices=Kind, default=Kind.MAIL)
    address = models.CharField(
        max_length=500, help_text="A mail address, or the https:// address of a webhook."
    )
    added_by = models.CharField(max_length=200, editable=False)
    added_at = models.DateTimeField(auto_now_add=True)
    code_digest = models.CharField(max_length=64, blank=True, editable=False)
    code_sent_at = models.DateTimeField(null=True, blank=True, editable=False)
    code_tries = models.PositiveSmallIntegerField(default=0, editable=False)
    confirmed_at = models.DateTimeField(null=True, blank=True, editable=False)
    next_at = models.DateTimeField(null=True, blank=True, editable=False)
    failures = models.PositiveIntegerField(default=0, editable=False)
    error_code = models.CharField(max_length=64, blank=True, editable=False)
    delivered_at = models.DateTimeField(null=True, blank=True, editable=False)
    delivered_size = models.BigIntegerField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["organisation", "address"]
        verbose_name = "checkpoint recipient"
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "kind", "address"], name="recipient_once"
            )
        ]
        indexes = [
            models.Index(
                fields=["next_at"],
                name="recipient_due",
                condition=models.Q(confirmed_at__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return self.address

    def clean(self) -> None:
        if self.kind == self.Kind.MAIL:
            try:
                validate_email(self.address)
            except ValidationError as error:
                raise ValidationError({"address": "This is not a mail address."}) from error
            if not settings.EMAIL_URL:
                raise ValidationError({"kind": "Mail is not set up: set EMAIL_URL."})
            return
        try:
            outgoing.check_form(self.address)
        except outgoing.Forbidden as error:
            raise ValidationError({"address": str(error)}) from error
