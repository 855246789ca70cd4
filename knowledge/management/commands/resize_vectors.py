"""`manage.py resize_vectors`: keep vectors of EMBEDDING_DIMENSIONS numbers from now on."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from integrations.llm import llm
from integrations.llm.completions import ModelError
from knowledge.ingest import embedding_models


class Command(BaseCommand):
    help = (
        "Change the size of stored vectors to EMBEDDING_DIMENSIONS, with their index, and give "
        "every passage a new one. Stop Remit first. What is interrupted goes on when Remit runs."
    )
    # The check that sends people here must not keep them from it.
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        wanted, stored = settings.EMBEDDING_DIMENSIONS, embedding_models.find_stored_size()
        try:
            llm.embed(["One."], payer=None)  # before anything is lost
        except ModelError as error:
            raise CommandError(
                f"{llm.embedding_model_name()} gives no vectors of {wanted} numbers "
                f"({error.code}): nothing was changed."
            ) from error
        if stored == wanted:
            self.stdout.write(f"Vectors have {wanted} numbers already.")
        else:
            embedding_models.resize(wanted, now=timezone.now())
            self.stdout.write(f"Vectors have {wanted} numbers now, before {stored}.")
        if embedding_models.claim(now=timezone.now()):
            while embedding_models.fill(now=timezone.now()) == "more":
                pass
        self.stdout.write("Every passage has one.")
