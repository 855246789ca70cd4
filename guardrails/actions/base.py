"""What an action declares. Each is one file in this package and one line in
`guardrails.actions.registry`. Pure: readers and writers are given."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError

from audit.contracts import Artifact
from guardrails.facts.classes import ArgumentClass, classes
from guardrails.facts.effects import Effect
from guardrails.facts.exposure import Exposure, Unasked
from guardrails.facts.facts import Facts, Need, ObjectKind
from guardrails.facts.phrases import phrase
from guardrails.facts.targets import Target, TargetKind, place_of
from guardrails.facts.text import visible
from integrations.contracts import Kind
from integrations.ports.account import Writer
from integrations.ports.registry import BY_SOURCE


class Arguments(BaseModel):
    """The closed schema of an action's arguments. What validates is canonical: the values
    that are decided are the values that are executed."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    def canonical(self) -> dict[str, Any]:
        """The arguments as JSON values: what is decided, stored, shown and executed."""
        # What `model_dump` does, without its wrapper; so does `Action.parse`.
        found: dict[str, Any] = self.__pydantic_serializer__.to_python(self, mode="json")
        return found


class InvalidArguments(ValueError):
    """The arguments do not fit the action's schema. The message names what is wrong, and
    repeats none of the values."""


A = TypeVar("A", bound=Arguments)
W = TypeVar("W", bound=Writer)
Outcome = tuple[dict[str, Any], tuple[Artifact, ...]]
Difference = tuple[str, str, str]  # what, before, after
NOTHING = phrase("(nothing)")


@dataclass(frozen=True, kw_only=True)
class Call:
    """What was decided beside the arguments: the idempotency key, the labels to take off, the
    revision of the object that the decision saw (None: there is none to keep to), and about whom
    of a draft's receivers nobody was asked."""

    key: str
    removals: Sequence[str] = ()
    revision: str | None = None
    unasked: Unasked | None = None


@dataclass(frozen=True, kw_only=True)
class Inverse:
    """The action that takes another one back. `from_result` names arguments that only the
    outcome tells, by their key there."""

    action_type: str
    arguments: Mapping[str, Any]
    from_result: Mapping[str, str] = field(default_factory=dict)


class Action(ABC, Generic[A, W]):
    """One type of action, on accounts of one kind (of any kind: what Remit does for itself), no
    matter who keeps them.

    `operation` is the method of its kind's writer that `perform` calls.
    `object_field` names the argument that holds the object acted on or answered, and
    `object_kind` says what that is; `takes` are the kinds of targets an operator lists for it,
    and `needs_targets` says that without any listed target the action can do nothing.
    `from_mail` says that what arrived, a mail or another item, may set it off; others are for
    people's requests alone.
    `can_be_drafted` says that the agent can write a draft of it instead.
    `exposes_object` says that others get to see the object's own text by it, and `role_field`
    names the argument that says what they may do with it. `only_undoes`
    says that it is for a person's command to undo alone, and `withdraws` that Remit itself may
    command it. `is_upkeep` says that it is for Remit itself alone, at its own times, and
    `ends_upkeep` that it is done to a paused account, too. `tells` says that its result is text
    that strangers wrote, and `sends_mail` that the provider counts its receivers among those whom
    the user wrote to. `puts_away` says that a mail goes out of its owner's sight, and
    `chooses_for_thread` that a target of a single-choice group is the whole thread's.
    `formerly_needed` are arguments without which a version before this one refused it: rows of the
    ledger from then are decided again as they were.
    """

    name: ClassVar[str]
    operation: ClassVar[str]
    kind: ClassVar[Kind | Literal["any"]]
    resource_type: ClassVar[str]
    title: ClassVar[str]
    description: ClassVar[str]
    needs: ClassVar[frozenset[Need]]
    takes: ClassVar[tuple[TargetKind, ...]] = ()
    needs_targets: ClassVar[bool] = False
    object_kind: ClassVar[ObjectKind | None] = None
    object_field: ClassVar[str | None] = None
    from_mail: ClassVar[bool] = False
    in_patterns: ClassVar[bool] = False
    can_be_drafted: ClassVar[bool] = False
    exposes_object: ClassVar[bool] = False
    role_field: ClassVar[str | None] = None
    is_draft: ClassVar[bool] = False
    only_undoes: ClassVar[bool] = False
    withdraws: ClassVar[bool] = False
    is_upkeep: ClassVar[bool] = False
    ends_upkeep: ClassVar[bool] = False
    tells: ClassVar[bool] = False
    sends_mail: ClassVar[bool] = False
    puts_away: ClassVar[bool] = False
    chooses_for_thread: ClassVar[bool] = False
    formerly_needed: ClassVar[tuple[str, ...]] = ()
    arguments: type[A]

    def parse(self, arguments: Mapping[str, Any]) -> A:
        """The canonical arguments. Raises InvalidArguments."""
        try:
            parsed: A = self.arguments.__pydantic_validator__.validate_python(arguments)
        except ValidationError as error:
            problems = error.errors(include_input=False, include_url=False)[:5]
            raise InvalidArguments("; ".join(map(_problem, problems))) from error
        return parsed

    def works_on(self, source: str) -> bool:
        """Whether an account of this source can carry the action out: it is of the action's
        kind, and can be written to."""
        found = BY_SOURCE.get(source)
        return found is not None and found.is_writable and found.kind == self.kind

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema of the arguments."""
        return self.arguments.model_json_schema()

    @cached_property
    def classes(self) -> Mapping[str, ArgumentClass | None]:
        """What each argument is; None for one that nobody has classified."""
        return classes(self.arguments)

    @cached_property
    def unclassified(self) -> str:
        """The first argument that nobody has classified, in quotation marks; empty: none."""
        return next((f"“{name}”" for name, one in self.classes.items() if one is None), "")

    def class_at(self, path: str) -> ArgumentClass | None:
        """The class of the argument that this path (`to[0]`) lies in."""
        whole = self.classes.get(path)
        return whole or self.classes.get(path.partition("[")[0].partition(".")[0])

    def targets(self, arguments: A) -> tuple[Target, ...]:
        """Every argument that decides where the action goes. Nothing else may decide it."""
        return ()

    def implied(self, arguments: A, facts: Facts) -> tuple[Target, ...] | None:
        """Whom and what the action reaches without an argument saying so: attendees of the
        event, readers of the document or folder. They must be listed like any other target.
        None when the facts do not tell; then the action is refused."""
        return ()

    def exposes(self, arguments: A, facts: Facts) -> tuple[Exposure, ...]:
        """What others get to see by it, and who does, by facts. How each object was named and who
        wrote it is filled in by `guardrails.decide.checks.exposing`. Empty: nothing but the
        arguments themselves, which are judged by their receivers and their own words."""
        return ()

    def attached(self, arguments: A) -> tuple[str, ...]:
        """Documents of the user's own drive that go along, by id."""
        return ()

    def names(self, arguments: A, facts: Facts) -> tuple[str, ...]:
        """The paths of names within the arguments that no schema names: text that somebody made
        up, like a value."""
        return ()

    def unfit(self, arguments: A, facts: Facts) -> tuple[str, str] | None:
        """Why the object as it is now cannot be given these arguments: a reason of
        `guardrails.facts.reasons` and what it is about. None: it can."""
        return None

    @abstractmethod
    def effects(self, arguments: A, facts: Facts) -> tuple[Effect, ...]:
        """What this does beyond the account's own eyes, by arguments and facts. Empty:
        private, seen by nobody else and undoable."""

    def undo(self, arguments: A, facts: Facts) -> str:
        """How a person takes it back, with the values that were there before. Empty: not."""
        return ""

    def inverse(self, arguments: A, facts: Facts, removals: Sequence[str]) -> Inverse | None:
        """The action that takes it back, with the values that were there before. None: there
        is none."""
        return None

    def inverse_of(self, answer: Mapping[str, Any]) -> tuple[str, Inverse] | None:
        """The same where only the provider's answer tells whether there is one: how a person takes
        it back, and the action that does."""
        return None

    def is_as_left(self, arguments: A, facts: Facts) -> bool:
        """For undoing, where the object's revision does not tell: whether what is to be put
        back is still as the undone action left it."""
        return True

    @property
    def numbers(self) -> tuple[str, ...]:
        """The arguments that are numbers, present or not."""
        return tuple(
            name
            for name, field in self.arguments.model_fields.items()
            if {int, float} & {field.annotation, *get_args(field.annotation)}
        )

    @property
    def lists(self) -> tuple[str, ...]:
        """The arguments that are lists, present or not."""
        return tuple(
            name
            for name, field in self.arguments.model_fields.items()
            if any(get_origin(one) is tuple for one in parts(field.annotation))
        )

    @property
    def texts(self) -> tuple[str, ...]:
        """The arguments that are text to read: no ids, addresses, times or closed choices."""
        return tuple(name for name, one in self.classes.items() if one == "text")

    def differences(
        self, arguments: A, facts: Facts, removals: Sequence[str]
    ) -> tuple[Difference, ...]:
        """What is at the provider now and what would be, where the action changes something
        that is there. Empty: it only adds."""
        return ()

    def others_changed(
        self, arguments: A, facts: Facts, removals: Sequence[str]
    ) -> tuple[str, ...]:
        """The ids of other objects that it changes in the same step."""
        return ()

    def object_id(self, arguments: A) -> str | None:
        return getattr(arguments, self.object_field) if self.object_field else None

    @abstractmethod
    def describe(self, arguments: A, facts: Facts) -> str:
        """One line for people: what would be done and to whom, in Remit's own words and addresses,
        ids and names that an operator listed; then, in quotation marks, what somebody called it
        (`guardrails.facts.text.quote`)."""

    def already_so(self, arguments: A, facts: Facts, removals: Sequence[str]) -> bool:
        """Whether the provider is already as the action would leave it."""
        return False

    @abstractmethod
    def perform(self, writer: W, arguments: A, call: Call) -> dict[str, Any]:
        """The one provider call, under the call's idempotency key. Raises ProviderError."""

    def outcome(self, arguments: A, answer: Mapping[str, Any]) -> Outcome:
        """The result to show and the artifacts, from the provider's answer or its record of
        the operation. Never raises: what the provider left out is left out. Unless an action
        says otherwise, it is the object it acted on."""
        return {self.object_field: self.object_id(arguments)} if self.object_field else {}, ()


AnyAction: TypeAlias = Action[Any, Any]


def parts(annotation: Any) -> Iterator[Any]:
    """An annotation and all it is made of."""
    yield annotation
    for one in get_args(annotation):
        yield from parts(one)


def _problem(details: Any) -> str:
    names = (str(one) for one in details["loc"] if not isinstance(one, int))
    place = visible(place_of(".".join(names)), limit=80)
    return f"{place}: {details['msg'].removeprefix('Value error, ')}"


def in_words(value: object) -> str:
    """A value of an object as people read it in a difference."""
    many = isinstance(value, list | tuple)
    return (", ".join(map(str, value)) if many else str(value or "")) or NOTHING  # type: ignore[call-overload]


def artifact(kind: str, answer: Mapping[str, Any]) -> tuple[Artifact, ...]:
    """What came of it, if the provider named it. Whose it is, is the attempt's to say."""
    external_id = answer.get("key") or answer.get("id")
    if not external_id:
        return ()
    url = str(answer.get("url") or "")
    return (Artifact(kind=kind, provider="", external_id=str(external_id), url=url),)
