"""`manage.py connect_files`: somebody's own files, tried before anything is stored."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from integrations.accounts import connecting
from integrations.accounts.connecting import Wish
from integrations.management.commands import connect_mailbox
from integrations.management.sentences import organisation_of, sentences
from integrations.providers.webdav import trial
from integrations.providers.webdav.trial import Tried


class Command(BaseCommand):
    help = (
        "Connects a folder of files over WebDAV: signs in, says what Remit can do and prove there, "
        "and stores it. Nothing is allowed at first: they are read alone. Again for the same "
        f"address, it takes a new password. The password comes from {connect_mailbox.PASSWORD} or "
        "is asked for."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("address", help="The user's mail address.")
        parser.add_argument("--url", required=True, metavar="HTTPS://…", help=trial.HOW)
        parser.add_argument("--user", required=True, help="Whose files: the user's id.")
        parser.add_argument("--organisation", default="default", help="By its slug (%(default)s).")
        parser.add_argument("--display-name", default="")
        parser.add_argument("--time-zone", default="UTC")
        parser.add_argument("--login", default="", help="Where it is not the address.")
        readers = parser.add_mutually_exclusive_group()
        readers.add_argument(
            "--private", action="store_true", help="Nobody else reads what lies in the folder."
        )
        readers.add_argument(
            "--reader",
            action="append",
            metavar="ADDRESS",
            help="Who else reads it; again for each. With neither, the files are read and not "
            "written to, unless the server itself tells.",
        )
        parser.add_argument("--try-only", action="store_true", help="Store nothing.")

    def handle(self, *args: Any, **options: Any) -> None:
        organisation = organisation_of(options["organisation"])
        wish = Wish(
            organisation_id=organisation.id,
            user_id=options["user"],
            address=options["address"],
            user_name=options["login"] or options["address"],
            display_name=options["display_name"],
            time_zone=options["time_zone"],
            source="webdav",
        )
        with sentences():
            url = trial.read_url(options["url"])
            secret = connect_mailbox.password()
            connecting.check(wish)
            readers = [] if options["private"] else options["reader"]
            tried = trial.try_url(url, user_name=wish.user_name, secret=secret, readers=readers)
            self.say(tried)
            if options["try_only"]:
                return
            connecting.accept(connecting.make_offer(wish, tried.server.to_json(), secret=secret))
        self.stdout.write(
            "\nConnected. Nothing is allowed yet. Next:\n"
            "  manage.py first_sync --wait     reads what was changed in the last six months\n"
        )

    def say(self, tried: Tried) -> None:
        self.stdout.write(f"Signed in. Folders: {', '.join(tried.folders) or 'none'}.\n")
        for one in tried.abilities:
            grade = f"grade {one.grade}" if one.grade else "not here"
            self.stdout.write(f"  {one.what}: {grade}. {one.why}")
