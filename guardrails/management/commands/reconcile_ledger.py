"""`manage.py reconcile_ledger`: what the providers say that Remit did, against the ledger."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from guardrails.comply.reconciliation import run as reconciliation
from guardrails.comply.reconciliation.rows import Reconciliation
from guardrails.facts.text import visible
from integrations.models import Organisation


class Command(BaseCommand):
    help = (
        "Compares each provider's history with the ledger and records what it finds: effects "
        "without a row, successes without an effect, and what became of unknown actions. "
        "Nothing is repeated. Exit code 1 when provider and ledger disagree."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--organisation", help="Its slug; all of them without it.")
        parser.add_argument("--days", type=int, help="How far back, instead of to the last run.")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["days"] is not None and not 1 <= options["days"] <= 366:
            raise CommandError("--days: give a number from 1 to 366.")
        rows = Organisation.objects.order_by("slug")
        if options["organisation"]:
            rows = rows.filter(slug=options["organisation"])
            if not rows:
                raise CommandError(f"There is no organisation “{options['organisation']}”.")
        incidents = 0
        for organisation in rows:
            found = reconciliation.reconcile(organisation, now=timezone.now(), days=options["days"])
            incidents += found.incidents
            self.tell(organisation, found)
        if incidents:
            raise CommandError(f"Provider and ledger disagree: {incidents} incidents.")

    def tell(self, organisation: Organisation, found: Reconciliation) -> None:
        self.stdout.write(f"{organisation.slug}: {found.sentence}")
        for result in found.results:
            who = visible(f"{result.account.external_user_id} {result.account.source}")
            if result.problem:
                self.stdout.write(f"  {who}: not compared. {result.problem}")
            for one in result.comparison.resolutions if result.comparison else ():
                outcome = "done" if one.was_done else "not done"
                self.stdout.write(f"  {who}: unknown action {one.action.action_id} was {outcome}.")
            for incident in result.comparison.incidents if result.comparison else ():
                change = incident.change
                subject = (
                    f"{change.kind} {change.object_id} {change.change} at {change.at.isoformat()}"
                    if change
                    else f"action {incident.action.action_id if incident.action else ''}"
                )
                self.stdout.write(f"  INCIDENT {who}: {visible(subject)}. {incident.sentence}")
