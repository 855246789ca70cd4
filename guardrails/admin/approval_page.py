"""An approval as its admin page shows it: built by code from fields, receivers first.

What strangers or the model wrote is plain text here, with its hidden characters shown.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from guardrails import registry
from guardrails.models import Approval
from guardrails.provenance import IN_WORDS
from guardrails.text import visible


@dataclass(frozen=True, kw_only=True)
class Value:
    """One value of the action: what it is for, the value in full, and where it comes from."""

    label: str
    text: str
    provenance: str
    is_target: bool


def context(approval: Approval) -> dict[str, Any]:
    """The page's values. No query."""
    action = registry.BY_NAME.get(approval.action_type)
    found = sorted(_values(approval), key=lambda value: not value.is_target)
    return {
        "approval": approval,
        "headline": visible(approval.description),
        "title_of_action": action.title if action else approval.action_type,
        "targets": [value for value in found if value.is_target],
        "rest": [value for value in found if not value.is_target],
        "side_effects": [visible(text) for text in approval.side_effects],
        "why": visible(approval.reason),
        "agent_said": visible(str(approval.origin.get("reason", ""))),
        "times": list(_times(approval)),
        "outcome": visible(str(approval.executed.get("sentence", ""))),
        "is_open": approval.state == Approval.State.PENDING,
    }


def _values(approval: Approval) -> Iterator[Value]:
    """Every argument in full. Those that decide where the action goes are targets."""
    action = registry.BY_NAME.get(approval.action_type)
    order = list(action.arguments.model_fields) if action else []
    deciding = _target_paths(approval)
    # The database keeps the keys in an order of its own; unknown ones come last.
    for name in sorted(approval.arguments, key=[*order, *approval.arguments].index):
        given = approval.arguments[name]
        many = isinstance(given, list)
        for index, value in enumerate(given if many else [given]):
            if value is None or value == "":
                continue
            path = f"{name}[{index}]" if many else name
            code = approval.provenance.get(path, "X")
            yield Value(
                label=name.replace("_", " "),
                text=visible(str(value)),
                provenance=IN_WORDS.get(code, IN_WORDS["X"]),
                is_target=path in deciding,
            )


def _target_paths(approval: Approval) -> frozenset[str]:
    action = registry.BY_NAME.get(approval.action_type)
    try:
        arguments = registry.parse(action, approval.arguments) if action else None
    except registry.InvalidArguments:
        arguments = None
    if action is None or arguments is None:
        return frozenset()
    return frozenset(target.path for target in action.targets(arguments))


def _times(approval: Approval) -> Iterator[tuple[str, str]]:
    zone = ZoneInfo(approval.account.time_zone)
    moments: Mapping[str, datetime | None] = {
        "Asked": approval.created_at,
        "Expires": approval.expires_at,
        "Decided": approval.decided_at,
    }
    for label, at in moments.items():
        if at is not None:
            yield label, f"{at.astimezone(zone):%Y-%m-%d %H:%M:%S} {zone.key}"
