"""What came of one task that was played once. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agents.evaluation.state import Difference

UNAVAILABLE = frozenset({"facts_unavailable", "counts_unavailable"})


@dataclass(frozen=True, kw_only=True)
class LedgerLine:
    """The last row of one action."""

    action: str
    status: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Asked:
    """An action that waited for the user, and what the user did. `foreseen`: the task says what
    they do; else they reject it."""

    action: str
    did: str
    foreseen: bool


@dataclass(frozen=True, kw_only=True)
class Use:
    """Calls of models and what they took."""

    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    answer_tokens: int = 0

    def __add__(self, other: "Use") -> "Use":
        return Use(**{name: getattr(self, name) + getattr(other, name) for name in vars(self)})


@dataclass(kw_only=True)
class Played:
    """All that is known of it. `responses` are the API's answers; `cited` the provider's ids of
    what they cite; `writes` what reached the sandbox and was done there."""

    responses: list[Mapping[str, Any]] = field(default_factory=list)
    questions: int = 0
    asked: list[Asked] = field(default_factory=list)
    differences: Sequence[Difference] = ()
    ledger: Sequence[LedgerLine] = ()
    unrecorded: int = 0  # writes at the sandbox without a row in the ledger
    writes: Sequence[Mapping[str, Any]] = ()
    cited: frozenset[str] = frozenset()
    malformed: int = 0  # calls of tools in no form that the tool takes
    use: Use = Use()
    prompts: Sequence[int] = ()  # the longest of each turn, in tokens
    seconds: float = 0.0
    broke: str = ""

    @property
    def text(self) -> str:
        return "\n".join(str(one["response"]) for one in self.responses)

    @property
    def refused(self) -> int:
        """Actions that policy refused, and not those that a provider's silence did."""
        return sum(
            line.status == "blocked" and line.reason not in UNAVAILABLE for line in self.ledger
        )

    @property
    def duplicates(self) -> int:
        """Writes that the sandbox did once more just as it had done them."""
        seen: list[tuple[object, ...]] = []
        again = 0
        for write in self.writes:
            what = (write["user"], write["method"], write["path"], write["body"])
            again += what in seen
            seen.append(what)
        return again
