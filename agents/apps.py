"""Proposes: works through turns, asks what is unclear, learns patterns; grants nothing."""

from django.apps import AppConfig


class AgentsConfig(AppConfig):
    name = "agents"
