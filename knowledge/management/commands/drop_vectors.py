"""`manage.py drop_vectors MODEL`: delete the vectors of a model that is not used any more."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from knowledge.ingest import embedding_models


class Command(BaseCommand):
    help = "Delete the vectors of an embedding model that searches go by no more."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("model")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["model"]
        try:
            count = embedding_models.drop(name)
        except ValueError as error:
            raise CommandError(f"{error}: nothing was deleted.") from error
        self.stdout.write(f"Deleted {count} vectors of {name}.")
