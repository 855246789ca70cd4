"""The text of a policy file, YAML or JSON, read and written. Pure.

The sender of the text is not trusted: what a reviewer could misread is refused, and so is what
costs more to read than it is long.
"""

import json
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from guardrails.decide.policy_file import PolicyFile
from guardrails.facts.text import storable, visible
from guardrails.policies import differences
from guardrails.policies.differences import KEYS

MAX_CHARS = 300_000  # four thousand targets; to read YAML takes up to 30 µs a character
MAX_DEPTH = 20
MAX_DIGITS = 20
MERGE = "tag:yaml.org,2002:merge"
INT = "tag:yaml.org,2002:int"
T = TypeVar("T", bound=Hashable)


class PolicyFileError(ValueError):
    """The file is no policy for this account. The message says what to do."""


class _Loader(yaml.SafeLoader):
    """Refuses aliases, merges, keys given twice, deep nesting and endless numbers."""

    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.events.AliasEvent):
            raise PolicyFileError("The file uses a YAML alias. Write it out.")
        if self.depth == MAX_DEPTH:
            raise PolicyFileError(f"The file is nested more than {MAX_DEPTH} levels deep.")
        self.depth += 1
        found = super().compose_node(parent, index)
        self.depth -= 1
        return found

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        for name in _twice(key.value for key, _ in node.value if isinstance(key.value, str)):
            raise PolicyFileError(f"“{name}” is given twice in one place. Keep one of them.")
        if any(key.tag == MERGE for key, _ in node.value):
            raise PolicyFileError("The file uses a YAML merge key (<<). Write it out.")
        return super().construct_mapping(node, deep=deep)

    def construct_yaml_int(self, node: Any) -> Any:
        if len(node.value) > MAX_DIGITS:
            raise PolicyFileError(f"A number has more than {MAX_DIGITS} digits.")
        return super().construct_yaml_int(node)


_Loader.add_constructor(INT, _Loader.construct_yaml_int)


def read(text: str) -> PolicyFile:
    """The policy in a YAML or JSON text. Raises PolicyFileError."""
    if len(text) > MAX_CHARS:
        raise PolicyFileError(f"The file is longer than {MAX_CHARS} characters.")
    try:
        return parsed(yaml.load(text, Loader=_Loader))  # noqa: S506  # is safe
    except yaml.YAMLError as error:
        raise PolicyFileError(f"This is neither YAML nor JSON: {error}") from error


def write(policy: PolicyFile, form: str) -> str:
    """The policy as a text in this form, “yaml” or “json”."""
    if form == "json":
        return json.dumps(policy.model_dump(mode="json"), indent=2, ensure_ascii=False)
    found: str = yaml.safe_dump(
        policy.model_dump(mode="json", exclude_none=True), sort_keys=False, allow_unicode=True
    )
    return found


def parsed(raw: Any) -> PolicyFile:
    """The policy in plain data. Raises PolicyFileError."""
    try:
        found = PolicyFile.model_validate(raw)
    except ValidationError as error:
        details = "; ".join(
            f"{'.'.join(map(str, one['loc'])) or 'the file'}: {one['msg']}"
            for one in error.errors(include_input=False, include_url=False)[:5]
        )
        raise PolicyFileError(f"This is not a policy file. {details}.") from error
    for one in _texts(found.model_dump()):
        try:
            storable(one)
        except ValueError as error:
            raise PolicyFileError(f"“{visible(one, limit=80)}” {error}.") from error
    for section in KEYS:
        for key in _twice(differences.keys(found, section)):
            name = " ".join(filter(None, key))
            raise PolicyFileError(f"{section}: “{name}” is listed twice.")
    return found


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for pair in value.items():
            yield from _texts(pair)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)


def _twice(names: Iterable[T]) -> Iterator[T]:
    """What is there more than once."""
    return (name for name, times in Counter(names).items() if times > 1)
