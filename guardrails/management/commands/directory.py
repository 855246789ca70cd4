"""`manage.py directory`: an organisation's directory from a file or a provider, shown before it is
applied."""

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from guardrails.models import Person
from guardrails.policies import directory, directory_file
from guardrails.policies.changes import Author
from guardrails.policies.directory_file import DirectoryFileError, Entry
from integrations.exceptions import ProviderError
from integrations.models import Account, Organisation


class Command(BaseCommand):
    help = (
        "Imports a directory of people as CSV, or reads it from a mailbox's provider: shows what "
        "would change, and changes it with --apply."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--organisation", default="default", help="Its slug.")
        doing = parser.add_subparsers(dest="doing", required=True)
        load = doing.add_parser("import", help="From a CSV file.")
        load.add_argument("file", help="A CSV file in UTF-8; - for standard input.")
        load.add_argument(
            "--whole",
            action="store_true",
            help="Also remove who is not in the file, of those who were entered or imported.",
        )
        sync = doing.add_parser("sync", help="As the provider of a mailbox has it.")
        sync.add_argument("--user", required=True, help="The user's id.")
        sync.add_argument("--source", required=True, choices=directory.sources())
        for one in (load, sync):
            one.add_argument("--apply", action="store_true", help="Change it.")

    def handle(self, *args: Any, **options: Any) -> None:
        organisation = Organisation.objects.filter(slug=options["organisation"]).first()
        if organisation is None:
            raise CommandError(f"There is no organisation “{options['organisation']}”.")
        try:
            entries = self.entries(organisation, options)
        except DirectoryFileError as error:
            raise CommandError("\n".join(["Nothing was changed.", *error.problems])) from error
        except ProviderError as error:
            raise CommandError("Nothing was changed. The provider could not be asked.") from error
        is_file = options["doing"] == "import"
        source = Person.Source.OPERATOR if is_file else Person.Source.PROVIDER
        whole = options["whole"] if is_file else True
        found = (
            directory.apply(
                organisation,
                entries,
                source=source,
                whole=whole,
                author=Author(name="command", door="command"),
            )
            if options["apply"]
            else directory.differences(organisation, entries, source=source, whole=whole)
        )
        for one in found:
            self.stdout.write(str(one))
        if not found:
            self.stdout.write("Nothing differs.")
        elif options["apply"]:
            self.stdout.write(f"{len(found)} entries changed.")
        else:
            self.stdout.write(f"{len(found)} entries would change. Add --apply to change them.")

    def entries(self, organisation: Organisation, options: dict[str, Any]) -> Sequence[Entry]:
        """Who stands in the file or at the provider. Raises DirectoryFileError, ProviderError."""
        if options["doing"] == "import":
            return directory_file.read(content(options["file"]))
        mailbox = Account.objects.filter(
            organisation=organisation,
            external_user_id=options["user"],
            source=options["source"],
            paused=False,
        ).first()
        if mailbox is None:
            raise CommandError(
                f"“{options['organisation']}” has no {options['source']} account of "
                f"“{options['user']}” that is not paused."
            )
        entries, left_out = directory.read_provider(mailbox.ref())
        for one in left_out:
            self.stdout.write(f"! left out: {one}")
        return entries


def content(name: str) -> bytes:
    """The bytes of the file, as far as they could be read. Raises CommandError."""
    most = directory_file.MOST_BYTES + 1
    try:
        if name == "-":
            return sys.stdin.buffer.read(most)
        with Path(name).open("rb") as file:
            return file.read(most)
    except OSError as error:
        raise CommandError(f"{name} cannot be read.") from error
