"""How the turn of an inbound item ends: one commit with what its own actions left of the item, with
its delivery, and with the agent's last step, where that is a reply."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from agents.journal.leases import Lease
from agents.models import Turn
from agents.turns.turns import finish_turn
from integrations.contracts import AccountRef
from integrations.exceptions import ProviderError
from knowledge.ingest import metadata

log = logging.getLogger(__name__)
Left = list[Mapping[str, Any]]
Settle = Callable[[Left], object]


@dataclass(kw_only=True)
class End:
    """The end of one turn, which comes once. `left` are the provider's answers to its actions.

    `settle` does what is to be done once they are done, may ask the provider, and adds to what is
    `left`. So does `tidy`, where `is_untidy` says that there is something to tidy, which only reads
    rows: in the transaction of the end. Then `close` stores what ends with the turn. Where the
    provider cannot be asked the turn ends alone.
    """

    lease: Lease
    account: AccountRef
    settle: Settle = lambda left: None
    is_untidy: Callable[[], bool] = lambda: False
    tidy: Settle = lambda left: None
    close: Callable[[], object] = lambda: None
    left: list[Mapping[str, Any]] = field(default_factory=list)
    is_stored: bool = False
    is_closed: bool = False

    def store(self, ending: Turn.Ending) -> None:
        """Unless it came with the last step. Raises LeaseLost."""
        if not self.is_stored:
            with self.committing(ending):
                pass

    @contextmanager
    def committing(self, ending: Turn.Ending) -> Iterator[None]:
        """A transaction with what the block stores and then the end. Raises LeaseLost."""
        is_settled = self._try(self.settle)
        changes = metadata.find_own_changes(self.account, self.left)
        with ExitStack() as stack:
            stack.enter_context(transaction.atomic())
            if is_settled and self.is_untidy():
                stack.close()  # nothing was written, and the provider is asked in no transaction
                is_settled = self._try(self.tidy)
                changes = metadata.find_own_changes(self.account, self.left)
                stack.enter_context(transaction.atomic())
            yield
            # While the turn holds back the word of them (`agents.inbound.intake`).
            for change in changes:
                change.store()
            finish_turn(self.lease, text="", ending=ending)
            if is_settled:
                self.close()
        self.is_stored, self.is_closed = True, is_settled

    def _try(self, settle: Settle) -> bool:
        try:
            settle(self.left)
        except ProviderError as error:
            turn = str(self.lease.turn_id)
            log.warning("turn.unsettled", extra={"turn": turn, "code": error.code})
            return False
        return True
