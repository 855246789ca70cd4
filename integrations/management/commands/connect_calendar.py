"""`manage.py connect_calendar`: somebody's own calendars, tried before anything is stored."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from integrations.accounts import connecting
from integrations.accounts.connecting import Wish
from integrations.management.commands import connect_mailbox
from integrations.management.sentences import organisation_of, sentences
from integrations.providers.caldav import trial


class Command(BaseCommand):
    help = (
        "Connects calendars over CalDAV: finds their server, signs in, says what Remit can do and "
        "prove there, and stores it. Nothing is allowed at first: they are read alone. Again for "
        "the same address, it takes a new password. The password comes from "
        f"{connect_mailbox.PASSWORD} or is asked for; most providers want an app password, made in "
        "the account's settings there."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("address")
        parser.add_argument("--user", required=True, help="Whose calendars: the user's id.")
        parser.add_argument("--organisation", default="default", help="By its slug (%(default)s).")
        parser.add_argument(
            "--display-name", default="", help="As it stands beside the address in invitations."
        )
        parser.add_argument("--time-zone", default="UTC")
        parser.add_argument("--login", default="", help="Where it is not the address.")
        parser.add_argument("--url", metavar="HTTPS://…", help="The server, where it is not found.")
        parser.add_argument("--try-only", action="store_true", help="Store nothing.")

    def handle(self, *args: Any, **options: Any) -> None:
        address, user_name = options["address"], options["login"] or options["address"]
        organisation = organisation_of(options["organisation"])
        wish = Wish(
            organisation_id=organisation.id,
            user_id=options["user"],
            address=address,
            user_name=user_name,
            display_name=options["display_name"],
            time_zone=options["time_zone"],
            source="caldav",
        )
        with sentences():
            url = options["url"]
            found = (trial.read_url(url),) if url else trial.find_urls(address)
            secret = connect_mailbox.password()
            connecting.check(wish)
            tried = trial.try_urls(found, user_name=user_name, secret=secret)
            self.say(tried)
            if options["try_only"]:
                return
            connecting.accept(connecting.make_offer(wish, tried.server.to_json(), secret=secret))
        self.stdout.write(
            "\nConnected. Nothing is allowed yet. Next:\n"
            "  manage.py first_sync --wait     reads the events of the last 30 days and all later "
            "ones in\n"
            f"  manage.py policy --user {options['user']} --source caldav import "
            "--preset new-account-calendar --apply\n      lets the agent plan; it asks before "
            "anybody else hears of it"
        )

    def say(self, tried: trial.Tried) -> None:
        names = ", ".join(one.name or one.path for one in tried.calendars)
        self.stdout.write(f"Signed in at {tried.server.home}: {names or 'no calendar'}.")
        for one in tried.abilities:
            self.stdout.write(f"  {one.grade or '-'}  {one.what}. {one.why}")
