"""What waits or waited for a person, as people and the API see it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

ApprovalState = Literal[
    "pending", "approved", "executed", "failed", "rejected", "refused", "expired", "superseded"
]
HeldSendState = Literal["held", "released", "recalled", "refused", "failed"]


@dataclass(frozen=True, kw_only=True)
class CardValue:
    """One value of an action: what it is for, in full, and where it comes from in words.
    `is_new`: it decides where the action goes, and nobody typed or listed it."""

    path: str
    label: str
    text: str
    provenance: str
    is_target: bool
    is_new: bool


@dataclass(frozen=True, kw_only=True)
class CardExposure:
    """What others get to see by an action, in words: which object, whose, how it was named and who
    wrote it; who sees it from then on (`newcomers`, with the role), and who does now. `adds`: it is
    text that is put into the object. `passage` is the beginning of its `chars` characters."""

    kind: str
    title: str
    owner: str
    newcomers: tuple[str, ...]
    readers: tuple[str, ...]
    adds: bool
    named: str
    is_new: bool
    written: str
    sensitive: tuple[str, ...]
    passage: str
    chars: int
    lines: tuple[str, ...]  # all of it in words, what matters most first


@dataclass(frozen=True, kw_only=True)
class ApprovalCard:
    """A pending or decided action as people and the API see it. Built by code from fields.

    `values` are the arguments in words and what is reached without one, targets first;
    `differences` what, before, after.
    `handled` says who decided and when; `agent_said` is the model's word, and no evidence.
    """

    id: UUID
    action_id: UUID
    account_id: UUID
    external_user_id: str
    turn_id: str
    action_type: str
    title: str
    heading: str  # what would be done and to whom, in Remit's own words
    about: str  # somebody's words for what it is done to, in quotation marks; or empty
    description: str
    arguments: Mapping[str, Any]
    provenance: Mapping[str, str]
    values: tuple[CardValue, ...]
    exposures: tuple[CardExposure, ...]
    differences: tuple[tuple[str, str, str], ...]
    side_effects: tuple[str, ...]
    user_said: str  # what the user typed in the request that it came from
    question: UUID  # like actions that wait are one question
    revises: UUID | None  # the approval that a person changed into this one
    proposed: Mapping[str, Any]  # by the agent, where a person has changed it
    digest: str
    state: ApprovalState
    reason: str
    agent_said: str
    created_at: datetime
    expires_at: datetime | None
    shown_at: datetime | None
    decided_at: datetime | None
    decided_by: str
    decision_reason: str  # what the person said to it
    handled: str
    yeses: str  # where two people have to say yes: how many have, who and when; or empty
    not_yours: str = ""  # why the yes that is missing is not the reader's (`second_yes.seen_by`)
    seconds_to_decide: float | None
    delegated_to: str
    delegated: str
    escalated_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class QuestionCard:
    """Like actions that wait together, oldest first; `digest` is over all of them."""

    id: UUID
    heading: str
    digest: str
    cards: tuple[ApprovalCard, ...]


@dataclass(frozen=True, kw_only=True)
class HeldSendCard:
    """A held action, or what became of it, as people and the API see it."""

    id: UUID
    action_id: UUID
    account_id: UUID
    external_user_id: str
    turn_id: str
    action_type: str
    description: str
    arguments: Mapping[str, Any]
    state: HeldSendState
    held_at: datetime
    until: datetime
    decided_at: datetime | None
    decided_by: str
    outcome: str


@dataclass(frozen=True, kw_only=True)
class ChangeRequestCard:
    """What a user asked operators to permit, as people and the API see it. `action_id` is the
    refused action; `differences` say in words what would change, or what was changed, and
    `sentence` how far it is."""

    id: UUID
    action_id: UUID
    account_id: UUID
    external_user_id: str
    turn_id: str
    action_type: str
    description: str
    differences: tuple[str, ...]
    state: Literal["open", "approved", "declined"]
    created_at: datetime
    decided_at: datetime | None
    decided_by: str
    answer: str
    sentence: str
