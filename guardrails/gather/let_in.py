"""Whom the agent let into an object of its own accord: the ledger knows.

The provider says that the user did, in whose name the agent acts. Whom the user named in the
request that let them in was let in by the user, and so is whom a person has seen on a card since
and confirmed.
"""

from collections.abc import Mapping
from typing import Any

from audit.contracts import Recorded
from audit.ledger.provider_side import attempts_on
from guardrails.actions import registry
from guardrails.contracts import ActionRequest
from guardrails.decide.provenance import SPOKEN, values
from guardrails.facts.targets import address_or_none
from guardrails.gather.authorship import MOST, NOT_DONE


def let_in_by_agent(request: ActionRequest, object_id: str) -> tuple[str, ...] | None:
    """The addresses, in small letters. None where nobody can tell any more: contents were erased,
    or there are too many rows. Two queries."""
    rows = attempts_on(
        tenant_id=request.account.organisation_id,
        account_id=request.account.id,
        object_id=object_id,
        limit=MOST,
    )
    if len(rows) >= MOST:
        return None
    not_done = {
        (row.action_id, row.attempt_no)
        for row in rows
        if row.phase == "outcome" and row.status in NOT_DONE
    }
    found: set[str] = set()
    for row in reversed(rows):
        if row.phase != "attempt" or row.action_id == request.action_id or not _reaches(row):
            continue
        if (row.action_id, row.attempt_no) in not_done:
            continue
        if not isinstance(row.payload.get("decision"), Mapping):
            return None
        if row.approval_id:
            found -= _addressed(row).keys() | _present(row)
        else:
            codes = row.payload["decision"].get("provenance", {})
            there = _present(row)
            found |= {
                one
                for one, path in _addressed(row).items()
                if codes.get(path) not in SPOKEN and one not in there
            }
    return tuple(sorted(found))


def _reaches(row: Recorded) -> bool:
    """Whether such an action can let people in. What a person took back does not count."""
    action = registry.BY_NAME.get(row.action_type)
    return action is not None and "recipient" in action.takes and not action.only_undoes


def _addressed(row: Recorded) -> dict[str, str]:
    """The addresses among the arguments, in small letters, with their paths."""
    arguments = row.payload.get("arguments") or {}
    return {value.lower(): path for path, value in values(arguments) if address_or_none(value)}


def _present(row: Recorded) -> set[str]:
    """Who was there before the action, by the facts that it was decided on; in small letters."""
    facts: Mapping[str, Any] = (row.payload.get("decided_on") or {}).get("facts") or {}
    attendees = (facts.get("event") or {}).get("attendees", ())
    readers = (facts.get("document") or {}).get("shared_with", ())
    return {one.lower() for one in (*(guest["email"] for guest in attendees), *readers)}
