"""What a condition is: a typed value that looks at one decision's context and says yes or
no. It never asks anybody, and where a fact is missing it says no."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from guardrails.contracts import Check, Trigger
from guardrails.counts import Question, Tally
from guardrails.facts import Facts, Need


@dataclass(frozen=True, kw_only=True)
class Context:
    """What conditions may look at. `receivers` are canonical addresses: to, cc and bcc.
    `asks` says that a person would be asked, if nothing else refuses."""

    receivers: tuple[str, ...]
    trigger: Trigger
    facts: Facts
    now: datetime
    asks: bool = False


class Condition(BaseModel, ABC):
    """One condition of a permission. All of a permission's conditions must hold."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    kind: str
    title: ClassVar[str]  # what it is about, in few words for people
    needs: ClassVar[frozenset[Need]] = frozenset()
    about_receivers: ClassVar[bool] = False

    @abstractmethod
    def evaluate(self, context: Context) -> Check: ...

    def check(self, passed: bool, detail: str) -> Check:
        return Check(name=f"condition {self.kind}", passed=passed, detail=detail)


class RateCondition(Condition):
    """A condition about what the account's agent has done lately. It is looked at last, and
    counted in the transaction that decides (`guardrails.usage`)."""

    @property
    @abstractmethod
    def question(self) -> Question: ...

    @abstractmethod
    def in_words(self, tally: Tally) -> str:
        """What was counted and what is permitted: “8 in an hour; 7 are permitted”."""

    def counted(self, context: Context) -> Tally | None:
        return context.facts.counts.of(self.question) if context.facts.counts else None

    def evaluate(self, context: Context) -> Check:
        tally = self.counted(context)
        if tally is None:
            return self.check(False, "It was not counted.")
        again = f" Possible again {_minute(tally.again)}." if tally.again else ""
        return self.check(tally.within, f"{self.in_words(tally)}.{again}")


@dataclass(frozen=True, kw_only=True)
class Unreadable:
    """A stored condition that Remit does not understand. It never holds."""

    raw: Any
    needs: ClassVar[frozenset[Need]] = frozenset()

    def evaluate(self, context: Context) -> Check:
        return Check(
            name="condition", passed=False, detail="A condition of this permission is unknown."
        )

    def model_dump(self, *, mode: str) -> Any:
        return self.raw


def _minute(moment: datetime) -> str:
    """A moment in words, never too early: the next whole minute."""
    rounded = (moment + timedelta(seconds=59, microseconds=999_999)).replace(
        second=0, microsecond=0
    )
    return f"from {rounded:%Y-%m-%d %H:%M %Z}"
