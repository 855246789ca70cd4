"""Imports: a sync whose pages an operator brings, from a file or a mail server.

An import is counted, continued and cancelled like any sync, by one command at a time. The data
service knows nothing of it.
"""

import time
from argparse import ArgumentTypeError
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID
from zoneinfo import available_timezones

from django.core.management.base import CommandError, CommandParser
from django.db import connection, transaction
from django.utils import timezone

from integrations.database import clock
from integrations.imports.imports import UNREADABLE
from integrations.models import Account, Organisation
from integrations.ports.account import Import
from knowledge.models import SyncRun, SyncSource
from knowledge.sync import runs as sync_runs, sync

ImportedSource = Literal["mailbox", "calendar_file"]
SLICE_SECONDS = 3.0  # between two lines of progress
REASONS = {
    "unchanged": "known already",
    "stale": "a newer version is known already",
    "too_large": "larger than 25 MiB",
    "empty": "nothing where a mail should be",
    "no_headers": "does not begin with mail headers",
    "bad_line": "no JSON object with a text `raw`",
    "cannot_read": "the file breaks off",
    "malformed_event": "an event that cannot be read",
    "no_start": "an event without a start",
    "two_times": "an event with two start times",
    "unknown_range": "a change to the earlier part of a series, which the format does not allow",
} | UNREADABLE


@dataclass(frozen=True, kw_only=True)
class StartedImport:
    """An import to be worked on by `sync.advance`. `goes_on`: behind what was read before."""

    sync_id: UUID
    run_id: UUID
    goes_on: bool


def get_or_create_account(
    *,
    organisation: Organisation,
    external_user_id: str,
    source: ImportedSource,
    address: str,
    time_zone: str,
) -> Account:
    """The user's account for what is imported, made when it is absent."""
    account, _ = Account.objects.select_related("organisation").get_or_create(
        organisation=organisation,
        external_user_id=external_user_id,
        source=source,
        defaults={"address": address, "display_name": external_user_id, "time_zone": time_zone},
    )
    return account


@transaction.atomic
def start_import(
    account: Account, *, place: str, again: bool, now: datetime
) -> StartedImport | Literal["running"]:
    """Make the rows of an import from `place`, which goes on where the last one of this place
    ended, unless it is to read all of it again. What another process left unfinished is ended;
    one that somebody works on is the answer `running`."""
    Account.objects.select_for_update(no_key=True).get(pk=account.pk)
    rows = SyncSource.objects.filter(account=account)
    for row in rows.filter(state__in=sync_runs.ACTIVE):
        if row.lease_expires_at and row.lease_expires_at > now:
            return "running"
        row.state, row.finished_at, row.lease_expires_at = SyncSource.State.FAILED, now, None
        row.error = "It was left unfinished."
        row.save(update_fields=["state", "finished_at", "lease_expires_at", "error"])
        sync_runs.settle(row.run_id, now=now)
    earlier = rows.filter(cursor__startswith=f"{place} ").order_by("-created_at").first()
    cursor = earlier.cursor if earlier and not again else ""
    run = SyncRun.objects.create(
        organisation_id=account.organisation_id,
        external_user_id=account.external_user_id,
        only_changes=bool(cursor),
    )
    row = SyncSource.objects.create(
        run=run, account=account, only_changes=bool(cursor), since=now, cursor=cursor
    )
    return StartedImport(sync_id=row.pk, run_id=run.pk, goes_on=bool(cursor))


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument("--user", default="me", help="Whose it is (%(default)s).")
    parser.add_argument("--organisation", default="default", help="Its slug (%(default)s).")
    parser.add_argument(
        "--time-zone", type=_zone, default="UTC", help="The user's, when new (%(default)s)."
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="Read all of it again instead of going on where the last import ended. What is "
        "known costs no model call.",
    )


def _zone(name: str) -> str:
    if name not in available_timezones():
        raise ArgumentTypeError(f"“{name}” is not a time zone. Give one like Europe/Stockholm.")
    return name


def find_account(options: dict[str, Any], *, source: ImportedSource, address: str = "") -> Account:
    """The user's account for it. Raises CommandError."""
    organisation = Organisation.objects.filter(slug=options["organisation"]).first()
    if organisation is None:
        raise CommandError(
            f"There is no organisation “{options['organisation']}”. Start Remit with `make run`, "
            "which makes “default”, or add it in the admin."
        )
    return get_or_create_account(
        organisation=organisation,
        external_user_id=options["user"],
        source=source,
        address=address,
        time_zone=options["time_zone"],
    )


def run_import(
    account: Account, imported: Import, *, again: bool, say: Callable[[str], None]
) -> None:
    """Read it in, saying how far it is, and account for all of it. Raises CommandError when it
    did not come to its end; the same command goes on there."""
    started = start_import(account, place=imported.place, again=again, now=timezone.now())
    if started == "running":
        raise CommandError(
            "Another import of this account is running or waiting. The admin shows it under "
            "Syncs and can cancel it."
        )
    if started.goes_on:
        say("Going on where the last import ended.")
    try:
        row = _work(started.sync_id, imported, say)
    except KeyboardInterrupt:
        SyncSource.objects.filter(pk=started.sync_id).update(lease_expires_at=clock.now())
        raise CommandError("Stopped. Run the same command to go on.") from None
    finally:
        imported.close()
    for line in render_report(row):
        say(line)
    if row.state != SyncSource.State.DONE:
        raise CommandError(f"{row.error} Run the same command to go on.")


def _work(sync_id: UUID, imported: Import, say: Callable[[str], None]) -> SyncSource:
    """The sync when it has ended. Raises CommandError when somebody cancelled it."""
    while True:
        advanced = sync.advance(sync_id, clock=clock.now, seconds=SLICE_SECONDS, imported=imported)
        row = SyncSource.objects.get(pk=sync_id)
        say(_progress(row))
        if advanced == "finished":
            return row
        if advanced == "not_mine":
            raise CommandError("The import was cancelled. Run the same command to go on.")
        if advanced == "waiting":
            say(row.error)
            _wait(row)


def _progress(row: SyncSource) -> str:
    left = f", {row.remaining:,} to come" if row.remaining else ""
    return f"{row.received:,} read{left}"


def _wait(row: SyncSource) -> None:
    connection.close()
    pause = (row.lease_expires_at - clock.now()).total_seconds() if row.lease_expires_at else 0
    time.sleep(max(pause, 0) + 0.1)


def render_report(row: SyncSource) -> list[str]:
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
