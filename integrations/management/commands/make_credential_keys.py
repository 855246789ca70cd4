"""Make the pair of keys that secrets of accounts are sealed with."""

import base64
import secrets
from typing import Any

from django.core.management.base import BaseCommand

from integrations.credentials import sealing


class Command(BaseCommand):
    help = (
        "Prints a new pair of keys. Give the public one to every process, and the private one "
        "only to those that call providers: cluster, turns and watch_mailboxes."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        private = base64.b64encode(secrets.token_bytes(sealing.KEY_BYTES)).decode()
        public = sealing.to_text(sealing.private_key(private).public_key())
        self.stdout.write(f"CREDENTIALS_PUBLIC_KEY={public}\nCREDENTIALS_PRIVATE_KEY={private}")
