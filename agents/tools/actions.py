"""A tool for each action, named after it and with the action's own arguments.

Every action is understood by its name, so that one which is not permitted is refused, with the
reason, and recorded. A model is shown only what is permitted now, with the targets that it may
name. A schema says in few words what the name and its arguments do not: the rest comes with the
error that teaches (`agents.tools.forms`).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from agents.context import schemas
from agents.contracts import Person
from agents.tools import execute_action
from agents.tools.base import Tool
from agents.tools.execute_action import ExecuteAction
from guardrails.actions.base import AnyAction
from guardrails.actions.registry import ACTIONS, BY_NAME
from guardrails.contracts import Capability, PermittedTarget
from guardrails.facts.text import visible

TARGETS_SHOWN = 60  # of one kind; what is beyond them is found by its name all the same
NAME_CHARS = 100
PEOPLE = frozenset({"recipient", "recipient_domain"})  # conditions may let others in
# What a name and its arguments do not say, in a line.
NOTES: Mapping[str, str] = {
    "update_calendar_event": "attendees are all from then on",
    "call_mcp_tool": "plan_…_tools tell what each takes",
}
CALLED_BY_NAME = frozenset({"label", "folder"})
ABOUT_CALL = frozenset({"confirm_first", "reason", "account_id"})
REASON = {"reason": {"type": "string"}}
CONFIRM = {"confirm_first": {"type": "boolean"}}  # pointless where each one is confirmed anyway
SAID_ONCE = frozenset({*REASON, *CONFIRM})  # for all actions of a list


class ActionTool(Tool[ExecuteAction]):
    """One action by its name: the same call as execute_action, with the arguments side by side."""

    def read(self, given: Mapping[str, Any]) -> ExecuteAction:
        about = {name: value for name, value in given.items() if name in ABOUT_CALL}
        params = {name: value for name, value in given.items() if name not in ABOUT_CALL}
        call = {"action_type": self.name, "params": params, **about}
        return ExecuteAction.model_validate(call)

    @property
    def line(self) -> str:
        action, needed = BY_NAME[self.name], self.parameters.get("required", ())
        said: dict[str, Any] = {}
        for name, one in self.parameters["properties"].items():
            # Of what may be left out the choices are said where they are the account's own.
            is_said = name in needed or action.classes.get(name) != "choice" or name == "status"
            if name not in SAID_ONCE:
                said[name] = one if is_said else {"type": one.get("type")}
        return f"{schemas.sign(self.name, {**self.parameters, 'properties': said})}{self.note}"


def _tool(
    action: AnyAction, *, description: str, offered: bool, form: Mapping[str, Any], note: str = ""
) -> ActionTool:
    return ActionTool(
        name=action.name,
        description=description,
        arguments=ExecuteAction,
        run=execute_action.run,
        acts=True,
        repeats=True,
        aside=execute_action.TOOL.aside,
        offered=offered,
        form=form,
        note=note,
    )


def list_tools(
    person: Person, capabilities: Sequence[Capability], *, for_items: bool = False
) -> dict[str, Tool[Any]]:
    """A tool for each action that is permitted, by its name: one for all accounts. `for_items`:
    each names the item that it is done to or answers, as what arrived sets off nothing else."""
    by_action: dict[str, list[Capability]] = defaultdict(list)
    for capability in capabilities:
        by_action[capability.action_type].append(capability)
    return {
        name: _permitted(BY_NAME[name], person, permitted, for_items=for_items)
        for name, permitted in by_action.items()
    }


def _permitted(
    action: AnyAction, person: Person, permitted: Sequence[Capability], *, for_items: bool
) -> ActionTool:
    targets = tuple(dict.fromkeys(target for one in permitted for target in one.targets))
    always_asks = all(one.mode == "ask" for one in permitted)
    form = _form(action, targets, others=REASON if always_asks else CONFIRM)
    if for_items and action.object_field:
        form["required"] = [*dict.fromkeys([action.object_field, *form.get("required", ())])]
    accounts = ""
    if len(permitted) > 1:
        named = {one.id: one for one in person.accounts}
        chosen = [named[one.account_id] for one in permitted if one.account_id in named]
        form["properties"] |= {
            "account_id": {"type": "string", "enum": [str(one.id) for one in chosen]}
        }
        said = "; ".join(f"{one.id}: {one.source} {one.address}" for one in chosen)
        accounts = f"Accounts: {said}."
    # Which others an opening lets in is decided anyway, and takes many words to say.
    opened = any(one.description != action.description for one in permitted)
    names = _in_words(action, targets)
    others = ", others may be let in" if opened else ""
    whole = [
        f"{action.title}{f' ({NOTES[action.name]})' if action.name in NOTES else ''}.",
        "The user confirms each." if always_asks else "",
        f"Listed: {names}{others}." if names else "",
        accounts,
    ]
    short = [
        "*" if always_asks else "",
        f" for {names}{', …' if opened else ''}" if names else "",
        f": {NOTES[action.name]}" if action.name in NOTES else "",
        f". {accounts}" if accounts else "",
    ]
    return _tool(
        action,
        description=" ".join(filter(None, whole)),
        offered=True,
        form=form,
        note="".join(short),
    )


def _form(
    action: AnyAction,
    targets: Sequence[PermittedTarget] = (),
    *,
    others: Mapping[str, Any] = REASON | CONFIRM,
) -> dict[str, Any]:
    """The action's arguments as a model is shown them: what a listed target is named for takes
    the listed names alone."""
    arguments: type[BaseModel] = action.arguments
    schema = schemas.describe_arguments(arguments)
    properties = dict(schema["properties"])
    for name in properties:
        kind = _kind_of(name, action)
        names = [_called(one, targets) for one in targets if one.kind == kind]
        if names and len(names) <= TARGETS_SHOWN:
            properties[name] = _one_of(properties[name], names)
    return {**schema, "properties": {**properties, **others}}


def _kind_of(argument: str, action: AnyAction) -> str:
    """The kind of listed target that an argument is named after: `label_id` takes a label."""
    if action.classes.get(argument) not in ("target", "choice"):
        return ""
    return next((kind for kind in action.takes if argument.startswith(kind)), "")


def _one_of(schema: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    if "items" in schema:
        return {**schema, "items": {**schema["items"], "enum": list(names)}}
    return {**schema, "enum": list(names)}


def _called(target: PermittedTarget, targets: Sequence[PermittedTarget]) -> str:
    """The name of what has an id that nobody reads, where it is plain and one's alone; else the
    id. `forms` understands both."""
    same = [one for one in targets if one.name.casefold() == target.name.casefold()]
    taken = len(same) > 1 or any(one.id == target.name for one in targets)
    is_plain = bool(target.name) and _line(target.name) == target.name
    return target.name if target.kind in CALLED_BY_NAME and is_plain and not taken else target.id


def _in_words(action: AnyAction, targets: Sequence[PermittedTarget]) -> str:
    """Listed targets that no argument has a closed list of."""
    closed = {_kind_of(name, action) for name in action.classes}
    by_kind = {kind: [one for one in targets if one.kind == kind] for kind in action.takes}
    rest = [
        one
        for kind, listed in by_kind.items()
        if kind not in closed or len(listed) > TARGETS_SHOWN
        for one in listed
    ]
    names = ", ".join(_word(one) for one in rest[:TARGETS_SHOWN])
    more = f" and {len(rest) - TARGETS_SHOWN} more" if len(rest) > TARGETS_SHOWN else ""
    return f"{names}{more}"


def _word(target: PermittedTarget) -> str:
    """Of people the address counts; a domain stands for everybody in it."""
    if target.kind in PEOPLE:
        return f"@{target.id}" if target.kind == "recipient_domain" else target.id
    if target.kind in CALLED_BY_NAME:
        return _line(target.name or target.id)
    named = target.name not in ("", target.id)
    return f"{target.id} ({_line(target.name)})" if named else target.id


def _line(name: str) -> str:
    return visible(name, limit=NAME_CHARS).replace("\n", " ")


# Under these names any agent that may act is understood, whatever it is shown.
UNDERSTOOD: Mapping[str, Tool[Any]] = {
    execute_action.TOOL.name: replace(execute_action.TOOL, offered=False),
    **{
        action.name: _tool(
            action, description=action.description, offered=False, form=_form(action)
        )
        for action in ACTIONS
    },
}
