"""Proposes: works through turns, asks what is unclear, learns patterns; grants nothing."""

from django.apps import AppConfig


class AgentsConfig(AppConfig):
    name = "agents"

    def ready(self) -> None:
        # All need the app registry.
        from agents.activity import ledger_names, ledger_words  # noqa: PLC0415
        from agents.inbound import stopping  # noqa: PLC0415
        from audit.ledger import people, search  # noqa: PLC0415
        from integrations.web import staff  # noqa: PLC0415

        stopping.keep_the_event()
        search.know(ledger_words.look)
        people.know(find=ledger_names.find, met=staff.met)
