"""What a condition is: a typed value that looks at one decision's context and says yes or
no. It never asks anybody, and where a fact is missing it says no."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from guardrails.contracts import Check, Trigger
from guardrails.facts import Facts, Need


@dataclass(frozen=True, kw_only=True)
class Context:
    """What conditions may look at. `receivers` are canonical addresses: to, cc and bcc."""

    receivers: tuple[str, ...]
    trigger: Trigger
    facts: Facts
    now: datetime


class Condition(BaseModel, ABC):
    """One condition of a permission. All of a permission's conditions must hold."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    kind: str
    needs: ClassVar[frozenset[Need]] = frozenset()
    about_receivers: ClassVar[bool] = False

    @abstractmethod
    def evaluate(self, context: Context) -> Check: ...

    def check(self, passed: bool, detail: str) -> Check:
        return Check(name=f"condition {self.kind}", passed=passed, detail=detail)


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
