"""The history of policy, read from the ledger: who changed what from what to what."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from audit.contracts import Filters, Recorded
from audit.ledger import people, selectors, timeline
from guardrails.actions import registry
from guardrails.decide.conditions import vocabulary as conditions
from guardrails.facts.text import visible
from guardrails.policies.changes import ACTION_TYPE, name_change
from guardrails.policies.findings import MODES

PAGE = 50
KINDS = {
    "allowedaction": "allowed action",
    "allowedactionoption": "target",
    "targetgroup": "group",
    "learnedpattern": "pattern",
    "skill": "skill",
    "customagent": "custom agent",
    "ceilinglimit": "ceiling limit",
    "person": "person of the directory",
    "owndomain": "own domain",
    "killswitch": "switch",
    "shadowpolicy": "shadow policy",
    "mcpserver": "MCP server",
    "mcptool": "MCP tool",
}

NAMES = {"external_id": "identity"}
PEOPLE = ("added_by", "approved_by", "by", "decided_by", "lifted_by", "thrown_by")
UNTOLD = ("id", "account_id", "organisation_id", "group_id", "digest")


@dataclass(frozen=True, kw_only=True)
class FieldChange:
    """One field, as people read it; None where the row did not or does not exist."""

    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True, kw_only=True)
class Changed:
    """One change of policy in words. Text of strangers is plain text with its hidden
    characters shown."""

    at: str
    who: str
    door: str
    verb: str  # added, changed, removed
    kind: str
    name: str
    account_id: UUID | None
    row: int  # of the ledger
    answers: UUID | None  # the change request that was approved by it
    fields: tuple[FieldChange, ...]


@dataclass(frozen=True, kw_only=True)
class HistoryPage:
    """Changes, newest first. `before` continues below them."""

    changes: tuple[Changed, ...]
    before: UUID | None


def history(
    *, organisation_id: UUID, account_id: UUID | None = None, before: UUID | None = None
) -> HistoryPage:
    """One page of an organisation's changes of policy, or of one account's."""
    filters = Filters(tenant_id=organisation_id, account_id=account_id, action_type=ACTION_TYPE)
    found = selectors.actions(filters=filters, limit=PAGE, before=before)
    names = people.name_each(one for row in found.rows for one in _principals(row))
    changes = tuple(_changed(row, names) for row in found.rows)
    return HistoryPage(changes=changes, before=found.before)


def organisation_of(change: UUID) -> UUID | None:
    """Whose change of policy the ledger knows under this id; None where it knows none."""
    return next((row.tenant_id for row in selectors.recorded(change)), None)


def behind(change: UUID) -> UUID:
    """Where a page begins whose first change is this one."""
    return UUID(int=change.int + 1)


def _principals(row: Recorded) -> Iterator[people.Principal]:
    """Who made the change, and whom its values name."""
    yield row.tenant_id, row.actor_id
    for side in (row.payload.get("before"), row.payload.get("after")):
        yield from ((row.tenant_id, str(side[name])) for name in PEOPLE if side and side.get(name))


def _changed(row: Recorded, names: people.Names) -> Changed:
    def call(raw: Any) -> str:
        return visible(names[row.tenant_id, str(raw)]) if raw else as_text(raw)

    old, new = row.payload.get("before"), row.payload.get("after")
    kind = str(row.payload.get("kind", row.resource_type))
    return Changed(
        at=timeline.moment(row.occurred_at),
        who=call(row.actor_id),
        door=str(row.payload.get("door", "")).replace("_", " "),
        verb=name_change(old, new),
        kind=KINDS.get(kind, kind),
        name=visible(str(row.payload.get("name", ""))),
        account_id=row.account_id,
        row=row.id,
        answers=row.parent_action_id,
        fields=tuple(differences(old, new, call=call)),
    )


def differences(
    old: Mapping[str, Any] | None,
    new: Mapping[str, Any] | None,
    *,
    call: Callable[[Any], str] | None = None,
) -> Iterator[FieldChange]:
    """What differs, field by field; ids and digests are left out, and empty fields of a new
    row. `call` says who is meant where a value names somebody."""
    words = WORDS | (dict.fromkeys(PEOPLE, call) if call else {})
    for name in dict.fromkeys([*(old or {}), *(new or {})]):
        before, after = (side.get(name) if side else None for side in (old, new))
        if before == after or name in UNTOLD or (old is None and after in (None, "", [])):
            continue
        yield FieldChange(
            name=NAMES.get(name, name.removesuffix("_id").replace("_", " ")),
            before=None if old is None else words.get(name, as_text)(before),
            after=None if new is None else words.get(name, as_text)(after),
        )


def _conditions(raw: Any) -> str:
    return visible("; ".join(one.sentence for one in conditions.read_all(raw)) or "none")


def _actions(raw: Any) -> str:
    """What a pattern does, as (action type, arguments)."""
    parts = []
    for name, arguments in raw or ():
        action = registry.BY_NAME.get(name)
        values = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in arguments.items())
        parts.append(f"{action.title if action else name}{f' ({values})' if values else ''}")
    return visible("; ".join(parts) or "none")


def _action(raw: Any) -> str:
    action = registry.BY_NAME.get(raw)
    return action.title if action else as_text(raw)


def _kind(raw: Any) -> str:
    return as_text(raw).replace("_", " ")


def _mode(raw: Any) -> str:
    return MODES.get(raw, as_text(raw))


def _moment(raw: Any) -> str:
    return timeline.moment(datetime.fromisoformat(raw)) if raw else "empty"


def _policy(raw: Any) -> str:
    """A whole policy, as one in shadow has it; other content as it is."""
    if not isinstance(raw, dict):
        return as_text(raw)
    return ", ".join(
        f"{len(raw.get(name) or [])} {name}" for name in ("allowed_actions", "targets")
    )


def as_text(value: Any) -> str:
    """A stored value as people read it."""
    if value is None or value == "":
        return "empty"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return visible(text)


WORDS: dict[str, Callable[[Any], str]] = {
    "action_type": _action,
    "actions": _actions,
    "approval_mode": _mode,
    "approved_at": _moment,
    "conditions": _conditions,
    "content": _policy,
    "expires_at": _moment,
    "kind": _kind,
    "lifted_at": _moment,
    "since": _moment,
    "suspended_at": _moment,
    "thrown_at": _moment,
}
