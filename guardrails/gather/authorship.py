"""Who wrote what others would get to see: the agent's part is in the ledger.

What the agent wrote stays the agent's until a person has restated it. That is so when they

- confirmed the writing itself on a card, which shows the text in full;
- confirmed an action on a card that showed the object as it is now, compared by digest; or
- changed the text themselves since, as far as the provider can tell.

That somebody names the object in a later request is no restating: nobody looks into a document to
type its title, and a hijacked run fills the document whose name it expects to be typed next.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from audit.contracts import Recorded
from audit.ledger.provider_side import attempts_on
from guardrails.actions import registry
from guardrails.contracts import ActionRequest
from guardrails.decide.provenance import THE_USERS
from guardrails.facts.exposure import Authorship, Exposure
from guardrails.facts.facts import Facts
from guardrails.facts.targets import address_or_none

MOST = 400  # rows of one object; with more of them nobody can tell that no person is behind
CHANGED_TEXT = frozenset({"document", "event", "issue"})  # objects that an action can write into
NOT_DONE = frozenset({"failed", "noop"})
PLACES = frozenset({"folder", "label"})


def authors(
    request: ActionRequest, exposures: Iterable[Exposure], facts: Facts
) -> tuple[Authorship, ...]:
    """The authorship of each object that is exposed. Two queries for each."""
    whole = {one.id: one for one in exposures}
    return tuple(_author(request, one, facts) for one in whole.values())


def _author(request: ActionRequest, exposure: Exposure, facts: Facts) -> Authorship:
    account = request.account
    rows = attempts_on(
        tenant_id=account.organisation_id,
        account_id=account.id,
        object_id=exposure.id,
        limit=MOST,
    )
    ended = {(row.action_id, row.attempt_no): row for row in rows if row.phase == "outcome"}
    done = [
        row
        for row in rows
        if row.phase == "attempt"
        and row.action_id != request.action_id
        and not _came_to_nothing(ended.get((row.action_id, row.attempt_no)))
    ]
    known = len(rows) < MOST
    alone = [row for row in done if not row.approval_id]
    wrote: Literal["", "run", "agent"] = "" if known else "agent"
    content = facts.content.digest if facts.content else exposure.digest
    if content not in _seen(done, exposure.id):
        written = [row for row in alone if _writes(row, exposure)]
        outcomes = [ended.get((row.action_id, row.attempt_no)) for row in written]
        if written and not _is_changed_by_hand(facts, exposure, outcomes):
            run = request.origin.turn_id
            wrote = "run" if run and run in {row.run_id for row in written} else "agent"
    return Authorship(
        object_id=exposure.id,
        wrote=wrote,
        placed=not known or any(_places(row) for row in alone),
        last=_last(facts, exposure),
    )


def _came_to_nothing(outcome: Recorded | None) -> bool:
    """Without an outcome the provider may have done it."""
    return outcome is not None and outcome.status in NOT_DONE


def _writes(row: Recorded, exposure: Exposure) -> bool:
    """Whether the action put text of the agent's own into the object, or created it with such."""
    action = registry.BY_NAME.get(row.action_type)
    if action is None or action.only_undoes:
        return False
    changes = row.resource_id == exposure.id
    if not action.texts or (changes and action.object_kind not in CHANGED_TEXT):
        return False
    decision = row.payload.get("decision")
    if not isinstance(decision, Mapping):
        return True  # erased: nobody can tell whose words they were
    sources: Mapping[str, Any] = decision.get("provenance", {})
    return any(
        code not in THE_USERS for path, code in sources.items() if action.class_at(path) == "text"
    )


def _places(row: Recorded) -> bool:
    """Whether the action decided where the object lies, or which labels it carries."""
    action = registry.BY_NAME.get(row.action_type)
    return action is not None and bool(PLACES & {*action.takes})


def _seen(rows: Sequence[Recorded], object_id: str) -> frozenset[str]:
    """The digests under which a person saw the object on a card and said yes."""
    exposures = (
        one
        for row in rows
        if row.approval_id
        for one in (row.payload.get("decision") or {}).get("exposures", ())
    )
    return frozenset(
        one["digest"] for one in exposures if one["id"] == object_id and not one["adds"]
    )


def _is_changed_by_hand(
    facts: Facts, exposure: Exposure, outcomes: Iterable[Recorded | None]
) -> bool:
    """Whether the user changed the text of the document after the agent had: nobody else could,
    and the provider says that it was changed later than the agent left it."""
    document = facts.document
    if document is None or document.id != exposure.id or _last(facts, exposure) != "user":
        return False
    left = [_left_at(one, document.created_at) for one in outcomes]
    return all(moment is not None and document.modified_at > moment for moment in left)


def _left_at(outcome: Recorded | None, created_at: datetime) -> datetime | None:
    """When the provider says the agent left the text so; None: it does not say."""
    if outcome is None:
        return None
    if said := outcome.payload.get("modified_at"):
        return datetime.fromisoformat(said)
    return created_at if any(outcome.artifacts) else None


def _last(facts: Facts, exposure: Exposure) -> Literal["user", "other", "unknown"]:
    """Who else writes the object, where that is one person and no other."""
    own = address_or_none(facts.own_address)
    owner = address_or_none(exposure.owner)
    if own is None or owner is None:
        return "unknown"
    is_own = own.casefold() == owner.casefold()
    if exposure.kind == "email":
        return "user" if is_own else "other"
    # A folder does not say as what its readers may read.
    roles = facts.document.roles if facts.document else {}
    only_read = all(roles.get(one.address) in ("reader", "commenter") for one in exposure.before)
    return "user" if is_own and only_read else "unknown"
