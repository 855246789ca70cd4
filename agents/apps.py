"""Proposes: works through turns, asks what is unclear, learns patterns; grants nothing."""

from django.apps import AppConfig


class AgentsConfig(AppConfig):
    name = "agents"

    def ready(self) -> None:
        from agents.inbound import stopping  # noqa: PLC0415  # the queue needs the app registry

        stopping.keep_the_event()
