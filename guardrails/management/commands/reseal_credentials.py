"""Seal the secrets of accounts and recipients with a new key."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from guardrails.models import ApprovalRecipient
from integrations.credentials import credentials, sealing
from integrations.models import Credential


class Command(BaseCommand):
    help = (
        "Seals the secrets of accounts and of approval recipients with a new "
        "CREDENTIALS_PUBLIC_KEY. First set it and "
        "CREDENTIALS_PRIVATE_KEY, and the old private key as CREDENTIALS_PRIVATE_KEY_BEFORE."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            count = credentials.reseal(Credential.objects.all())
            count += credentials.reseal(ApprovalRecipient.objects.all())
        except (sealing.BadKey, sealing.CannotOpen) as error:
            raise CommandError(
                f"A secret does not open: {error}. Set the key that it was sealed with as "
                "CREDENTIALS_PRIVATE_KEY_BEFORE."
            ) from error
        self.stdout.write(f"Sealed anew: {count}. Remove CREDENTIALS_PRIVATE_KEY_BEFORE.")
