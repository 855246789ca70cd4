"""`manage.py policy`: an account's policy as a file, shown before it is applied."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from guardrails.decide.policy_file import with_file
from guardrails.facts.text import visible
from guardrails.gather.policy_rows import policy_snapshot
from guardrails.policies import (
    files as policy_files,
    presets,
    text as policy_text,
)
from guardrails.policies.changes import Author
from guardrails.policies.findings import findings
from guardrails.policies.text import PolicyFileError
from integrations.models import Account
from integrations.ports.registry import source_choices


class Command(BaseCommand):
    help = (
        "Exports an account's policy as YAML or JSON, or imports one: shows what would change, "
        "and changes it with --apply. A section that the file leaves out stays as it is."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--organisation", default="default", help="Its slug.")
        parser.add_argument("--user", required=True, help="The user's id.")
        parser.add_argument(
            "--source", required=True, choices=[name for name, _ in source_choices()]
        )
        doing = parser.add_subparsers(dest="doing", required=True)
        export = doing.add_parser("export", help="Write the policy to the standard output.")
        export.add_argument("--format", choices=["yaml", "json"], default="yaml")
        load = doing.add_parser("import", help="Show, and with --apply make, the differences.")
        load.add_argument("file", nargs="?", help="A YAML or JSON file; - for standard input.")
        load.add_argument(
            "--preset",
            choices=[presets.DEFAULT, *presets.list_names()],
            help=f"A policy that comes with Remit, instead of a file: {presets.DEFAULT} is the "
            "one for this source.",
        )
        load.add_argument("--apply", action="store_true", help="Change it.")

    def handle(self, *args: Any, **options: Any) -> None:
        account = self.account(options)
        if options["doing"] == "export":
            self.export(account, options["format"])
            return
        try:
            self.load(account, options)
        except PolicyFileError as error:
            raise CommandError(f"Nothing was changed. {visible(str(error))}") from error

    def account(self, options: dict[str, Any]) -> Account:
        found = Account.objects.filter(
            organisation__slug=options["organisation"],
            external_user_id=options["user"],
            source=options["source"],
        ).first()
        if found is None:
            raise CommandError(
                f"The organisation “{options['organisation']}” has no {options['source']} "
                f"account of “{options['user']}”."
            )
        return found

    def export(self, account: Account, form: str) -> None:
        self.stdout.write(policy_text.write(policy_files.exported(account), form))

    def load(self, account: Account, options: dict[str, Any]) -> None:
        wanted = policy_text.read(text(options))
        draft = with_file(
            policy_snapshot(account.ref()),
            policy_files.whole(account, wanted),
            account.ref().source,
        )
        to_mend = findings(draft, account.source)
        found = (
            policy_files.apply(account, wanted, author=Author(name="command", door="command"))
            if options["apply"]
            else policy_files.differences(account, wanted)
        )
        for one in found:
            self.stdout.write(str(one))
        for finding in to_mend:
            self.stdout.write(f"! {finding.severity}: {finding}")
        if not found:
            self.stdout.write("Nothing differs.")
        elif options["apply"]:
            self.stdout.write(f"{len(found)} entries changed.")
        else:
            self.stdout.write(f"{len(found)} entries would change. Add --apply to change them.")


def text(options: dict[str, Any]) -> str:
    """The policy's text. Raises PolicyFileError, CommandError."""
    if bool(options["file"]) == bool(options["preset"]):
        raise CommandError("Name a file or a --preset, not both.")
    if options["preset"] == presets.DEFAULT:
        return presets.load(presets.default_for(options["source"]))
    if options["preset"]:
        return presets.load(options["preset"])
    if options["file"] == "-":
        return sys.stdin.read(policy_text.MAX_CHARS + 1)
    try:
        return Path(options["file"]).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{options['file']} cannot be read as text.") from error
