"""What people ask for in an office, as they say it, and the calls that a good agent makes of it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from guardrails.actions.registry import BY_NAME

FOLDER = Path(__file__).with_name("tasks")
Language = Literal["en", "de", "fr", "es"]


class Written(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Task(Written):
    """One request in the user's words. Each of `calls` is an action with its arguments, ids and
    addresses as a model resolves them. `wrong` names arguments that make the first call another one
    than was asked for: it must not be done without a question. `given` are objects that are put
    into the office beside its own, by collection."""

    id: str
    say: str
    calls: Annotated[list[dict[str, dict[str, Any]]], Field(min_length=1)]
    lang: Language = "en"
    wrong: dict[str, dict[str, Any]] = Field(default_factory=dict)
    given: dict[str, list[dict[str, Any]]] = Field(default_factory=dict)
    kind: str = ""

    @property
    def acts(self) -> list[tuple[str, Mapping[str, Any]]]:
        return [next(iter(call.items())) for call in self.calls]


class Office(Written):
    """The office as `office.yaml` has it."""

    clock: datetime
    zone: str
    domain: str
    user: str
    people: dict[str, str]
    members: dict[str, list[str]]
    emails: list[dict[str, Any]]
    drafts: list[dict[str, Any]]
    events: list[dict[str, Any]]
    documents: list[dict[str, Any]]
    issues: list[dict[str, Any]]


@cache
def read_office() -> Office:
    return Office.model_validate(_read(Path(__file__).with_name("office.yaml")))


@cache
def read_tasks() -> Sequence[Task]:
    """All tasks, by file and place in it. Raises ValueError for one that cannot be meant so."""
    found: list[Task] = []
    for path in sorted(FOLDER.glob("*.yaml")):
        tasks = TypeAdapter(list[Task]).validate_python(_read(path))
        found += [one.model_copy(update={"kind": path.stem}) for one in tasks]
    known: set[str] = set()
    for task in found:
        if task.id in known or any(name not in BY_NAME for name, _ in task.acts):
            raise ValueError(f"{task.id}: a second one of this name, or an unknown action")
        known.add(task.id)
    return tuple(found)


def _read(path: Path) -> Any:
    # The loader in C takes a tenth of the time.
    return _plain(yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))


def _plain(value: Any) -> Any:
    """YAML's times as the contract writes them."""
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value.isoformat() if hasattr(value, "isoformat") else value
