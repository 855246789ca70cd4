"""Try a model's endpoint, and say what works and what to set."""

from argparse import ArgumentParser
from typing import Any

import yaml
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from integrations.llm import probe, profiles


class Command(BaseCommand):
    help = "Try a model's endpoint in a minute: what works, what Remit does about the rest."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--model", default="", help="CHAT_MODEL, if not given.")

    def handle(self, *args: Any, **options: Any) -> None:
        model = options["model"] or settings.CHAT_MODEL
        known = profiles.profile(model)
        self.stdout.write(f"{model} at the provider “{known.provider}”")
        wanted: dict[str, Any] = {}
        findings = []
        for finding in (*probe.try_model(model), probe.try_embeddings()):
            findings.append(finding)
            self._say(finding)
            wanted |= finding.profile or {}
        missing = {name: value for name, value in wanted.items() if getattr(known, name) != value}
        if missing:
            self.stdout.write("\nPut this into the file that MODEL_PROFILES names:")
            self.stdout.write(yaml.safe_dump({model: missing}, sort_keys=False).rstrip())
        if not findings[0].works:
            raise CommandError(
                "The model does not answer. Look at OPENAI_BASE_URL, OPENAI_API_KEY and the "
                f"model's name ({findings[0].code})."
            )

    def _say(self, finding: probe.Finding) -> None:
        if finding.works:
            self.stdout.write(f"  yes  {finding.name}")
        else:
            self.stdout.write(f"  no   {finding.name} ({finding.code}). {finding.advice}")
