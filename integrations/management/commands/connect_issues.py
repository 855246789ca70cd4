"""`manage.py connect_issues`: somebody's own issues, tried before anything is stored."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from integrations.accounts import connectables, connecting, trials
from integrations.accounts.connecting import Wish
from integrations.management.commands import connect_mailbox
from integrations.management.sentences import organisation_of, sentences
from integrations.ports.registry import PROVIDER_OF
from integrations.providers.connectable import Found, Given

TRACKERS = {
    PROVIDER_OF[source].name: source
    for source, one in connectables.ALL.items()
    if one.what == "tracker"
}
HOW = " ".join(connectables.of(source).secret.hint for source in TRACKERS.values())


class Command(BaseCommand):
    help = (
        "Connects issues at a tracker: signs in, says what Remit can do and prove there, and "
        "stores it. Nothing is allowed at first: they are read alone. Again for the same address, "
        f"it takes a new token. The token comes from {connect_mailbox.PASSWORD} or is asked for. "
        f"{HOW}"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("tracker", choices=sorted(TRACKERS))
        parser.add_argument("address", help="The user's mail address.")
        parser.add_argument("--user", required=True, help="Whose issues: the user's id.")
        parser.add_argument("--organisation", default="default", help="By its slug (%(default)s).")
        parser.add_argument("--time-zone", default="UTC")
        parser.add_argument(
            "--url", default="", metavar="HTTPS://…", help="Where it is, if not at github.com."
        )
        parser.add_argument(
            "--project",
            action="append",
            default=[],
            help="Only in this one (OWNER/NAME, or a key), again for each. Left out: all.",
        )
        parser.add_argument("--try-only", action="store_true", help="Store nothing.")

    def handle(self, *args: Any, **options: Any) -> None:
        organisation = organisation_of(options["organisation"])
        wish = Wish(
            organisation_id=organisation.id,
            user_id=options["user"],
            address=options["address"],
            user_name=options["address"],
            time_zone=options["time_zone"],
            source=TRACKERS[options["tracker"]],
        )
        with sentences():
            secret = connect_mailbox.password()
            connecting.check(wish)
            found = self.tried(wish, secret, options)
            self.say(found)
            if options["try_only"]:
                return
            connecting.accept(connecting.make_offer(wish, found.servers, secret=secret))
        self.stdout.write(
            "\nConnected. Nothing is allowed yet. Next:\n"
            "  manage.py first_sync --wait     reads the issues of the last 92 days and all later "
            "ones in\n"
            f"  manage.py policy --user {options['user']} --source {wish.source} import "
            "--preset new-account-issues --apply\n      lets the agent work on issues; it asks "
            "before anybody else hears of it"
        )

    def tried(self, wish: Wish, secret: str, options: dict[str, Any]) -> Found:
        given = Given(
            address=wish.address,
            user_name=wish.user_name,
            secret=secret,
            url=options["url"],
            projects=tuple(options["project"]),
        )
        return trials.try_it(wish.source, given)

    def say(self, found: Found) -> None:
        names = ", ".join(found.projects or ()) or "no project with issues"
        self.stdout.write(f"Signed in at {found.host}: {names}.")
        for one in found.abilities:
            self.stdout.write(f"  {one.grade or '-'}  {one.what}. {one.why}")
