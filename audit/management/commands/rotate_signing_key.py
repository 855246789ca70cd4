import getpass
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from audit.seals import notes, signing_keys
from audit.seals.signing_keys import encode


class Command(BaseCommand):
    help = (
        "Names a new key for the ledger's checkpoints. Set LEDGER_SIGNING_KEY to the present key "
        "and the new one, with a comma between, for this command and for the sealer; from its "
        "next seal on the sealer signs with the new one. Recorded in the ledger."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        actor_id = f"command:{getpass.getuser()}"
        try:
            signers = notes.signers(settings.LEDGER_SIGNING_KEY)
            rotation = signing_keys.rotate(signers, actor_id=actor_id, now=timezone.now())
        except (ValueError, signing_keys.CannotRotate) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"The ledger is signed by {encode(rotation.new)} from now on, which "
            f"{encode(rotation.old)} has named. Once the sealer runs with it, take the old key out "
            "of LEDGER_SIGNING_KEY. Auditors go on with the key that they have."
        )
