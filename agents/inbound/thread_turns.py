"""The turn of what Remit does about a thread by itself, without a model: its status is changed, a
draft that is of no use any more is taken back.

Where an agent or a pattern worked the mail through, it is that turn. Else one is opened before the
first action, so that each row of the ledger names what it was done because of, and Activity and
users' days have it like all that came.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from agents.inbound import thread_status
from agents.inbound.claims import Claimed
from agents.inbound.thread_status import Cause
from agents.journal.statements import to_storable
from agents.models import Turn
from agents.tools.acting import describe_result
from audit.ledger import selectors
from guardrails.execute import outcomes, tidying
from integrations.contracts import AccountRef
from knowledge.ingest import metadata

AGENTS = frozenset({thread_status.AGENT, tidying.AGENT})


@dataclass(kw_only=True)
class ThreadTurn:
    """One turn: that of `turn_id`, else the one of `key`, which is opened once. `left` are the
    provider's answers to its actions, unless they end with the turn of an agent."""

    account: AccountRef
    item_id: str
    kind: Turn.Kind = Turn.Kind.THREAD
    key: Mapping[str, UUID] = field(default_factory=dict)
    turn_id: UUID | None = None
    is_used: bool = False
    left: list[Mapping[str, Any]] = field(default_factory=list)

    def use(self) -> str:
        """Its id, for the origin of an action; the turn is there from then on."""
        self.is_used = True
        if self.turn_id is None:
            self.turn_id = self._open().id
        return str(self.turn_id)

    def _open(self) -> Turn:
        values = {
            "organisation_id": self.account.organisation_id,
            "external_user_id": self.account.external_user_id,
            "account_id": self.account.id,
            "item_source_id": self.item_id,
            "kind": self.kind,
            "state": Turn.State.FINISHED,
            "ending": Turn.Ending.TIDIED,
        }
        return Turn.objects.get_or_create(**self.key, defaults=values)[0]

    def store(self) -> None:
        """Keep what these actions came to among those of the turn, as the ledger has them now, and
        what they left of their mails: the word that comes of it tells nothing new then."""
        store_left(self.account, self.left)
        if self.turn_id is None:
            return
        rows = selectors.actions_of_run(
            tenant_id=self.account.organisation_id, run_id=str(self.turn_id)
        )
        with transaction.atomic():
            turn = (
                Turn.objects.select_for_update()
                .only("kind", "actions", "finished_at")
                .get(id=self.turn_id)
            )
            is_alone = turn.kind in (Turn.Kind.THREAD, Turn.Kind.REMINDER)
            mine = [
                to_storable(describe_result(outcomes.result(row)))
                for row in rows
                if is_alone or row.agent_id in AGENTS
            ]
            known = {one["action_id"] for one in mine}
            others = [one for one in turn.actions if one["action_id"] not in known]
            turn.actions = [*others, *mine]
            turn.finished_at = timezone.now() if is_alone else turn.finished_at
            turn.save(update_fields=["actions", "finished_at"])


def store_left(account: AccountRef, left: Iterable[Mapping[str, Any]]) -> None:
    """What actions left of their mails, by the provider's answers."""
    for change in metadata.find_own_changes(account, left):
        change.store()


@contextmanager
def because_of(
    delivery: Claimed,
    account: AccountRef,
    item_id: str,
    *,
    turn_id: UUID | None = None,
    left: list[Mapping[str, Any]] | None = None,
) -> Iterator[Cause]:
    """What is done about the thread because of this delivery, in its one turn. What was done is
    kept however the block ends, and once more where an earlier try broke off. Who gives `left`
    stores what the actions left of their mails."""
    key = {"delivery_id": delivery.id}
    turn = ThreadTurn(account=account, item_id=item_id, key=key, turn_id=turn_id)
    try:
        yield Cause(
            delivery.id, delivery.received_at, turn.use, turn.left if left is None else left
        )
    finally:
        if delivery.attempts > 1 and turn.turn_id is None:
            before = Turn.objects.filter(**key, kind=turn.kind)
            turn.turn_id = before.values_list("id", flat=True).first()
        if turn.is_used or delivery.attempts > 1:
            turn.store()
