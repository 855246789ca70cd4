"""What a condition is: a typed value that looks at one decision's context and says yes or
no. It never asks anybody, and where a fact is missing it says no."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from guardrails.actions.base import AnyAction
from guardrails.contracts import Check, Trigger
from guardrails.decide.provenance import Provenance, Relation
from guardrails.facts import targets
from guardrails.facts.counts import Question, Tally
from guardrails.facts.effects import Effect
from guardrails.facts.exposure import Exposure
from guardrails.facts.facts import Facts, Need
from guardrails.facts.phrases import joined, phrase
from guardrails.facts.targets import Target


@dataclass(frozen=True, kw_only=True)
class Context:
    """What conditions may look at. `arguments` are canonical; `targets` are those of the
    arguments and those that are reached without being named; `sources` is what each value
    comes from and `relations` how each receiver stands to the user, by path; `lists` are the paths
    of receivers that are mailing lists; `strangers` are those of the sender and the receivers
    who are strangers to the user (None: nobody looked); `words` is what the user typed in this
    request; `features` are those an admin ticked; `needs_approval` says that a person would be
    asked, if nothing else refuses."""

    action: AnyAction
    trigger: Trigger
    facts: Facts
    now: datetime
    arguments: Mapping[str, Any] = field(default_factory=dict)
    targets: tuple[Target, ...] = ()
    effects: tuple[Effect, ...] = ()
    sources: Mapping[str, Set[Provenance]] = field(default_factory=dict)
    relations: Mapping[str, frozenset[Relation]] = field(default_factory=dict)
    lists: frozenset[str] = frozenset()
    strangers: frozenset[str] | None = None
    words: str = ""
    features: frozenset[str] = frozenset()
    needs_approval: bool = False

    @property
    def receivers(self) -> tuple[str, ...]:
        """Whom the action reaches, named in its arguments or not."""
        return tuple(target.value for target in self.targets if target.is_receiver)

    @property
    def object_id(self) -> str | None:
        """The id of what the action is done to; None when it is done to nothing."""
        return self.arguments.get(self.action.object_field or "")

    @property
    def own_domain(self) -> str | None:
        """The domain of the account's own address; None when that is not known."""
        own = targets.address_or_none(self.facts.own_address)
        return targets.domain_of(own) if own else None


class Condition(BaseModel, ABC):
    """One condition of an allowed action. All of an allowed action's conditions must hold."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    kind: str
    title: ClassVar[str]  # what it is about, in few words for people
    needs: ClassVar[frozenset[Need]] = frozenset()
    about_receivers: ClassVar[bool] = False

    @property
    @abstractmethod
    def sentence(self) -> str:
        """What must be so, as the end of “only if …”."""

    def evaluate(self, context: Context) -> Check:
        """Whether it holds here. What is about something that this action does not have never
        holds, as the page of contradictions says."""
        if not self.always_holds and (why := self.unfit(context.action)):
            return self.check(False, f"This cannot be judged: {why}.")
        return self.judge(context)

    @abstractmethod
    def judge(self, context: Context) -> Check:
        """Whether it holds for an action that it fits."""

    def needs_for(self, action: AnyAction) -> frozenset[Need]:
        """Which facts it looks at when this action is decided."""
        return self.needs

    def unfit(self, action: AnyAction) -> str:
        """Why it could never hold for this action, in words; empty if it could."""
        if self.about_receivers and "recipient" not in action.takes:
            return "it is about receivers, and this action has none"
        if "email" in self.needs and action.object_kind != "email":
            return "it is about a mail, and this action is not"
        return ""

    def excludes(self, other: "Condition") -> bool:
        """Whether no decision whatever meets both. False in doubt."""
        return False

    def implies(self, other: "Condition") -> bool:
        """Whether every decision that meets this one meets the other. False in doubt."""
        return self == other

    @property
    def always_holds(self) -> bool:
        """Whether it limits nothing."""
        return False

    @property
    def opens(self) -> bool:
        """Whether an allowed action with it permits more than without it. Most conditions only
        narrow; in the ceiling all of them do."""
        return False

    def lets_member_in(self, *, named: bool) -> bool:
        """Whether a member of a project, whom the user named or not, need not be listed to be given
        an issue of it."""
        return False

    @property
    def lets_own_text_out(self) -> bool:
        """Whether what the agent wrote itself may reach others without anybody being asked."""
        return False

    @property
    def lets_plain_text_out(self) -> bool:
        """The same, of text alone, and only as far as it has nothing in it that does harm."""
        return False

    def doubt(self, context: Context) -> str:
        """Why a person is asked although it holds, in words; empty: nobody needs to be."""
        return ""

    @property
    def lets_listed_lists_in(self) -> bool:
        """Whether mailing lists that are listed by their own address may be reached without
        anybody being asked."""
        return False

    def lets_out(self, exposure: Exposure) -> bool:
        """Whether this object may reach others although the user did not name it."""
        return False

    @property
    def lets_own_go(self) -> bool:
        """Whether what is the user's own may be cancelled or put into the trash without anybody
        being asked."""
        return False

    @property
    def people_needed(self) -> int:
        """How many different people have to say yes before anything is done; 0: it says nothing of
        that."""
        return 0

    @property
    def unasked_receivers(self) -> Literal["", "mark", "leave_out"]:
        """What becomes of a draft's receivers about whom nobody was asked; empty: it says nothing
        of that."""
        return ""

    def widened(self, context: Context) -> "Condition | None":
        """The nearest condition of its kind that permits this too, and all that it permits itself.
        None: there is none near it, so that somebody has to change it by hand or leave it."""
        return None

    def check(self, passed: bool, detail: str) -> Check:
        return Check(name=f"condition {self.kind}", passed=passed, detail=detail)


class OpeningCondition(Condition):
    """A condition that also lets receivers in who are not listed, by how they stand to the
    user. In the ceiling it only narrows."""

    relation: Annotated[tuple[Relation, ...], Field(strict=False, min_length=1)]

    def knows(self, relations: Set[Relation]) -> bool:
        """Whether a receiver who stands so to the user stands in one of the relations."""
        return bool(relations & set(self.relation))

    @property
    @abstractmethod
    def who(self) -> str:
        """Whom it knows, in words: “listed or somebody the user has written to”."""

    @abstractmethod
    def admits(self, relations: Set[Relation]) -> bool:
        """Whether such a receiver may be reached, or at least asked about."""


class RateCondition(Condition):
    """A condition about what the account's agent has done lately. It is looked at last, and
    counted in the transaction that decides (`guardrails.gather.usage`)."""

    @property
    @abstractmethod
    def question(self) -> Question: ...

    @abstractmethod
    def in_words(self, tally: Tally) -> str:
        """What was counted and what is permitted: “8 in an hour; 7 are permitted”."""

    def counted(self, context: Context) -> Tally | None:
        return context.facts.counts.of(self.question) if context.facts.counts else None

    def implies(self, other: Condition) -> bool:
        """Of the same thing counted over the same window, less implies more."""
        if not isinstance(other, RateCondition):
            return False
        mine, theirs = self.question, other.question
        return mine.max <= theirs.max and replace(mine, max=theirs.max) == theirs

    def judge(self, context: Context) -> Check:
        tally = self.counted(context)
        if tally is None:
            return self.check(False, "It was not counted.")
        again = f" Possible again {_minute(tally.again)}." if tally.again else ""
        return self.check(tally.within, f"{self.in_words(tally)}.{again}")


def either(words: Iterable[str]) -> str:
    """Alternatives in words: “a, b or c”."""
    *most, last = words
    return phrase("%(most)s or %(last)s", most=joined(most), last=last) if most else last


def every(words: Iterable[str]) -> str:
    """Things that are all meant, in words: “a, b and c”."""
    *most, last = words
    return phrase("%(most)s and %(last)s", most=joined(most), last=last) if most else last


def number_of(number: int, noun: str) -> str:
    """A number of things in words: “1 mail”, “2 mails”."""
    return phrase(f"1 {noun}") if number == 1 else phrase(f"%(number)s {noun}s", number=number)


Bounds = tuple[float | None, float | None]


def in_range(low: float | None, high: float | None, *names: str) -> None:
    """Refuses bounds that say nothing or that nothing is between."""
    if low is None and high is None:
        raise ValueError(f"give {' or '.join(names)}")
    if low is not None and high is not None and low > high:
        raise ValueError(f"{names[0]} is more than {names[1]}")


def bounds(low: str | None, high: str | None) -> str:
    """Bounds in words: “at least 1 and at most 3”."""
    parts = []
    if low is not None:
        parts.append(phrase("at least %(number)s", number=low))
    if high is not None:
        parts.append(phrase("at most %(number)s", number=high))
    return every(parts)


def overlap(one: Bounds, other: Bounds) -> bool:
    """Whether something is between both pairs of bounds; None is no bound."""
    lows = [low for low, _ in (one, other) if low is not None]
    highs = [high for _, high in (one, other) if high is not None]
    return not (lows and highs) or max(lows) <= min(highs)


def within(one: Bounds, other: Bounds) -> bool:
    """Whether all that is between the one is between the other."""
    return (other[0] is None or (one[0] is not None and one[0] >= other[0])) and (
        other[1] is None or (one[1] is not None and one[1] <= other[1])
    )


@dataclass(frozen=True, kw_only=True)
class Unreadable:
    """A stored condition that Remit does not understand. It never holds."""

    raw: Any
    lets_own_text_out: ClassVar[bool] = False
    unasked_receivers: ClassVar[Literal["", "mark", "leave_out"]] = ""
    lets_plain_text_out: ClassVar[bool] = False
    lets_listed_lists_in: ClassVar[bool] = False
    lets_own_go: ClassVar[bool] = False
    people_needed: ClassVar[int] = 0
    sentence: ClassVar[str] = phrase("a condition that cannot be read holds")

    def lets_out(self, exposure: Exposure) -> bool:
        return False

    def lets_member_in(self, *, named: bool) -> bool:
        return False

    def needs_for(self, action: AnyAction) -> frozenset[Need]:
        return frozenset()

    def evaluate(self, context: Context) -> Check:
        return Check(
            name="condition", passed=False, detail="A condition of this allowed action is unknown."
        )

    def model_dump(self, *, mode: str) -> Any:
        return self.raw


def _minute(moment: datetime) -> str:
    """A moment in words, never too early: the next whole minute."""
    rounded = (moment + timedelta(seconds=59, microseconds=999_999)).replace(
        second=0, microsecond=0
    )
    return f"from {rounded:%Y-%m-%d %H:%M %Z}"
