"""Imports: a sync whose pages an operator brings, from a file or a mail server.

An import is counted, continued and cancelled like any sync, by one command at a time. The data
service knows nothing of it.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from django.db import transaction

from integrations.contracts import ImportedSource
from integrations.models import Account, Organisation
from knowledge.models import SyncRun, SyncSource
from knowledge.sync import runs as sync_runs


@dataclass(frozen=True, kw_only=True)
class Begun:
    """An import to be worked on by `sync.advance`. `goes_on`: behind what was read before."""

    sync_id: UUID
    run_id: UUID
    goes_on: bool


def account_for(
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
def begin(
    account: Account, *, place: str, again: bool, now: datetime
) -> Begun | Literal["running"]:
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
    return Begun(sync_id=row.pk, run_id=run.pk, goes_on=bool(cursor))
