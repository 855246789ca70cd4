"""What the two import commands do alike: whose account it is, the work, and the report."""

import time
from argparse import ArgumentTypeError
from collections.abc import Callable
from typing import Any
from uuid import UUID
from zoneinfo import available_timezones

from django.core.management.base import CommandError, CommandParser
from django.db import connection
from django.utils import timezone

from integrations.contracts import ImportedSource
from integrations.models import Account, Organisation
from integrations.ports.account import Import
from knowledge.models import SyncSource
from knowledge.sync import imports, sync

SLICE_SECONDS = 3.0  # between two lines of progress

REASONS = {
    "unchanged": "known already",
    "stale": "a newer version is known already",
    "too_large": "larger than 25 MiB",
    "empty": "nothing where a mail should be",
    "no_headers": "does not begin with mail headers",
    "bad_line": "no JSON object with a text `raw`",
    "cannot_read": "the file breaks off",
    "malformed_event": "no event that can be read",
    "no_start": "an event without a beginning",
    "two_times": "an event with two beginnings",
    "unknown_range": "a change to the part of a series before some time, which nobody may make",
}


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument("--user", default="me", help="Whose it is (%(default)s).")
    parser.add_argument("--organisation", default="default", help="Its slug (%(default)s).")
    parser.add_argument(
        "--time-zone", type=_zone, default="UTC", help="The user's, when new (%(default)s)."
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="Read all of it again, not on from where the last import ended. What is known costs "
        "no model call.",
    )


def _zone(name: str) -> str:
    if name not in available_timezones():
        raise ArgumentTypeError(f"“{name}” is no time zone. Give one like Europe/Stockholm.")
    return name


def account(options: dict[str, Any], *, source: ImportedSource, address: str = "") -> Account:
    """The user's account for it. Raises CommandError."""
    organisation = Organisation.objects.filter(slug=options["organisation"]).first()
    if organisation is None:
        raise CommandError(
            f"There is no organisation “{options['organisation']}”. Start Remit with `make run`, "
            "which makes “default”, or add it in the admin."
        )
    return imports.account_for(
        organisation=organisation,
        external_user_id=options["user"],
        source=source,
        address=address,
        time_zone=options["time_zone"],
    )


def run(account: Account, brought: Import, *, again: bool, say: Callable[[str], None]) -> None:
    """Read it in, saying how far it is, and account for all of it. Raises CommandError when it
    did not come to its end; the same command goes on there."""
    begun = imports.begin(account, place=brought.place, again=again, now=timezone.now())
    if begun == "running":
        raise CommandError(
            "Another import of this account is at work, or waits. The admin shows it under Syncs "
            "and can cancel it."
        )
    if begun.goes_on:
        say("Going on where the last import ended.")
    try:
        row = _work(begun.sync_id, brought, say)
    except KeyboardInterrupt:
        SyncSource.objects.filter(pk=begun.sync_id).update(lease_expires_at=timezone.now())
        raise CommandError("Stopped. The same command goes on there.") from None
    finally:
        brought.close()
    for line in report(row):
        say(line)
    if row.state != SyncSource.State.DONE:
        raise CommandError(f"{row.error} The same command goes on there.")


def _work(sync_id: UUID, brought: Import, say: Callable[[str], None]) -> SyncSource:
    """The sync when it has ended. Raises CommandError when somebody cancelled it."""
    while True:
        advanced = sync.advance(sync_id, clock=timezone.now, seconds=SLICE_SECONDS, brought=brought)
        row = SyncSource.objects.get(pk=sync_id)
        say(_progress(row))
        if advanced == "finished":
            return row
        if advanced == "not_mine":
            raise CommandError("The import was cancelled. The same command goes on there.")
        if advanced == "waiting":
            say(row.error)
            _wait(row)


def _progress(row: SyncSource) -> str:
    left = f", {row.remaining:,} to come" if row.remaining else ""
    return f"{row.received:,} read{left}"


def _wait(row: SyncSource) -> None:
    connection.close()
    pause = (row.lease_expires_at - timezone.now()).total_seconds() if row.lease_expires_at else 0
    time.sleep(max(pause, 0) + 0.1)


def report(row: SyncSource) -> list[str]:
    """received = processed + skipped + failed, each of the last two with its reasons."""
    lines = [
        f"{'Received':<12}{row.received:>10,}",
        f"{'Stored':<12}{row.processed:>10,}",
        f"{'Skipped':<12}{row.skipped:>10,}",
        f"{'Failed':<12}{row.failed:>10,}",
    ]
    for reason, number in sorted(row.reasons.items()):
        lines.append(f"  {reason:<20}{number:>8,}  {REASONS.get(reason, '')}".rstrip())
    return lines
