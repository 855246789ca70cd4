"""`manage.py verify_installation`: what Remit guarantees, tried here and now."""

import dataclasses
import json
import logging
import signal
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError
from django.utils import timezone

from agents.evaluation.database import NoDatabase
from agents.evaluation.programs import DidNotStart
from agents.installation import running
from agents.installation.guarantees import Result
from agents.models import InstallationCheck


class Command(BaseCommand):
    help = (
        "Tries what Remit guarantees at this installation: its settings and tables as they are, "
        "and each deed in an office and a database of its own, which are gone afterwards. Exit "
        "code 1 if one guarantee does not hold."
    )
    requires_system_checks: list[str] = []  # it reports itself what they would refuse

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--only", action="append", help="This one; may be repeated.")
        parser.add_argument("--json", action="store_true", help="Each result as a line of JSON.")

    def handle(self, *args: Any, **options: Any) -> None:
        # What was made is taken away when it is stopped, too.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        names = options["only"] or running.NAMES
        if unknown := sorted(set(names) - {*running.NAMES}):
            raise CommandError(
                f"There is no guarantee {', '.join(unknown)}. Known: {', '.join(running.NAMES)}."
            )
        logging.disable(logging.ERROR)  # things go wrong on purpose
        check = InstallationCheck(began_at=timezone.now())
        try:
            for result in running.run(names):
                check.results.append(dataclasses.asdict(result))
                self.say(result, as_json=options["json"])
        except (NoDatabase, DidNotStart) as error:
            raise CommandError(str(error)) from error
        finally:
            logging.disable(logging.NOTSET)
        if not options["only"]:
            self.keep(check)
        failed = check.count("FAIL")
        said = (
            f"{check.count('PASS')} hold, {failed} do not, {check.count('n/a')} do not apply here."
        )
        if failed:
            raise CommandError(said)
        if not options["json"]:
            self.stdout.write(said)

    def keep(self, check: InstallationCheck) -> None:
        """For the page in the admin. Of a database that cannot take it the results tell."""
        try:
            check.save()
        except DatabaseError:
            self.stderr.write("The results could not be kept for the admin's page.")

    def say(self, result: Result, *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(dataclasses.asdict(result)))
            return
        self.stdout.write(f"{result.verdict}  {result.name}: {result.promise}")
        if result.found:
            self.stdout.write(f"      {result.found}")
