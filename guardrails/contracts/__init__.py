"""Values that cross the edge of `guardrails`: what is asked, decided and done."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, NamedTuple
from uuid import UUID

from audit.contracts import Artifact
from guardrails.facts.effects import Effect
from guardrails.facts.exposure import Exposure, Unasked
from integrations.contracts import AccountRef

Trigger = Literal["chat", "webhook", "pattern", "schedule", "operator", "mcp"]
Verdict = Literal["allow", "ask", "refuse"]
NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where an action request comes from. Made by Remit's own code, never from model output.

    `user_words` is what the user typed in this turn (empty for inbound items), `said_at` when, in
    ISO 8601, and `time_zone` where their clock is; without either no word is read as a time.
    `item_source_id` is the provider id of the inbound item that is worked through, and
    `thread_id` its thread. `tighten` is the model's wish to be asked: it can only tighten.
    `revises` is the id of the action that a person changed into this one (`edited_by`, for
    the user `edited_as`), and `proposed` are the arguments as the agent first proposed them.
    `undoes` is the id of the action that a person takes back by this one, and
    `expects_revision` the revision it left.
    """

    trigger: Trigger
    turn_id: str = ""
    call_id: str = ""
    agent: str = ""
    agent_version: str = ""
    model: str = ""
    skill: str = ""
    pattern_id: str = ""
    actor: str = ""  # an operator's user name, when a person asked
    user_words: str = ""
    said_at: str = ""
    time_zone: str = ""
    item_source_id: str = ""
    thread_id: str = ""
    tighten: bool = False
    reason: str = ""  # the model's explanation: quoted to people, never evidence
    revises: str = ""
    edited_by: str = ""
    edited_as: str = ""
    proposed: Mapping[str, Any] = field(default_factory=dict)
    undoes: str = ""
    expects_revision: str | None = None


@dataclass(frozen=True, kw_only=True)
class ActionRequest:
    """One action somebody wants done. `action_id` (uuid7) is made once, stored by the caller
    before the call, and makes execution idempotent: the same id never acts twice. `called` is what
    the object is called where the caller read of it: words for people, on which nothing rests.
    `is_first`: the caller has just made and stored the id, so the ledger is not asked what it has
    of it; that no attempt is made twice does not rest on this."""

    action_id: UUID
    account: AccountRef
    action_type: str
    arguments: Mapping[str, Any]
    origin: Origin
    called: str = ""
    is_first: bool = False


# Of these two many are made for every decision: named tuples are made more quickly.
class Check(NamedTuple):
    """One ordered step of a decision."""

    name: str
    passed: bool
    detail: str


@cache
def bare(name: str, passed: bool) -> Check:
    """A check that has nothing to tell but its name. Equal ones are one value."""
    return Check(name=name, passed=passed, detail="")


class Ambiguity(NamedTuple):
    """A name as the user typed it, and the people whom it may mean, each as name and address: the
    user is asked which."""

    name: str
    people: tuple[str, ...]


class Decision(NamedTuple):
    """`reason` is one of guardrails.facts.reasons.REASONS; `sentence` is for people."""

    verdict: Verdict
    reason: str
    sentence: str
    checks: tuple[Check, ...]
    policy_digest: str
    rule_id: str = ""
    option_ids: tuple[str, ...] = ()
    target_group_id: str = ""
    effects: tuple[Effect, ...] = ()  # empty: private
    side_effects: tuple[str, ...] = ()
    removals: tuple[str, ...] = ()  # external ids a single-choice group gives up
    hold_seconds: int = 0  # how long it is held before it is carried out
    provenance: Mapping[str, str] = NOTHING  # argument path -> U, A, T, X …
    readings: Mapping[str, str] = NOTHING  # argument path -> how the user's words were read
    exposures: tuple[Exposure, ...] = ()  # what others get to see by it
    unasked: Unasked | None = None  # of a draft; None: everybody is known
    is_meant: bool = False  # a mail to be put away that the user's own words are about
    ambiguity: Ambiguity | None = None  # why it is refused, where a name is not clear

    def plain(self) -> dict[str, Any]:
        """The decision as plain data, for the ledger."""
        return self._asdict() | {
            "checks": [one._asdict() for one in self.checks],
            "effects": [asdict(one) for one in self.effects],
            "provenance": dict(self.provenance),
            "readings": dict(self.readings),
            "exposures": [one.plain() for one in self.exposures],
            "unasked": self.unasked._asdict() if self.unasked else None,
            "ambiguity": self.ambiguity._asdict() if self.ambiguity else None,
        }


ResultStatus = Literal["succeeded", "noop", "pending", "held", "refused", "failed", "unknown"]


@dataclass(frozen=True, kw_only=True)
class ActionResult:
    """What became of an action request. Expected outcomes are values, not exceptions.

    pending: waits for a person (`approval_id`). held: permitted, carried out at `held_until`
    unless somebody recalls it before (`held_send_id`). refused: the guardrails said no. failed:
    the provider said no, or could not be reached before anything happened. unknown: the
    provider may have acted; recovery asks it. `result` is what may be shown to the model.
    `proposed` is what the agent had proposed, where a person changed it before confirming;
    `handled` says who decided and when, where a person was asked; `late`, that a person's word
    came after another decision, or was about another card, and changed nothing.
    `can_be_asked_for` says that the user may ask operators to permit what was refused, and
    `ambiguity` which name kept it from being done. `left` is the object as the provider left it,
    as far as it said so just now; nothing that is recorded has it.
    """

    status: ResultStatus
    action_id: UUID
    action_type: str
    description: str = ""  # “Create: Setup CI/CD”, for people
    arguments: Mapping[str, Any] = field(default_factory=dict)  # canonical, as decided
    reason: str = ""
    sentence: str = ""
    approval_id: UUID | None = None
    held_send_id: UUID | None = None
    held_until: datetime | None = None
    result: Mapping[str, Any] = field(default_factory=dict)
    artifacts: tuple[Artifact, ...] = ()
    proposed: Mapping[str, Any] = field(default_factory=dict)
    handled: str = ""
    late: bool = False
    can_be_asked_for: bool = False
    ambiguity: Ambiguity | None = None
    left: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class PermittedTarget:
    """One target an operator listed. `id` is its identity; `name` is for people."""

    id: str
    name: str
    kind: str  # label, project, recipient, recipient_domain …

    @property
    def kind_in_words(self) -> str:
        return self.kind.replace("_", " ").capitalize()


@dataclass(frozen=True, kw_only=True)
class Capability:
    """One thing the agent may try for one account, as the model sees it."""

    account_id: UUID
    action_type: str
    source: str
    description: str
    mode: str  # auto, ask
    schema: Mapping[str, Any]
    targets: tuple[PermittedTarget, ...]
