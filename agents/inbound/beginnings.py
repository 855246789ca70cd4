"""How work on an inbound item begins: with the one turn of the item, which a new mail is stored
with."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from agents.inbound import inbound
from agents.inbound.claims import Claimed
from agents.inbound.known import Known, prepare_known
from agents.journal import leases
from agents.journal.leases import Lease, Opening
from agents.models import Turn
from guardrails.decide.snapshot import PolicySnapshot
from guardrails.gather.policy_rows import policy_snapshot, read_policy
from integrations.contracts import AccountRef, Email
from integrations.database.together import run_together
from integrations.models import Delivery
from knowledge.contracts import IngestOutcome
from knowledge.ingest.new_items import Beside

OWN_MAIL = "own_mail"


@dataclass
class Beginning:
    """The beginning of what becomes of a mail that came, once it is stored."""

    delivery: Claimed
    account: AccountRef
    email: Email
    opening: Opening | None = None
    known: Known | None = None  # where it was read with the policy

    @cached_property
    def policy(self) -> PolicySnapshot:
        return policy_snapshot(self.account)

    @property
    def why_not(self) -> str:
        """Why no agent looks at the mail; empty: one does."""
        if self.policy.stops_all(self.account.source):
            return Delivery.STOPPED
        return self._whose

    @cached_property
    def _whose(self) -> str:
        if inbound.is_own(self.account, self.email):
            return OWN_MAIL
        return "from_remit" if inbound.is_from_remit(self.email) else ""

    def beside(self) -> Beside | None:
        """The turn, if there is to be one, for the statement that stores the mail. What the turn
        begins with is read in the same transaction, once whether there is one is read."""
        policy = read_policy(self.account)
        self.known = None if self._whose else prepare_known(self.account, self.email)
        run_together(policy, *(self.known.reads if self.known else []))
        self.policy = policy.found
        if self.why_not:
            return None
        fields = _fields(self.delivery, self.account, self.email.id, Turn.Kind.INBOUND)
        self.opening = leases.prepare(**fields)
        return Beside(leases.OPEN, [self.opening.row])

    def turn(self, outcome: IngestOutcome) -> tuple[UUID | None, Lease | None]:
        """That turn, where it was stored so, or as `find_turn`."""
        if self.opening and outcome.has_beside:
            return self.opening.lease.turn_id, self.opening.lease
        self.known = None  # it is not of now
        return find_turn(self.delivery, self.account, self.email.id)


def _fields(
    delivery: Claimed, account: AccountRef, item_id: str, kind: Turn.Kind
) -> dict[str, Any]:
    return {
        "account_id": account.id,
        "item_source_id": item_id,
        "delivery_id": delivery.id,
        "organisation_id": account.organisation_id,
        "external_user_id": account.external_user_id,
        "kind": kind,
        "principal": "webhook",
    }


def find_turn(
    delivery: Claimed, account: AccountRef, item_id: str
) -> tuple[UUID | None, Lease | None]:
    """The item's turn, with the lease where it was made just now. None where another delivery of
    the same item has it."""
    if lease := leases.open_claimed(**_fields(delivery, account, item_id, Turn.Kind.INBOUND)):
        return lease.turn_id, lease
    turn = Turn.objects.get(account_id=account.id, item_source_id=item_id, kind=Turn.Kind.INBOUND)
    return (turn.id if turn.delivery_id == delivery.id else None), None


def find_turn_again(
    delivery: Claimed, account: AccountRef, item_id: str
) -> tuple[UUID | None, Lease | None]:
    """The turn of this delivery alone, about an item that has had one."""
    if lease := leases.open_claimed(**_fields(delivery, account, item_id, Turn.Kind.AGAIN)):
        return lease.turn_id, lease
    return Turn.objects.values_list("id", flat=True).get(delivery_id=delivery.id), None
