"""The provider's history of one account held against the ledger. Pure: it is given both."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from audit.contracts import Attempted
from integrations.contracts import Change

KEY = "remit-"
# How far the clocks of provider and ledger may be apart.
SKEW = timedelta(hours=1)
# A call may still be under way, and a provider may need a while to list what it did.
SETTLED_AFTER = timedelta(minutes=10)
# An effect without a key is explained by an action on the same thing at about the same time.
NEAR = timedelta(minutes=10)

SENTENCES: Mapping[str, str] = {
    "unexplained_effect": "The provider says that Remit did this. The ledger has no row for it.",
    "effect_again": "The provider says that Remit did this twice. The ledger has it once.",
    "effect_of_another": "The provider says that Remit did this here, under the key of an action "
    "on another account.",
    "effect_denied": "The provider says that Remit did this. The ledger says that it was not done.",
    "missing_effect": "The ledger says that this was done. The provider's history does not have "
    "it.",
}


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """Something on which the provider and the ledger disagree."""

    reason: str
    change: Change | None = None
    action: Attempted | None = None

    @property
    def sentence(self) -> str:
        return SENTENCES[self.reason]

    @property
    def mark(self) -> str:
        """Equal for the same incident in the next comparison."""
        subject = self.change.id if self.change else self.action.action_id if self.action else ""
        return f"{self.reason} {subject}"


@dataclass(frozen=True, kw_only=True)
class Resolution:
    """What became of an action that the ledger has as unknown."""

    action: Attempted
    was_done: bool


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One account compared. `effects` are the client's own, `by_others` everybody else's;
    `open` effects belong to attempts that recovery is still to close."""

    effects: int
    by_others: int
    explained: int
    open: int
    incidents: tuple[Disagreement, ...]
    resolutions: tuple[Resolution, ...]


def action_of(key: str | None) -> UUID | None:
    """The action that a key of ours names; None for a key that is not ours."""
    if not key or not key.startswith(KEY):
        return None
    try:
        found = UUID(key.removeprefix(KEY))
    except ValueError:
        return None
    return found if key == f"{KEY}{found}" else None


def compare(
    changes: Sequence[Change],
    *,
    account_id: UUID,
    by_key: Mapping[UUID, Attempted],
    by_object: Mapping[str, Sequence[Attempted]],
    attempted: Sequence[Attempted],
    covered_from: datetime,
    now: datetime,
) -> Comparison:
    """Every effect needs an action of this account that was not used up by another effect, and
    every action that succeeded since `covered_from` needs an effect.

    `by_key` are the actions that keys name, whatever account they are of; `by_object` those
    on or behind an object id, for effects without a key.
    """
    own = [change for change in changes if change.by == "client"]
    used: dict[UUID, Change] = {}
    incidents: list[Disagreement] = []
    for change in own:
        action = _explaining(change, by_key, by_object, used)
        reason = _disagreement(action, account_id, used)
        if reason:
            incidents.append(Disagreement(reason=reason, change=change, action=action))
        if action and action.account_id == account_id:
            used.setdefault(action.action_id, change)
    incidents += _missing(attempted, used, covered_from, now)
    by_id = {one.action_id: one for one in [*by_key.values(), *attempted]}
    contradicted = {one.action.action_id for one in incidents if one.action}
    return Comparison(
        effects=len(own),
        by_others=len(changes) - len(own),
        explained=sum(by_id[key].status == "succeeded" for key in used.keys() & by_id.keys()),
        open=sum(by_id[key].status == "pending" for key in used.keys() & by_id.keys()),
        incidents=tuple(incidents),
        resolutions=tuple(
            Resolution(action=one, was_done=one.action_id in used)
            for one in by_id.values()
            if one.status == "unknown"
            and one.account_id == account_id
            and not one.is_resolved
            and one.action_id not in contradicted
            and (one.action_id in used or _is_surely_absent(one, own, covered_from, now))
        ),
    )


def _explaining(
    change: Change,
    by_key: Mapping[UUID, Attempted],
    by_object: Mapping[str, Sequence[Attempted]],
    used: Mapping[UUID, Change],
) -> Attempted | None:
    if change.key is not None:
        named = action_of(change.key)
        return by_key.get(named) if named else None
    near = (
        one
        for one in by_object.get(change.object_id, ())
        if one.action_id not in used and abs(one.began_at - change.at) <= NEAR
    )
    return min(near, key=lambda one: abs(one.began_at - change.at), default=None)


def _disagreement(
    action: Attempted | None, account_id: UUID, used: Mapping[UUID, Change]
) -> str | None:
    if action is None:
        return "unexplained_effect"
    if action.account_id != account_id:
        return "effect_of_another"
    if action.action_id in used:
        return "effect_again"
    return "effect_denied" if action.status in ("failed", "noop") else None


def _missing(
    attempted: Sequence[Attempted], used: Mapping[UUID, Change], since: datetime, now: datetime
) -> Iterator[Disagreement]:
    for one in attempted:
        settled = since <= one.began_at <= now - SETTLED_AFTER
        if one.status == "succeeded" and settled and one.action_id not in used:
            yield Disagreement(reason="missing_effect", action=one)


def _is_surely_absent(
    action: Attempted, own: Sequence[Change], since: datetime, now: datetime
) -> bool:
    """Whether the history would have it: it covers the time, and names every effect's key."""
    return since <= action.began_at <= now - SETTLED_AFTER and all(
        change.key is not None for change in own
    )
