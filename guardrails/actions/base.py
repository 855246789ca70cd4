"""What an action declares. Each is one file in this package and one line in
`guardrails.registry`. Pure: readers and writers are given."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from audit.contracts import Artifact
from guardrails.facts import Facts, Need
from guardrails.targets import Target, TargetKind
from guardrails.text import visible
from integrations.contracts import Source
from integrations.ports import Writer

# private: seen by nobody else and undoable; concealing: hides something from its owner;
# egress: reaches other people, whatever it is called.
Effect = Literal["private", "concealing", "egress"]
SUBJECT_SHOWN = 120


class Arguments(BaseModel):
    """The closed schema of an action's arguments. What validates is canonical: the values
    that are decided are the values that are executed."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


A = TypeVar("A", bound=Arguments)
Outcome = tuple[dict[str, Any], tuple[Artifact, ...]]


class Action(ABC, Generic[A]):
    """One type of action.

    `object_field` names the argument that holds the mail acted on or answered; `takes` are
    the kinds of targets an operator lists for it, and `needs_option` says that without any
    listed target the action can do nothing.
    """

    name: ClassVar[str]
    source: ClassVar[Source]
    resource_type: ClassVar[str]
    title: ClassVar[str]
    description: ClassVar[str]
    effect: ClassVar[Effect]
    needs: ClassVar[frozenset[Need]]
    takes: ClassVar[tuple[TargetKind, ...]] = ()
    needs_option: ClassVar[bool] = False
    object_field: ClassVar[str | None] = None
    in_patterns: ClassVar[bool] = False
    arguments: type[A]

    def targets(self, arguments: A) -> tuple[Target, ...]:
        """Every value that decides where the action goes. Nothing else may decide it."""
        return ()

    def object_id(self, arguments: A) -> str | None:
        return getattr(arguments, self.object_field) if self.object_field else None

    @abstractmethod
    def describe(self, arguments: A, facts: Facts) -> str:
        """One line for people: what would be done."""

    def already_so(self, arguments: A, facts: Facts, removals: Sequence[str]) -> bool:
        """Whether the provider is already as the action would leave it."""
        return False

    @abstractmethod
    def perform(
        self, writer: Writer, arguments: A, removals: Sequence[str], key: str
    ) -> dict[str, Any]:
        """The one provider call, under this idempotency key. Raises ProviderError."""

    @abstractmethod
    def outcome(self, arguments: A, answer: Mapping[str, Any]) -> Outcome:
        """The result to show and the artifacts, from the provider's answer or its record of
        the operation. Never raises: what the provider left out is left out."""


def subject_of(facts: Facts) -> str:
    """The subject of the mail at hand, safe to show and cut to size."""
    subject = facts.email.subject if facts.email else ""
    return visible(" ".join(subject.split()), limit=SUBJECT_SHOWN) or "(no subject)"


def artifact(kind: str, provider: Source, answer: Mapping[str, Any]) -> tuple[Artifact, ...]:
    """What came forth, if the provider named it."""
    external_id = answer.get("key") or answer.get("id")
    if not external_id:
        return ()
    url = str(answer.get("url") or "")
    return (Artifact(kind=kind, provider=provider, external_id=str(external_id), url=url),)
