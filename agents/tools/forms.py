"""The form of what a model proposes: what is meant is understood, what is not is explained.

Nothing is decided here. What this makes of arguments is what the guardrails are given, and what
they record. The model hears of a mistake of form, which reaches neither them nor the ledger.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from difflib import get_close_matches
from itertools import zip_longest
from typing import Any

from pydantic import BaseModel, ValidationError

from agents.context import clock, schemas
from agents.contracts import Person, ToolResult, failure
from guardrails.actions.base import AnyAction, InvalidArguments
from guardrails.actions.registry import BY_NAME
from guardrails.contracts import Capability
from guardrails.facts.text import visible
from integrations.network import strict_json
from knowledge.search import retrieval

SHOWN_PROBLEMS = 5
SHOWN_SCHEMA = 600  # characters
# Targets that have an id beside their name. Of people only the address counts.
NAMED_KINDS = frozenset({"label", "folder", "project", "status", "tool"})
# Lists whose values are addresses; of others there are values.
OF_ADDRESSES = frozenset({"to", "cc", "bcc", "attendees", "people"})
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
# pydantic's type of what one of Remit's own checks refused, a disguised address for one: that is
# no slip, and it is for the guardrails to refuse and to record.
CHECKED = "value_error"


def load_json(value: object) -> object:
    """The object or list that a text holds as JSON; anything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return strict_json.load(value)
        except ValueError:
            return value
    return value


def loosen(given: Mapping[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """Arguments with a single value put into a list, and JSON in a text read, where the model
    takes a list or an object."""
    loose = dict(given)
    for name, schema in _properties(model).items():
        takes = _types(schema)
        value = loose.get(name)
        if name not in loose or value is None or "string" in takes:
            continue
        if takes & {"array", "object"}:
            value = load_json(value)
        if "array" in takes and isinstance(value, str | int | float):
            value = [value] if value != "" else []
        loose[name] = value
    return loose


def explain(error: ValidationError, model: type[BaseModel]) -> ToolResult:
    """What is wrong with arguments, what was maybe meant, and what each would take."""
    known = _properties(model)
    problems, wanted = [], {}
    for one in error.errors(include_url=False, include_input=False)[:SHOWN_PROBLEMS]:
        said = one["msg"].removeprefix("Value error, ").replace("tuple", "list")
        said = said.replace("Tuple", "List")
        name = str(one["loc"][0]) if one["loc"] else ""
        if one["type"] == "extra_forbidden":
            said = f"There is no such argument.{suggest(name, known)}"
        if name in known:
            wanted[name] = known[name]
        problems.append(f"{visible(_place(one['loc']), limit=120)}: {said}")
    schema = json.dumps(wanted, ensure_ascii=False, separators=(",", ":"))
    takes = f" They take {schema}." if wanted and len(schema) <= SHOWN_SCHEMA else ""
    names = "" if wanted else f" The arguments are {', '.join(known)}."
    return failure(
        "INVALID_INPUT",
        "; ".join(problems),
        recoverable=True,
        suggested_action=f"Correct the arguments and call it again.{takes}{names}",
    )


def _place(path: Sequence[int | str]) -> str:
    """Where a value stands, in words: “the first address of `to`”."""
    said = ""
    for name, below in zip_longest(path, path[1:]):
        if isinstance(name, int):
            continue
        here = f"`{name}`"
        if isinstance(below, int):
            which = ORDINALS[below] if below < len(ORDINALS) else f"{below + 1}th"
            here = f"the {which} {'address' if name in OF_ADDRESSES else 'value'} of {here}"
        said = f"{here} in {said}" if said else here
    return said or "the arguments"


def suggest(name: str, known: Iterable[str]) -> str:
    """“Did you mean …?” with the names that are nearest; empty where none is near."""
    near = get_close_matches(name, list(known), n=3, cutoff=0.5)
    return f" Did you mean {' or '.join(near)}?" if near else ""


def complete(
    person: Person,
    action_type: str,
    params: Mapping[str, Any],
    *,
    capabilities: Sequence[Capability],
    mail_id: str = "",
) -> Mapping[str, Any] | ToolResult:
    """The arguments of an action as they are meant, or the result that says what is wrong with
    their form. Those of an action that nobody knows stay as they are.

    A listed target (of the `capabilities`) may be called by its name, an item by the id that
    Remit gave it, and a time without a zone is the user's. The mail at hand (`mail_id`, as its
    provider calls it) is not looked up.
    """
    action = BY_NAME.get(action_type)
    if action is None:
        return params
    given = loosen(params, action.arguments)
    named = NAMED_KINDS.intersection(action.takes)
    names = _ids_by_name(capabilities, action) if named else {}
    for name, kind in action.classes.items():
        value = given.get(name)
        if kind == "target":
            given[name] = _named(value, names)
        elif kind == "time" and isinstance(value, str):
            given[name] = _in_zone(value, person.time_zone)
        elif kind == "object" and isinstance(value, str) and value != mail_id:
            given[name] = _provider_id(value, person)
        if name not in params and given.get(name) is None:
            given.pop(name, None)
    try:
        action.parse(given)
    except InvalidArguments as error:
        cause = error.__cause__
        if isinstance(cause, ValidationError) and not any(
            one["type"] == CHECKED for one in cause.errors()
        ):
            return explain(cause, action.arguments)
    return given


def _ids_by_name(capabilities: Sequence[Capability], action: AnyAction) -> Mapping[str, str]:
    """The listed targets of an action by their names, as far as a name is one's alone and nobody's
    id."""
    listed = [
        target
        for capability in capabilities
        if capability.action_type == action.name
        for target in capability.targets
        if target.kind in NAMED_KINDS
    ]
    ids = {target.id for target in listed}
    found: dict[str, str] = {}
    for name in {target.name.casefold().strip() for target in listed}:
        owners = {target.id for target in listed if target.name.casefold().strip() == name}
        if len(owners) == 1 and name not in ids:
            found[name] = owners.pop()
    return found


def _named(value: Any, ids: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return ids.get(value.casefold().strip(), value)
    return [_named(one, ids) for one in value] if isinstance(value, list) else value


def _in_zone(text: str, zone: str) -> str:
    try:
        return clock.aware(datetime.fromisoformat(text), zone).isoformat()
    except ValueError:
        return text


def _provider_id(text: str, person: Person) -> str:
    """What actions call the item that is called so in results; unknown names stay as they are."""
    accounts = [one.id for one in person.accounts]
    found = retrieval.find_items([text], account_ids=accounts, chars=0).get(text)
    return found.object_id if found else text


def _properties(model: type[BaseModel]) -> Mapping[str, Any]:
    properties: Mapping[str, Any] = schemas.describe_arguments(model).get("properties", {})
    return properties


def _types(schema: Mapping[str, Any]) -> set[str]:
    """The JSON types that a schema takes, one level deep."""
    return {str(one.get("type", "")) for one in [schema, *schema.get("anyOf", ())]}
