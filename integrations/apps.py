"""Reaches the world: accounts, providers, mail, webhooks, the model; one door for writes."""

from django.apps import AppConfig


class IntegrationsConfig(AppConfig):
    name = "integrations"
