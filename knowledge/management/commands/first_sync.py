"""`manage.py first_sync`: read every account that was never read, and show how far it is."""

import time
from collections import defaultdict
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from integrations.contracts import Source
from integrations.models import Account
from integrations.ports.registry import BY_SOURCE, SYNCED
from knowledge.contracts import SourceProgress, SyncProgress
from knowledge.models import SyncSource
from knowledge.sync import runs as sync_runs, sync
from knowledge.tasks import start_sync

POLL_SECONDS = 0.5
PATIENCE_SECONDS = 120.0
ENDED = ("done", "failed", "cancelled")

Person = tuple[UUID, str]  # organisation, user
Run = tuple[UUID, UUID]  # organisation, sync


class Command(BaseCommand):
    help = "Read every account that was never read to its end. Exits with 1 if one failed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--account", type=UUID, help="only this one, read before or not")
        parser.add_argument(
            "--days", type=int, help="how far back, if not as each source says (1 to 3650)"
        )
        parser.add_argument("--wait", action="store_true", help="show progress until it ends")
        parser.add_argument(
            "--inline", action="store_true", help="read here, without the task cluster"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        days = options["days"]
        if days is not None and not 1 <= days <= sync_runs.MAX_WINDOW.days:
            raise CommandError(f"Give 1 to {sync_runs.MAX_WINDOW.days} days.")
        window = timedelta(days=days) if days else None
        wanted = self._wanted(options["account"])
        if not wanted:
            self.stdout.write("Every account has been read already.")
            return
        runs = [
            self._start(person, sources, inline=options["inline"], window=window)
            for person, sources in wanted.items()
        ]
        if options["wait"] or options["inline"]:
            self._watch(runs)
        else:
            count = sum(len(sources) for sources in wanted.values())
            self.stdout.write(f"Accounts queued: {count}.")

    def _wanted(self, account_id: UUID | None) -> dict[Person, list[Source]]:
        accounts = (
            Account.objects.filter(source__in=SYNCED)
            .select_related("organisation")
            .order_by("external_user_id")
        )
        if account_id:
            accounts = accounts.filter(pk=account_id)
            if not accounts:
                raise CommandError(f"There is no account {account_id}. The admin lists them.")
        else:
            done = SyncSource.objects.filter(state=SyncSource.State.DONE)
            accounts = accounts.exclude(pk__in=done.values("account"))
        wanted: dict[Person, list[Source]] = defaultdict(list)
        for account in accounts:
            person = (account.organisation_id, account.external_user_id)
            wanted[person].append(account.ref().source)
        return wanted

    def _start(
        self, person: Person, sources: list[Source], *, inline: bool, window: timedelta | None
    ) -> Run:
        organisation_id, user_id = person
        if not inline:
            requested = start_sync(
                organisation_id=organisation_id,
                external_user_id=user_id,
                sources=sources,
                window=window,
            )
        else:
            requested = sync_runs.request_sync(
                organisation_id=organisation_id,
                external_user_id=user_id,
                sources=sources,
                window=window,
                now=timezone.now(),
            )
            for sync_id in requested.queued if requested else ():
                while sync.advance(sync_id, clock=timezone.now) == "more":
                    pass
        if requested is None:
            raise CommandError("The account is gone. Start again.")
        return organisation_id, requested.run_id

    def _watch(self, runs: list[Run]) -> None:
        printed: dict[UUID, str] = {}
        seen: list[SyncProgress] = []
        moved_at = time.monotonic()
        while True:
            found = [
                sync_runs.load_progress(
                    organisation_id=organisation_id, run_id=run_id, now=timezone.now()
                )
                for organisation_id, run_id in runs
            ]
            seen = [progress for progress in found if progress is not None]
            for progress in seen:
                for source in progress.sources:
                    line = _line(progress.external_user_id, source)
                    if printed.get(source.account_id) != line:
                        printed[source.account_id] = line
                        moved_at = time.monotonic()
                        self.stdout.write(line)
            if all(progress.state in ENDED for progress in seen):
                break
            if time.monotonic() - moved_at > PATIENCE_SECONDS:
                raise CommandError(
                    "Nothing has moved for two minutes. Does the task cluster run "
                    "(manage.py qcluster)? Without one use --inline."
                )
            time.sleep(POLL_SECONDS)
        if any(progress.state != "done" for progress in seen):
            raise CommandError("Not every account could be read to its end.")


def _line(user: str, source: SourceProgress) -> str:
    label = BY_SOURCE[source.source].label
    if source.state == "queued":
        return f"{user} · {label}: waiting"
    counts = f"{source.received} read"
    counts += f", {source.skipped} known already" if source.skipped else ""
    counts += f", {source.failed} failed" if source.failed else ""
    end = {"done": " · done", "cancelled": " · cancelled", "failed": f" · {source.error}"}
    return f"{user} · {label}: {counts}{end.get(source.state, '')}"
