"""What became of the messages of a replay, counted from Remit's own rows."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, QuerySet

from agents.models import Turn
from audit.contracts import Filters
from audit.ledger import queries
from integrations.contracts import AccountRef
from integrations.models import Delivery


@dataclass
class Report:
    """What became of every entry of a mail file.

    read = unreadable + accepted + duplicates + refused, and received (different messages
    that Remit has) = processed + skipped + dead + unfinished. `actions` are those of these
    messages as the ledger shows them now, whichever run they are from.
    """

    read: int = 0
    unreadable: Counter[str] = field(default_factory=Counter)
    remarks: Counter[str] = field(default_factory=Counter)
    accepted: int = 0
    duplicates: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    received: int = 0
    processed: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    dead: Counter[str] = field(default_factory=Counter)
    unfinished: int = 0
    actions: dict[str, Counter[str]] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def mails_per_second(self) -> float:
        """New mails, from the first one read to the last one finished."""
        return self.accepted / self.seconds if self.seconds else 0.0

    @property
    def complete(self) -> bool:
        """Whether every message was taken and is finished."""
        return not (self.refused or self.unfinished)

    def as_json(self) -> dict[str, Any]:
        return {
            "read": self.read,
            "unreadable": dict(self.unreadable),
            "remarks": dict(self.remarks),
            "accepted": self.accepted,
            "duplicates": self.duplicates,
            "refused": dict(self.refused),
            "received": self.received,
            "processed": self.processed.total(),
            "processed_by_reason": dict(self.processed),
            "skipped": dict(self.skipped),
            "dead": dict(self.dead),
            "unfinished": self.unfinished,
            "actions": {kind: dict(statuses) for kind, statuses in self.actions.items()},
            "seconds": round(self.seconds, 1),
            "mails_per_second": round(self.mails_per_second, 1),
        }

    def count_answer(self, answer: str) -> None:
        """Count what Remit said to one webhook: accepted, duplicate, or a refusal's code."""
        if answer == "accepted":
            self.accepted += 1
        elif answer == "duplicate":
            self.duplicates += 1
        else:
            self.refused[answer] += 1

    def count_outcomes(self, account: AccountRef, webhook_ids: Sequence[str]) -> None:
        """Count what these webhooks led to. Each id may be given once."""
        by_state = {
            Delivery.State.PROCESSED: self.processed,
            Delivery.State.SKIPPED: self.skipped,
            Delivery.State.DEAD: self.dead,
        }
        states = deliveries(account, webhook_ids).order_by().values_list("state", "reason")
        for state, reason, number in states.annotate(number=Count("id")):
            self.received += number
            if state in by_state:
                by_state[state][reason or "done"] += number
            else:
                self.unfinished += number
        turns = Turn.objects.filter(delivery__in=deliveries(account, webhook_ids))
        runs = [str(id) for id in turns.values_list("id", flat=True)]
        filters = Filters(tenant_id=account.organisation_id, account_id=account.id)
        actions = queries.select_matching(filters).filter(run_id__in=runs).order_by()
        for kind, status, number in actions.values_list("action_type", "status").annotate(
            number=Count("id")
        ):
            self.actions.setdefault(kind, Counter())[status] += number


def deliveries(account: AccountRef, webhook_ids: Sequence[str]) -> QuerySet[Delivery]:
    """The deliveries of these webhooks in the account's organisation."""
    return Delivery.objects.filter(
        organisation_id=account.organisation_id, webhook_id__in=webhook_ids
    )
