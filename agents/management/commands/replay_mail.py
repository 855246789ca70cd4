"""`manage.py replay_mail FILE`: real mail through a running Remit, with a report."""

import json
import os
from argparse import ArgumentTypeError
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from agents.office import replay, sandbox
from agents.office.demo import REPLAY_USER, SLUG
from agents.office.replay_report import Report
from integrations.contracts import AccountRef
from integrations.exceptions import ProviderError
from integrations.imports.imports import UNREADABLE
from integrations.mail.files import REASONS, NoMailHere, read_mail
from integrations.mail.mail import NOTES
from integrations.models import Account, Organisation
from integrations.network import http


def origin(text: str) -> str:
    """An address such as http://127.0.0.1:8000, without a path."""
    try:
        parts = urlsplit(text)
        valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise ArgumentTypeError(
            f"“{text}” is not a web address. Give one like http://127.0.0.1:8000."
        )
    return text.rstrip("/")


def running() -> str:
    """Where the Remit answers that `make run` started, or would start here."""
    with suppress(OSError, ValueError, KeyError):
        return str(json.loads((settings.STATE_DIR / "run.json").read_text())["address"])
    return f"http://127.0.0.1:{os.environ.get('REMIT_PORT') or 8000}"


def at_least_one(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"“{text}” is not a number of at least 1.")
    return int(text)


class Command(BaseCommand):
    help = (
        "Feeds the mails of FILE (mbox, maildir, .eml, a folder of .eml, .jsonl or .jsonl.gz) "
        "into a sandbox mailbox and through Remit's signed webhook, waits until all are "
        "finished, and reports what became of each. The last line is the report as JSON. "
        "Needs a running Remit (`make run`). Safe to run again: nothing is done twice."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--user", default=REPLAY_USER, help="Whose mailbox (%(default)s).")
        parser.add_argument("--organisation", default=SLUG, help="Its slug (%(default)s).")
        parser.add_argument(
            "--url",
            type=origin,
            help="Remit; without it the one that `make run` started here, else port 8000.",
        )
        parser.add_argument("--limit", type=at_least_one, help="Read no more than this many.")
        parser.add_argument(
            "--patience",
            type=at_least_one,
            default=300,
            help="Seconds to wait while nothing is finished (%(default)s).",
        )
        parser.add_argument(
            "--trusted-server",
            help="The receiving server whose Authentication-Results are believed (none).",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        url = options["url"] or running()
        try:
            mails = islice(read_mail(options["file"]), options["limit"])
            account = self.account(options["organisation"], options["user"], url)
            report = replay.replay(
                mails,
                account=account,
                url=url,
                patience=options["patience"],
                trusted_server=options["trusted_server"],
                say=self.say,
            )
        except (NoMailHere, replay.CannotGoOn) as error:
            raise CommandError(str(error)) from error
        for line in table(report):
            self.stdout.write(line)
        self.stdout.write(json.dumps(report.as_json(), sort_keys=True))
        if not report.complete:
            raise CommandError(
                "Not every mail is finished. Check that `make run` is up (its logs say more) "
                "and run the same command again: nothing is done twice."
            )

    def say(self, progress: str) -> None:
        self.stderr.write(progress, style_func=str)

    def account(self, slug: str, user_id: str, url: str) -> AccountRef:
        """The mailbox here and in the sandbox, made when it is absent."""
        if slug not in settings.WEBHOOK_SECRETS or not sandbox.is_sandbox(slug):
            raise CommandError(
                f"“{slug}” is not connected to the sandbox data service of this machine, and "
                "mail is replayed into nothing else. Start Remit with `make run` first."
            )
        organisation = Organisation.objects.filter(slug=slug).first()
        if organisation is None:
            raise CommandError(
                f"There is no organisation “{slug}”. Start Remit with `make run`, which makes "
                "“default”, or add it in the admin."
            )
        try:
            http.request(http.client(url), "GET", "/health")
        except ProviderError as error:
            raise CommandError(
                f"Remit does not answer at {url}. Start it with `make run`, or say where it runs, "
                "with --url."
            ) from error
        account, created = Account.objects.select_related("organisation").get_or_create(
            organisation=organisation,
            external_user_id=user_id,
            source="gmail",
            defaults={"address": f"{user_id}@example.org", "display_name": user_id},
        )
        if created:
            self.say(f"Made an account for “{user_id}”. It allows no action yet.")
        try:
            sandbox.add_user(
                slug,
                external_user_id=user_id,
                address=account.address,
                name=account.display_name or user_id,
            )
        except ProviderError as error:
            raise CommandError(
                f"The sandbox data service does not answer ({error.code}). Start it with "
                "`make run`."
            ) from error
        return account.ref()


def table(report: Report) -> Iterator[str]:
    """The report for people."""
    yield row("Read", report.read)
    yield from rows("  unreadable", report.unreadable, REASONS | UNREADABLE)
    yield from rows("  remark", report.remarks, NOTES)
    yield row("Accepted", report.accepted)
    yield row("Duplicates", report.duplicates)
    yield from rows("Refused", report.refused, {})
    yield row("Received", report.received)
    yield row("Processed", report.processed.total())
    for name, counts in (
        ("  processed", report.processed),
        ("Skipped", report.skipped),
        ("Dead letters", report.dead),
    ):
        yield from rows(name, counts, {})
    yield row("Unfinished", report.unfinished)
    for action_type, statuses in sorted(report.actions.items()):
        yield from rows(f"Action {action_type}", statuses, {})
    yield row("Seconds", f"{report.seconds:.1f}")
    yield row("New mails per second", f"{report.mails_per_second:.1f}")


def rows(name: str, counts: Mapping[str, int], sentences: Mapping[Any, str]) -> Iterator[str]:
    for code, number in sorted(counts.items()):
        yield f"{row(f'{name}: {code}', number)}  {sentences.get(code, '')}".rstrip()


def row(name: str, value: object) -> str:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return f"{name:<36}{text:>10}"
