"""Proposes: works through turns, asks what is unclear, learns patterns; grants nothing."""

from django.apps import AppConfig


class AgentsConfig(AppConfig):
    name = "agents"

    def ready(self) -> None:
        # Both need the app registry.
        from agents.activity import ledger_words  # noqa: PLC0415
        from agents.inbound import stopping  # noqa: PLC0415
        from audit.ledger import search  # noqa: PLC0415

        stopping.keep_the_event()
        search.know(ledger_words.look)
