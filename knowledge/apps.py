"""Keeps what was read in pieces that can be found again, each account's apart."""

from django.apps import AppConfig
from django.core.checks import Tags, register


class KnowledgeConfig(AppConfig):
    name = "knowledge"

    def ready(self) -> None:
        from knowledge import checks  # noqa: PLC0415  # models are there only now

        register(checks.sizes_fit, Tags.models)
        register(checks.stored_vectors_fit, Tags.database)
        register(checks.stored_vectors_fit, Tags.models)  # also where no database is checked
