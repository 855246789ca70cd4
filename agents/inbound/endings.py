"""How the turn of an inbound item ends: one commit with what its own actions left of the item, and
with the agent's last step, where that is a reply."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from agents.journal.leases import Lease
from agents.models import Turn
from agents.turns.turns import finish_turn
from integrations.contracts import AccountRef
from knowledge.ingest import metadata


@dataclass(kw_only=True)
class End:
    """The end of one turn, which comes once. `left` are the provider's answers to its actions."""

    lease: Lease
    account: AccountRef
    left: list[Mapping[str, Any]] = field(default_factory=list)
    is_stored: bool = False

    def store(self, ending: Turn.Ending) -> None:
        """Unless it came with the last step. Raises LeaseLost."""
        if not self.is_stored:
            with self.committing(ending):
                pass

    @contextmanager
    def committing(self, ending: Turn.Ending) -> Iterator[None]:
        """A transaction with what the block stores and then the end. Raises LeaseLost."""
        changes = metadata.find_own_changes(self.account, self.left)
        with transaction.atomic():
            yield
            # While the turn holds back the word of them (`agents.inbound.intake`).
            for change in changes:
                change.store()
            finish_turn(self.lease, text="", ending=ending)
        self.is_stored = True
