"""What is read of the user and of a mail's sender before an agent looks at the mail: in the
transaction that stores a new one, so that it costs none of its own."""

from typing import Any, NamedTuple
from uuid import UUID

from django.utils import timezone

from agents.context import people
from agents.contracts import Person
from agents.learn import earlier
from guardrails.contracts.learning import Pattern, SkillRef
from guardrails.facts import targets
from guardrails.gather import strangers
from guardrails.learn import patterns, skills
from integrations.contracts import AccountRef, Email
from integrations.database.together import Read
from integrations.llm import metering
from integrations.llm.completions import Payer
from knowledge.contracts import StoredMail


class Known(NamedTuple):
    """All of it, to be read together. The mailbox is asked before it is used: what may be taken
    back meanwhile and sets something off, a pattern, is read again then."""

    person: Read[Person | None]
    patterns: Read[tuple[Pattern, ...]]
    skills: Read[tuple[SkillRef, ...]]
    budgets: Read[list[metering.Budget]]
    vouched: Read[frozenset[str]]
    before: Read[tuple[StoredMail, ...]] | None

    @property
    def reads(self) -> list[Read[Any]]:
        return [read for read in self if read]


def prepare_known(account: AccountRef, email: Email) -> Known:
    """Nothing is read yet."""
    address = targets.address_or_none(email.sender)
    return Known(
        people.read_person(
            organisation_id=account.organisation_id, external_user_id=account.external_user_id
        ),
        patterns.read_approved(account, now=timezone.now()),
        skills.read_offered(account),
        metering.read_budgets(build_payer(account)),
        strangers.read_vouched_for(account, [address] if address else []),
        earlier.read_earlier(
            account,
            sender=email.sender,
            list_id=email.list_id or "",
            authenticated=email.authentication.dmarc == "pass",
        ),
    )


def build_payer(account: AccountRef, run_id: UUID | None = None) -> Payer:
    """Who pays for what models are asked about the mail."""
    return Payer(
        organisation_id=account.organisation_id,
        external_user_id=account.external_user_id,
        account_id=account.id,
        run_id=run_id,
    )
