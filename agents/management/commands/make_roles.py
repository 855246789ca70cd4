"""`manage.py make_roles`: the groups of the admin that Remit ships."""

from typing import Any

from django.core.management.base import BaseCommand

from agents.office import roles


class Command(BaseCommand):
    help = (
        f"Makes the groups {', '.join(roles.ROLES)}, or gives them their rights again after an "
        "update. Safe to run again."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        roles.make_roles()
        self.stdout.write(f"The roles are there: {', '.join(roles.ROLES)}.")
