"""Calls of models as values: for whom, the answer, what it used."""

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from uuid import UUID

# The name of a call that stands for an output which is no decision at all: its arguments.
UNREADABLE = "unreadable answer"


# What an endpoint answers to every request while it is misconfigured.
_OF_ENDPOINT = frozenset({"status_401", "status_402", "status_403", "status_404"})


class ModelError(Exception):
    """The model did not answer as asked. The client has already retried what may pass."""

    def __init__(self, code: str, *, retryable: bool) -> None:
        super().__init__(code)
        self.code = code
        self.retryable = retryable

    @property
    def is_refusal(self) -> bool:
        """Whether the endpoint would refuse every such request: a wrong key, model or setting."""
        refused = self.code.startswith("status_4") or self.code == "unknown_provider"
        return refused and not self.retryable

    @property
    def may_pass(self) -> bool:
        """Whether the same request may be answered some time later, maybe once an operator has
        mended a key or a budget has room again: whatever is not wrong with this very request."""
        wrong = self.code.startswith("status_4") and self.code not in _OF_ENDPOINT
        return self.retryable or not (wrong or self.code == "malformed_json")


class OutOfTime(ModelError):
    """The deadline came before the answer."""

    def __init__(self) -> None:
        super().__init__("out_of_time", retryable=False)


@dataclass(frozen=True, kw_only=True)
class Payer:
    """Whom a call of a model is counted for. `account_id` is set where the work is the account's
    own (its mail, its sync); `run_id` is the turn."""

    organisation_id: UUID
    external_user_id: str
    account_id: UUID | None = None
    run_id: UUID | None = None


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What calls used: tokens asked, of those cached, answered; US dollars."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    answer_tokens: int = 0
    cost: Decimal = Decimal(0)

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.answer_tokens


def dollars(cost: Decimal) -> str:
    """US dollars as people read them: cents from a dollar on, else four places."""
    if 0 < cost < Decimal("0.0001"):
        return "less than $0.0001"
    return f"${cost:,.2f}" if cost >= 1 or not cost else f"${cost:.4f}"


@dataclass(frozen=True, kw_only=True)
class RequestedCall:
    """A tool call as the model asked for it. `arguments` is its text: maybe not JSON. Some models
    put the name of a namespace that they were taught in front of the tool's."""

    id: str
    name: str
    arguments: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name.removeprefix("functions."))


@dataclass(frozen=True, kw_only=True)
class Completion:
    text: str
    calls: tuple[RequestedCall, ...]
    model: str
    finish_reason: str
    usage: Usage = field(default_factory=Usage)


@dataclass
class Listener:
    """Who hears a streamed answer: its text as it comes, what a model that thinks aloud says
    before it, and that it starts over when it broke off half-way and is asked for again."""

    on_text: Callable[[str], None]
    on_restart: Callable[[], None]
    on_reasoning: Callable[[str], None] = lambda _: None
    heard: bool = False

    def hear(self, text: str) -> None:
        self.heard = True
        self.on_text(text)

    def think(self, text: str) -> None:
        self.heard = True
        self.on_reasoning(text)

    def restart(self) -> None:
        if self.heard:
            self.heard = False
            self.on_restart()


BYTES_IN_A_TOKEN = 3


def estimated_tokens(text: str) -> int:
    """A count that is rather too high for most texts; ids and numbers alone may be more."""
    return -(-len(text.encode()) // BYTES_IN_A_TOKEN)
