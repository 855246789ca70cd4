"""Whom a turn works for."""

from uuid import UUID

from agents.contracts import Person
from guardrails.contracts import Capability, SkillRef
from guardrails.learn.skills import list_offered
from guardrails.policies.capabilities import find_capabilities
from integrations.models import Account


def load_person(*, organisation_id: UUID, external_user_id: str) -> Person | None:
    """The user with all their accounts, in one query. None where they have none."""
    rows = Account.objects.select_related("organisation").filter(
        organisation_id=organisation_id, external_user_id=external_user_id
    )
    accounts = tuple(row.ref() for row in rows.order_by("source"))
    if not accounts:
        return None
    return Person(
        organisation_id=organisation_id, external_user_id=external_user_id, accounts=accounts
    )


def list_capabilities(person: Person) -> list[Capability]:
    found = find_capabilities(person.accounts)
    return [c for account in person.accounts for c in found.get(account.id, ())]


def list_skills(person: Person) -> tuple[SkillRef, ...]:
    """What any of the person's accounts is offered, by name. One query an account."""
    found: dict[str, SkillRef] = {}
    for account in person.accounts:
        for skill in list_offered(account):
            found.setdefault(skill.name, skill)
    return tuple(found[name] for name in sorted(found))
