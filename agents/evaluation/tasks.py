"""Tasks as they are written: what a user wants, and everything that must come of it. Pure."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from guardrails.actions.registry import BY_NAME
from guardrails.decide.policy_file import PolicyFile

SUITES = Path(__file__).with_name("suites")
POLICY = "office"  # of a task that names no other; a suite has it
Kind = Literal["mail", "calendar", "documents", "issues", "several"]
Language = Literal["en", "de", "fr", "es"]
Trap = Literal[
    "two_people",
    "conflict",
    "changed_thread",
    "poisoned",
    "outside_remit",
    "failing_tool",
    "rejected",
]
Collection = Literal["emails", "drafts", "documents", "events", "issues"]
Name = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
ObjectPath = Annotated[str, Field(pattern=r"^(emails|drafts|documents|events|issues)/\S+$")]
Fields = dict[str, Any]
# One answer of the reference model: its last word, or tools by name with their arguments.
Step = str | dict[str, Fields] | list[dict[str, Fields]]


class InvalidSuite(ValueError):
    """A suite that cannot be played. The message names file, task and field."""


class Written(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Change(Written):
    """One change of the sandbox that must come about. Exactly one of the first three is given."""

    create: Collection | None = None
    change: ObjectPath | None = None
    delete: ObjectPath | None = None
    fields: Fields = Field(default_factory=dict, alias="with")
    user: str = ""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(value is not None for value in (self.create, self.change, self.delete)) != 1:
            raise ValueError("give one of create, change and delete")
        if (self.delete is None) is not bool(self.fields):
            raise ValueError("with: say what is created or changed, and nothing of what is deleted")
        return self


class Elsewhere(Written):
    """Something that others do meanwhile: put objects in, change one, or remove one."""

    put: dict[Collection, list[Fields]] = Field(default_factory=dict)
    change: ObjectPath | None = None
    fields: Fields = Field(default_factory=dict, alias="with")
    delete: ObjectPath | None = None


class Turn(Written):
    """One thing that happens: the user says something, or something happens elsewhere. `faults`
    are those of the sandbox's control API, from then on."""

    say: str = Field(default="", max_length=20_000)
    elsewhere: Elsewhere | None = None
    faults: Fields | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not (self.say.strip() or self.elsewhere or self.faults is not None):
            raise ValueError("give say, elsewhere or faults")
        return self


class Answer(Written):
    """What the user answers a question in which `when` (a regular expression) is found."""

    say: str = Field(min_length=1)
    when: str = ""


class Decision(Written):
    """What the user decides about a proposed action. The first that fits counts."""

    do: Literal["approve", "reject", "change"]
    action: str = ""
    where: Fields = Field(default_factory=dict)
    params: Fields = Field(default_factory=dict)

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.action and self.action not in BY_NAME:
            raise ValueError(f"there is no action “{self.action}”")
        if (self.do == "change") is not bool(self.params):
            raise ValueError("params: only for change, which needs them")
        return self


class LedgerEntry(Written):
    """Actions as the ledger's last row of each has them."""

    action: str
    status: Literal["succeeded", "noop", "failed", "blocked", "waiting", "denied", "unknown"]
    reason: str = ""
    times: int = Field(default=1, ge=0, le=50)


class Said(Written):
    """What the answers must say, all of them together. Upper and lower case are the same."""

    contains: list[str] = Field(default_factory=list)
    one_of: list[list[str]] = Field(default_factory=list)
    excludes: list[str] = Field(default_factory=list)
    matches: list[str] = Field(default_factory=list)
    numbers: list[float] = Field(default_factory=list)


class Budget(Written):
    """The most that a task may take."""

    calls: int = Field(default=20, ge=0)
    prompt_tokens: int = Field(default=200_000, ge=0)
    approvals: int = Field(default=10, ge=0)


class Task(Written):
    """One task. What neither `changes` nor `permits` names must stay as it is; what `permits` names
    may come about or not. The ledger is only compared where `ledger` is given."""

    id: Name
    kind: Kind
    language: Language = "en"
    trap: Trap | None = None
    about: str = ""
    user: str = "maya"
    clock: datetime | None = None
    policy: str = POLICY
    seed: dict[Collection, list[Fields]] = Field(default_factory=dict)
    say: str = ""
    turns: list[Turn] = Field(default_factory=list)
    answers: list[Answer] = Field(default_factory=list)
    decisions: list[Decision] = Field(default_factory=list)
    changes: list[Change] = Field(default_factory=list)
    permits: list[Change] = Field(default_factory=list)
    ledger: list[LedgerEntry] | None = None
    cites: list[str] = Field(default_factory=list)
    answer: Said = Said()
    question: bool | None = None
    budget: Budget = Budget()
    play: list[Step] = Field(default_factory=list)
    wrong: dict[str, list[Step]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if bool(self.say) is bool(self.turns):
            raise ValueError("give say or turns")
        if self.clock and self.clock.tzinfo is None:
            raise ValueError("clock: name the time zone")
        return self

    @property
    def script(self) -> Sequence[Turn]:
        return self.turns or [Turn(say=self.say)]

    @property
    def needed(self) -> int:
        """How many approvals are needed: those that the user is written to decide about."""
        return len(self.decisions)


class User(Written):
    id: str
    name: str
    address: str
    sources: list[str]
    time_zone: str = "Europe/Stockholm"


class Head(Written):
    """What all tasks of a suite share. `policies` are policy files by name, user and source."""

    clock: datetime
    users: list[User]
    policies: dict[str, dict[str, dict[str, PolicyFile]]]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if POLICY not in self.policies:
            raise ValueError(f"policies: name one “{POLICY}”")
        if self.clock.tzinfo is None:
            raise ValueError("clock: name the time zone")
        return self


class Suite(Written):
    name: str
    head: Head
    tasks: list[Task]

    def task(self, id: str) -> Task:
        """Raises KeyError."""
        return next(task for task in self.tasks if task.id == id)


def load(name: str) -> Suite:
    """A suite that comes with Remit, by name, or one in a folder of somebody's own. Raises
    InvalidSuite."""
    folder = SUITES / name if (SUITES / name).is_dir() else Path(name)
    if not (folder / "suite.yaml").is_file():
        known = ", ".join(sorted(path.name for path in SUITES.iterdir() if path.is_dir()))
        raise InvalidSuite(f"There is no suite “{name}”. There is: {known}; or name a folder.")
    head = _validated(Head, _parsed(folder / "suite.yaml"), "suite.yaml")
    tasks: dict[str, Task] = {}
    for file in sorted(folder.glob("*.yaml")):
        if file.name == "suite.yaml":
            continue
        written = _parsed(file)
        if not isinstance(written, list):
            raise InvalidSuite(f"{file.name}: give a list of tasks.")
        for number, fields in enumerate(written, start=1):
            id = fields.get("id") if isinstance(fields, dict) else None
            where = f"{file.name}, task {id or number}"
            task = _validated(Task, fields, where)
            if task.id in tasks:
                raise InvalidSuite(f"{where}: there are two tasks of this id.")
            _check(task, head, where)
            tasks[task.id] = task
    return Suite(name=folder.name, head=head, tasks=list(tasks.values()))


def _check(task: Task, head: Head, where: str) -> None:
    if task.user not in {user.id for user in head.users}:
        raise InvalidSuite(f"{where}, user: the suite has no user “{task.user}”.")
    if task.policy not in head.policies:
        raise InvalidSuite(f"{where}, policy: the suite has no policy “{task.policy}”.")


def _parsed(file: Path) -> Any:
    try:
        return yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InvalidSuite(f"{file.name}: {error}") from error


def _validated(model: Any, fields: Any, where: str) -> Any:
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        problems = [
            f"{'.'.join(map(str, one['loc'])) or 'all of it'}: "
            f"{one['msg'].removeprefix('Value error, ')}"
            for one in error.errors(include_url=False, include_input=False)[:3]
        ]
        raise InvalidSuite(f"{where}, {'; '.join(problems)}.") from error
