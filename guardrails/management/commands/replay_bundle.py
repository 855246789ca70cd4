"""manage.py replay_bundle: decide every decision of a bundle again, offline."""

import zipfile
from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError

from guardrails.comply.replay import Replay


class Command(BaseCommand):
    help = (
        "Decides every decision in a bundle of the ledger again, from its evidence and its "
        "policy, and names each that does not follow. Needs no database. Verify the bundle "
        "first: python verify.py BUNDLE KEY."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("bundle", help="the zip file")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with zipfile.ZipFile(options["bundle"]) as archive:
                replay = Replay(archive)
                found = 0
                for found, disagreement in enumerate(replay, start=1):  # noqa: B007
                    self.stdout.write(str(disagreement))
        except (OSError, zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
            raise CommandError(f"The bundle cannot be read: {error}") from error
        report = f"{replay.agreed:,} decisions follow from their policy and evidence."
        if replay.erased:
            report += f" {replay.erased:,} cannot be made again: their evidence was erased."
        if replay.unkept:
            report += (
                f" {replay.unkept:,} refusals cannot be made again: the arguments were invalid, "
                "or too long to keep."
            )
        if found:
            raise CommandError(f"{found:,} decisions do not follow. {report}")
        self.stdout.write(report)
