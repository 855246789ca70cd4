"""Decides whether an action may happen, asks people, and alone carries it out."""

from django.apps import AppConfig
from django.core.checks import Tags, register

from guardrails.gather.security_senders import can_be_read


class GuardrailsConfig(AppConfig):
    name = "guardrails"

    def ready(self) -> None:
        register(can_be_read, Tags.security)
