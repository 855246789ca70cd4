"""Decides whether an action may happen, asks people, and alone carries it out."""

from django.apps import AppConfig


class GuardrailsConfig(AppConfig):
    name = "guardrails"
