import getpass
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.keeping import end, erasure


class Command(BaseCommand):
    help = (
        "An organisation's end. Destroys its data key and erases the contents of its rows; "
        "nothing can be recorded for it afterwards, so no action of it runs. A bundle with all "
        "of its rows must have been exported before. Without --confirm it only says what "
        "would happen. It cannot be undone."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", type=UUID, required=True, help="The organisation's id.")
        parser.add_argument("--reason", required=True, help="Stored in the ledger: no names.")
        parser.add_argument("--confirm", default="", help="The organisation's id once more.")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant_id: UUID = options["tenant"]
        found = end.load_state(tenant_id)
        self.stdout.write(found.sentence)
        for sentence in found.refusals:
            self.stdout.write(sentence)
        if not options["confirm"]:
            self.stdout.write("Nothing was changed: add --confirm with the organisation's id.")
            return
        if options["confirm"] != str(tenant_id):
            raise CommandError("--confirm is not the organisation's id. Nothing was changed.")
        try:
            erased = end.end(
                tenant_id,
                reason=options["reason"],
                actor_id=f"command:{getpass.getuser()}",
                say=self.say,
            )
        except (end.CannotEnd, erasure.Held) as error:
            raise CommandError(f"{error} Nothing was changed.") from error
        self.stdout.write(f"The ledger of {tenant_id} has ended: {erased} rows' contents erased.")

    def say(self, progress: str) -> None:
        self.stderr.write(progress, style_func=str)
