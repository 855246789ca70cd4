"""Make the pair of keys that notifications to browsers are signed with."""

from typing import Any

from django.core.management.base import BaseCommand

from integrations.network import web_push


class Command(BaseCommand):
    help = (
        "Prints a new pair of keys for Web Push. Give the public one to web and cluster, and the "
        "private one to the cluster alone. With another pair people switch notifications on again."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        public, private = web_push.make_keys()
        self.stdout.write(f"VAPID_PUBLIC_KEY={public}\nVAPID_PRIVATE_KEY={private}")
