"""Decides whether an action may happen, asks people, and alone carries it out."""

from django.apps import AppConfig
from django.core.checks import Tags, register

from guardrails.gather.security_senders import can_be_read


class GuardrailsConfig(AppConfig):
    name = "guardrails"

    def ready(self) -> None:
        from guardrails.approve import card_mail  # noqa: PLC0415  # models are there only now

        register(can_be_read, Tags.security)
        register(card_mail.is_superseded)
