"""`manage.py load_demo`: the demo's organisation and the operator's login."""

import os
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils.crypto import constant_time_compare, salted_hmac

from agents.office import demo, roles, sandbox
from integrations.exceptions import ProviderError

OPERATOR = "operator"


class Command(BaseCommand):
    help = (
        "Loads the demo office: organisation, accounts, limits, patterns, skills, and the "
        "superuser “operator” with the password in OPERATOR_PASSWORD. Safe to run again."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        password = os.environ.get("OPERATOR_PASSWORD", "")
        if not password:
            raise CommandError("Set OPERATOR_PASSWORD: the operator logs in with it.")
        try:
            with transaction.atomic():
                loaded = demo.load()
                set_operator_password(password)
                roles.make_roles()
        except demo.NotTheDemo as error:
            raise CommandError(
                f"The organisation “{demo.SLUG}” is not the demo's, so nothing was loaded. "
                "Use another database for the demo."
            ) from error
        remember(password)
        try:
            self.furnish()
        except ProviderError as error:
            raise CommandError(f"The sandbox data service does not answer: {error}.") from error
        self.stdout.write("The demo office is loaded." if loaded else "The demo office is there.")

    def furnish(self) -> None:
        """Residents that the sandbox's own office lacks, such as the one for replayed mail."""
        if sandbox.is_sandbox(demo.SLUG):
            for resident in demo.RESIDENTS:
                sandbox.add_user(
                    demo.SLUG,
                    external_user_id=resident.user_id,
                    address=resident.address,
                    name=resident.name,
                )


def set_operator_password(password: str) -> None:
    """Make the operator, or follow a new OPERATOR_PASSWORD. A password that the operator
    chose in the admin stays until OPERATOR_PASSWORD changes."""
    operator, created = User.objects.get_or_create(
        username=OPERATOR, defaults={"is_staff": True, "is_superuser": True}
    )
    if created or not was_applied(password):
        operator.set_password(password)
        operator.save(update_fields=["password"])


def record() -> Path:
    return Path(settings.STATE_DIR) / "operator-password"


def digest(password: str) -> str:
    return salted_hmac("load_demo.operator", password, algorithm="sha256").hexdigest()


def was_applied(password: str) -> bool:
    """Whether this is the OPERATOR_PASSWORD that was applied last from this machine."""
    path = record()
    return path.exists() and constant_time_compare(path.read_text("ascii"), digest(password))


def remember(password: str) -> None:
    path = record()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_text(digest(password), "ascii")
