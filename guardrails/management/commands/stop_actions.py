"""`manage.py stop_actions`: what the page “Stop” does, where no page can be reached."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, InterfaceError

from audit.contracts import LedgerError
from audit.ledger import people
from audit.ledger.timeline import moment
from guardrails.execute import switches
from guardrails.execute.switches import Scope
from guardrails.facts.text import visible
from guardrails.models import KillSwitch
from guardrails.policies import stopped
from guardrails.policies.changes import Author
from integrations.models import Organisation

NOT_CHANGED = (
    "The database does not answer, so nothing was changed. While it is away nothing is carried out "
    "either: an action has to be recorded before it begins. Run the same command again."
)
NOT_RECORDED = "Nothing was changed, as the ledger could not record it: look at its database."


class Command(BaseCommand):
    help = (
        "Stops every action of the agents at once, in all organisations or in one, and waits for "
        "those that had begun; --allow lets them run again. Who and why is in the ledger, as from "
        "the page “Stop”."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--name", required=True, help="Who you are.")
        parser.add_argument("--reason", required=True, help="Why: people and the ledger have it.")
        parser.add_argument("--organisation", help="Its slug; all of them without it.")
        parser.add_argument("--allow", action="store_true", help="End the stop of the same scope.")
        parser.add_argument(
            "--handle",
            action="store_true",
            help="With --allow: also handle the mails that were left alone meanwhile.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        name, reason = options["name"].strip(), options["reason"].strip()
        if not name:
            raise CommandError("Say who you are, with --name.")
        if not reason or len(reason) > 300:
            raise CommandError("Say why, with --reason, in at most 300 characters.")
        if options["handle"] and not options["allow"]:
            raise CommandError("--handle goes with --allow.")
        author = Author(name=f"command:{name}"[:200], door="command")
        try:
            scope = self.scope(options["organisation"])
            if options["allow"]:
                self.allow(scope, reason, author, handle=options["handle"])
            else:
                self.stop(scope, reason, author)
        except LedgerError as error:
            raise CommandError(NOT_RECORDED) from error
        except (DatabaseError, InterfaceError) as error:
            raise CommandError(NOT_CHANGED) from error

    def scope(self, slug: str | None) -> Scope:
        if not slug:
            return Scope()
        organisation = Organisation.objects.filter(slug=slug).first()
        if organisation is None:
            raise CommandError(f"There is no organisation “{slug}”. Nothing was changed.")
        return Scope(organisation_id=organisation.id)

    def stop(self, scope: Scope, reason: str, author: Author) -> None:
        thrown = switches.throw(scope, why=reason, author=author)
        row = KillSwitch.objects.select_related("organisation").get(id=thrown.switch_id)
        self.stdout.write(f"Stopped: {describe(row)}")
        if thrown.recalled:
            self.stdout.write(f"Held actions that were recalled: {thrown.recalled}.")
        if thrown.under_way:
            self.stdout.write(
                "Nothing new begins. Calls that began earlier and have no outcome yet: "
                f"{thrown.under_way}; the ledger will show it."
            )
        else:
            self.stdout.write("Nothing is under way any more.")

    def allow(self, scope: Scope, reason: str, author: Author, *, handle: bool) -> None:
        row = KillSwitch.objects.filter(**vars(scope), lifted_at=None).first()
        if row and switches.lift(switch_id=row.pk, why=reason, author=author, handle=handle):
            meanwhile = " What arrived meanwhile is handled now." if handle else ""
            self.stdout.write(f"{visible(str(row))}: runs again.{meanwhile}")
        else:
            self.stdout.write("This was not stopped.")
        of = scope.organisation_id
        for other in stopped.list_thrown(None if of is None else [of]):
            self.stdout.write(f"Still stopped: {describe(other)}")


def describe(row: KillSwitch) -> str:
    """What is stopped, since when, by whom and why; the first reason where it was stopped twice."""
    by = people.name_one(row.organisation_id, row.thrown_by)
    return visible(f"{row}, since {moment(row.thrown_at)} by {by}: “{row.why}”.", limit=600)
