"""`manage.py import_calendar FILE`: the events of an .ics file."""

from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from django.core.management.base import BaseCommand, CommandError, CommandParser

from integrations.exceptions import Unavailable
from integrations.imports.calendar_files import NoEventsHere
from integrations.imports.imports import calendar_pages
from knowledge.sync import imports


class Command(BaseCommand):
    help = (
        "Reads the events of an .ics file, series and their exceptions included, into what a "
        "user's agent may search. Safe to run again: what is known costs nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        imports.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            pages = calendar_pages(options["file"], zone=ZoneInfo(options["time_zone"]))
        except NoEventsHere as error:
            raise CommandError(str(error)) from error
        except Unavailable as error:
            raise CommandError(f"Run the same command again: {error}.") from error
        imports.run_import(
            imports.find_account(options, source="calendar_file"),
            pages,
            again=options["again"],
            say=self.stdout.write,
        )
        self.stdout.write(f"Ask about it in the console as “{options['user']}”.")
