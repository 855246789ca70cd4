"""What was received and what became of it: received = handled + only read + left alone + dead +
in work. Handled is what an agent or a pattern worked through; a sync reads, and handles nothing.

Webhooks are counted from their deliveries, reads from the counts each sync kept page by page.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.db.models import Count, Sum

from integrations.models import Account, Delivery
from integrations.ports.registry import BY_SOURCE
from knowledge.models import SyncSource

WEBHOOKS, READS = "Webhooks and looks", "Syncs"

_REASONS = """
SELECT s.account_id, r.key, sum(r.value::bigint)
FROM knowledge_syncsource s JOIN integrations_account a ON a.id = s.account_id
    CROSS JOIN LATERAL jsonb_each_text(s.reasons) r
WHERE a.organisation_id = %s AND s.created_at >= %s
GROUP BY 1, 2
"""

REASONS = {
    "stale": "a newer version was here already",
    "absent": "deleted, and never seen here",
    "unchanged": "nothing new in it",
    "left_out": "its account is narrowed",
    "own_action": "tells of an action of the assistant's own",
    "own_mail": "the user wrote it",
    "from_remit": "Remit itself wrote it",
    "stopped": "a switch was thrown",
    "duplicate_item": "an agent had looked at it before",
    "unknown_account": "no such account here",
    "deleted": "deleted before an agent could look at it",
}
"""Why something was left alone or given up; other codes say it themselves."""


def name_reason(code: str) -> str:
    return REASONS.get(code, code.replace("_", " "))


@dataclass(kw_only=True)
class Line:
    """One account's balance of one way in. `handled` are those of the processed that got a turn;
    `reasons` are of what was skipped (left alone) or is dead."""

    way: str
    account: str
    source: str
    account_id: UUID | None
    received: int = 0
    processed: int = 0
    handled: int = 0
    skipped: int = 0
    dead: int = 0
    in_work: int = 0
    reasons: dict[str, int] = field(default_factory=dict)

    @property
    def reasons_in_words(self) -> list[tuple[str, int]]:
        return [(name_reason(why), number) for why, number in self.reasons.items()]

    @property
    def read(self) -> int:
        """Read in, so that agents can find it, and no more."""
        return self.processed - self.handled

    @property
    def missing(self) -> int:
        """Must be 0."""
        return self.received - self.processed - self.skipped - self.dead - self.in_work


def balance(*, organisation_id: UUID, since: datetime) -> list[Line]:
    """Every account of the organisation that received anything. Five queries."""
    rows = Account.objects.filter(organisation_id=organisation_id)
    accounts = {account.pk: account for account in rows}
    lines = [
        *_webhooks(organisation_id, since, accounts).values(),
        *_reads(organisation_id, since, accounts).values(),
    ]
    return sorted(lines, key=lambda line: (line.account, line.source, line.way))


def _line(way: str, account: Account | None, source: str) -> Line:
    return Line(
        way=way,
        account=(account.display_name or account.external_user_id) if account else "No account",
        source=BY_SOURCE[source].label if source in BY_SOURCE else source,
        account_id=account.pk if account else None,
    )


def _webhooks(
    organisation_id: UUID, since: datetime, accounts: dict[UUID, Account]
) -> dict[tuple[UUID | None, str], Line]:
    arrived = Delivery.objects.filter(organisation_id=organisation_id, received_at__gte=since)
    lines: dict[tuple[UUID | None, str], Line] = {}
    for row in arrived.values("account_id", "source").annotate(number=Count("id")).order_by():
        line = _line(WEBHOOKS, accounts.get(row["account_id"]), row["source"])
        line.received = row["number"]
        lines[row["account_id"], row["source"]] = line
    by_state = arrived.values("account_id", "source", "state", "reason")
    for row in by_state.annotate(number=Count("id"), handled=Count("turn")).order_by():
        line = lines.setdefault(
            (row["account_id"], row["source"]),
            _line(WEBHOOKS, accounts.get(row["account_id"]), row["source"]),
        )
        match row["state"]:
            case Delivery.State.PROCESSED:
                line.processed += row["number"]
                line.handled += row["handled"]
            case Delivery.State.SKIPPED:
                line.skipped += row["number"]
            case Delivery.State.DEAD:
                line.dead += row["number"]
            case _:
                line.in_work += row["number"]
                continue
        if row["reason"] and row["state"] != Delivery.State.PROCESSED:
            line.reasons[row["reason"]] = line.reasons.get(row["reason"], 0) + row["number"]
    return lines


def _reads(
    organisation_id: UUID, since: datetime, accounts: dict[UUID, Account]
) -> dict[UUID, Line]:
    totals = (
        SyncSource.objects.filter(account__organisation_id=organisation_id, created_at__gte=since)
        .values("account_id")
        .annotate(
            read=Sum("received"), done=Sum("processed"), known=Sum("skipped"), lost=Sum("failed")
        )
        .order_by()
    )
    reasons: dict[UUID, dict[str, int]] = defaultdict(dict)
    with connection.cursor() as cursor:
        cursor.execute(_REASONS, [organisation_id, since])
        for account_id, reason, number in cursor.fetchall():
            reasons[account_id][reason] = int(number)
    lines = {}
    for row in totals:
        line = _line(READS, accounts[row["account_id"]], accounts[row["account_id"]].source)
        line.received, line.processed = row["read"], row["done"]
        line.skipped, line.dead = row["known"], row["lost"]
        line.reasons = reasons[row["account_id"]]
        lines[row["account_id"]] = line
    return lines
