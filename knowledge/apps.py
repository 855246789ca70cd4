"""Keeps what was read in pieces that can be found again, each account's apart."""

from django.apps import AppConfig


class KnowledgeConfig(AppConfig):
    name = "knowledge"
