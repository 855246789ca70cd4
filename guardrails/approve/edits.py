"""What a person's edit makes of the arguments that were proposed. Pure."""

from collections.abc import Mapping
from typing import Any

from guardrails.actions import registry
from guardrails.actions.base import AnyAction, InvalidArguments
from guardrails.contracts import ActionRequest


def change_arguments(proposal: ActionRequest, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The canonical arguments with a person's changes. Raises InvalidArguments."""
    action = registry.BY_NAME.get(proposal.action_type)
    if action is None:
        raise InvalidArguments("there is no such action any more")
    wanted = {name: _or_default(action, name, value) for name, value in changes.items()}
    arguments: dict[str, Any] = action.parse({**proposal.arguments, **wanted}).canonical()
    if arguments == proposal.arguments:
        raise InvalidArguments("nothing is changed")
    field = action.object_field
    if field is not None and arguments[field] != proposal.arguments[field]:
        raise InvalidArguments(f"{field}: another object needs a new action")
    return arguments


def _or_default(action: AnyAction, name: str, value: Any) -> Any:
    """Null takes an optional argument away: then it is as if it had never been given."""
    field = action.arguments.model_fields.get(name)
    if value is not None or field is None or field.is_required():
        return value
    return field.get_default(call_default_factory=True)
