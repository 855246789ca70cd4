"""`manage.py connect_contacts`: somebody's own address books, tried before anything is stored."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from integrations.accounts import connecting
from integrations.accounts.connecting import Wish
from integrations.management.commands import connect_mailbox
from integrations.management.sentences import organisation_of, sentences
from integrations.providers.carddav import trial


class Command(BaseCommand):
    help = (
        "Connects address books over CardDAV: finds their server, signs in, says what Remit learns "
        "there, and stores it. Who is in one of the user's own is no stranger to their agent; "
        "nothing is written there. Again for the same address, it takes a new password. The "
        f"password comes from {connect_mailbox.PASSWORD} or is asked for."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("address")
        parser.add_argument("--user", required=True, help="Whose contacts: the user's id.")
        parser.add_argument("--organisation", default="default", help="By its slug (%(default)s).")
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
            source="carddav",
        )
        with sentences():
            url = options["url"]
            found = (trial.read_url(url),) if url else trial.find_urls(address)
            secret = connect_mailbox.password()
            connecting.check(wish)
            tried = trial.try_urls(found, user_name=user_name, secret=secret)
            names = ", ".join(one.name or one.path for one in tried.books)
            self.stdout.write(f"Signed in at {tried.server.home}: {names or 'no address book'}.")
            for one in tried.abilities:
                self.stdout.write(f"  {one.grade or '-'}  {one.what}. {one.why}")
            if options["try_only"]:
                return
            connecting.accept(connecting.make_offer(wish, tried.server.to_json(), secret=secret))
        self.stdout.write("\nConnected. Nothing is permitted by it.")
