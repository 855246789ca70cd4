"""Whom a turn works for."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from agents.contracts import Person
from guardrails.actions.base import AnyAction
from guardrails.approve.cards import list_cards
from guardrails.contracts import Capability
from guardrails.contracts.learning import SkillRef
from guardrails.decide.snapshot import PolicySnapshot
from guardrails.learn.skills import list_offered
from guardrails.policies.capabilities import find_capabilities
from integrations.accounts.rows import COLUMNS, account_of
from integrations.contracts import AccountRef
from integrations.contracts.preferences import Preferences, read_hours
from integrations.database.together import Read, Row
from knowledge.search import retrieval

WAITING_SHOWN = 10
# Of every turn: composed by Django, as two queries, it took 0.75 ms of CPU, and takes 0.06 so.
_PERSON = f"""
SELECT coalesce(p.name, ''), coalesce(p.language, ''), coalesce(p.time_zone, ''),
    coalesce(p.working_hours, '{{}}')::text, coalesce(p.signature, ''), {COLUMNS}
FROM integrations_account a JOIN integrations_organisation o ON o.id = a.organisation_id
    LEFT JOIN integrations_userpreferences p
        ON p.organisation_id = a.organisation_id AND p.external_user_id = a.external_user_id
WHERE a.organisation_id = %s AND a.external_user_id = %s
ORDER BY a.created_at, a.id
"""  # noqa: S608  # only constants


def load_person(*, organisation_id: UUID, external_user_id: str) -> Person | None:
    """The user with what they say of themself and all their accounts, those connected first coming
    first, in one query. None where they have no account."""
    return read_person(organisation_id=organisation_id, external_user_id=external_user_id).run()


def read_person(*, organisation_id: UUID, external_user_id: str) -> Read[Person | None]:
    """The same, to be run with others."""

    def load(rows: Sequence[Row]) -> Person | None:
        if not rows:
            return None
        return Person(
            organisation_id=organisation_id,
            external_user_id=external_user_id,
            accounts=tuple(account_of(row[5:]) for row in rows),
            preferences=_preferences(*rows[0][:5]),
        )

    return Read(_PERSON, [organisation_id, external_user_id], load)


def _preferences(
    name: str, language: str, time_zone: str, hours: str, signature: str
) -> Preferences:
    return Preferences(
        name=name,
        language=language,
        time_zone=time_zone,
        working_hours=read_hours(json.loads(hours)),
        signature=signature,
    )


def find_account(
    person: Person, action: AnyAction, params: Mapping[str, Any], *, account_id: UUID | None = None
) -> AccountRef | None:
    """Which of the person's accounts an action is for: the one that is named; else the one that
    its object came from; else, of those it can be done with, the one connected first. None: there
    is no such account."""
    if account_id is not None:
        return next((one for one in person.accounts if one.id == account_id), None)
    able = [one for one in person.accounts if action.works_on(one.source)]
    object_id = params.get(action.object_field or "")
    if len(able) > 1 and isinstance(object_id, str):
        called = retrieval.find_items([object_id], account_ids=[one.id for one in able], chars=0)
        owner = called[object_id].account_id if object_id in called else None
        able = [one for one in able if one.id == owner] or able
    return able[0] if able else None


def list_capabilities(
    person: Person, policies: Mapping[UUID, PolicySnapshot] | None = None
) -> list[Capability]:
    """What the agent may try for the person. `policies` of the accounts, where they were read
    already; else one query."""
    found = find_capabilities(person.accounts, policies)
    return [c for account in person.accounts for c in found.get(account.id, ())]


def name_targets(capabilities: Iterable[Capability]) -> dict[str, str]:
    """What the listed labels and folders are called, by id."""
    return {
        target.id: target.name
        for capability in capabilities
        for target in capability.targets
        if target.kind in ("label", "folder") and target.name
    }


def list_waiting(person: Person) -> list[dict[str, str]]:
    """What waits for this user's word, newest first. One query."""
    cards = list_cards(
        organisation_id=person.organisation_id,
        external_user_id=person.external_user_id,
        state="pending",
        limit=WAITING_SHOWN,
    )
    return [
        {"id": str(card.id), "type": card.action_type, "description": card.description}
        for card in cards
    ]


def list_skills(person: Person) -> tuple[SkillRef, ...]:
    """What any of the person's accounts is offered, by name. One query an account."""
    found: dict[str, SkillRef] = {}
    for account in person.accounts:
        for skill in list_offered(account):
            found.setdefault(skill.name, skill)
    return tuple(found[name] for name in sorted(found))
