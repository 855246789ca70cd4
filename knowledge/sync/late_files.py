"""Files that the data service did not hand over when their item was read."""

import logging
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from integrations.accounts.reads import reader
from integrations.child import Unreadable
from integrations.exceptions import NotFound, ProviderError
from integrations.llm.completions import ModelError
from knowledge.ingest import item_files
from knowledge.ingest.ingest import ingest
from knowledge.models import Item, ItemFile

log = logging.getLogger(__name__)
CLAIMED = timedelta(minutes=30)  # longer than the work; a dead worker's item is due again


def claim(*, now: datetime, limit: int) -> list[UUID]:
    """Items whose files are to be asked for again by now. No other worker gets the same ones
    for a while."""
    with transaction.atomic():
        due = ItemFile.objects.filter(due_at__lte=now).order_by("due_at")
        rows = list(due.select_for_update(skip_locked=True)[:limit])
        items = list(dict.fromkeys(row.item_id for row in rows))
        due.filter(item_id__in=items).update(due_at=now + CLAIMED)
    return items


def read(item_id: UUID, *, now: datetime) -> None:
    """Read the item again with the files that are there by now."""
    row = Item.objects.select_related("account__organisation").filter(pk=item_id).first()
    if row is None or not item_files.are_waiting(row):
        return
    account = row.account.ref()
    try:
        item = reader(account).item(row.source_id)
        ingest(account=account, source_id=row.source_id, item=item, now=now)
    except (NotFound, Unreadable):
        row.files.update(due_at=None)
    except (ProviderError, ModelError) as error:
        log.warning("late_files.postponed", extra={"item": str(item_id), "reason": error.code})
        item_files.postpone(row, now=now)
