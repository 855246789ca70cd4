"""What only a sync read in: its webhook was lost, or a look passed it by. It is taken up like all
that arrives, once: a webhook that comes after all finds its turn (ACC-1)."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection

from integrations.accounts import arrivals, reads
from integrations.contracts import AccountRef
from integrations.contracts.events import ItemEvent
from integrations.exceptions import NotFound
from integrations.ports.registry import BY_SOURCE
from knowledge.sync.runs import OVERLAP

# What is older was missed for longer than anybody waits for an answer; it stays as it is, and a
# run over past mail takes it up.
FOR = timedelta(days=3)
# A webhook may be on its way for so long, and costs one look at the provider less.
PATIENCE = timedelta(minutes=2)
AT_ONCE = 100  # a sweep

# New since the account was first read to its end: what lay there before is past. An item occurs,
# in its index, no earlier than it is new: what was made is changed later, and an event that is over
# is of no more matter. No provider tells when an event was made, so it is new when it was read in.
_MISSED = """
SELECT i.account_id, i.source_id
FROM knowledge_item i
    JOIN integrations_account a ON a.id = i.account_id AND NOT a.paused
    CROSS JOIN LATERAL (
        SELECT CASE i.content_type
            WHEN 'email' THEN i.occurred_at
            WHEN 'event' THEN i.ingested_at
            ELSE (i.metadata ->> 'created_at')::timestamptz
        END AS at
    ) new
    JOIN LATERAL (
        SELECT min(s.created_at) AS began, min(s.finished_at) AS ended FROM knowledge_syncsource s
        WHERE s.account_id = i.account_id AND s.state = 'done'
    ) first ON new.at > CASE i.content_type
        WHEN 'event' THEN first.ended
        ELSE first.began - make_interval(secs => %(overlap)s)
    END
WHERE i.deleted_at IS NULL AND i.source = ANY(%(sources)s)
    AND i.occurred_at >= %(since)s AND i.ingested_at <= %(until)s
    AND new.at BETWEEN %(since)s AND %(now)s
    AND (i.content_type <> 'email' OR i.metadata -> 'labels' ? 'INBOX')
    AND NOT EXISTS (
        SELECT FROM integrations_delivery d
        WHERE d.account_id = i.account_id AND d.source_id = i.source_id AND d.kind = 'created'
    )
    AND NOT EXISTS (
        SELECT FROM agents_turn t
        WHERE t.account_id = i.account_id AND t.item_source_id = i.source_id
            AND t.kind = 'inbound'
    )
ORDER BY new.at
LIMIT %(limit)s
"""


def find(*, now: datetime) -> dict[UUID, list[str]]:
    """The ids of what was missed by account, the oldest first."""
    sources = [one.source for one in BY_SOURCE.values() if one.starts_turns]
    found = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(
            _MISSED,
            {
                "overlap": OVERLAP.total_seconds(),
                "sources": sources,
                "since": now - FOR,
                "now": now,
                "until": now - PATIENCE,
                "limit": AT_ONCE,
            },
        )
        for account_id, source_id in cursor.fetchall():
            found[account_id].append(source_id)
    return dict(found)


def take_up(
    account: AccountRef,
    source_ids: Sequence[str],
    *,
    now: datetime,
    enqueue: Callable[[UUID], None],
) -> int:
    """Store them as deliveries, each as its provider has it now; how many. Once again stores
    nothing. Raises ProviderError: what is left is found again."""
    reader, count = reads.reader(account), 0
    for source_id in source_ids:
        try:
            item = reader.item(source_id)
        except NotFound:
            continue  # deleted meanwhile, which a sync learns too
        event = ItemEvent(
            kind="created",
            user_id=account.external_user_id,
            source=account.source,
            source_id=item.id,
            content_type=BY_SOURCE[account.source].content_type,
            data=item.model_dump(mode="json", by_alias=True, exclude={"revision"}),
            timestamp=now,
        )
        count += arrivals.store(account, "missed", event, enqueue=enqueue)
    return count
