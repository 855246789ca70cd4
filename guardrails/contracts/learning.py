"""Patterns that were seen to repeat, and skills: what a person approved."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from integrations.contracts import AccountRef


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """An approved pattern: every field that is not empty must match, and one of
    sender_address, sender_domain and list_id is never empty. All are compared whole;
    `subject` against `guardrails.facts.subjects.generalised(subject)`."""

    id: UUID
    name: str
    sender_address: str
    sender_domain: str
    list_id: str
    subject: str
    content_type: str
    actions: tuple[tuple[str, Mapping[str, Any]], ...]  # (action type, arguments without item)


@dataclass(frozen=True, kw_only=True)
class PatternMatch:
    pattern_id: UUID
    name: str
    actions: tuple[tuple[str, Mapping[str, Any]], ...]  # (action type, arguments)


@dataclass(frozen=True, kw_only=True)
class Precedent:
    """What became of one past mail that a pattern would have matched: `supporting` (it was
    treated like that), `contradicting` (otherwise) or `undecided` (nobody has looked yet).
    `by_person` says that a person did it with their own hands, or confirmed it on a card; `seen`
    that the agent did it unasked, and the user read the mail and left it so. `occasion` says when:
    in which run, or by hand on which day of mail."""

    item_id: str
    thread_id: str
    subject: str
    occurred_at: datetime
    side: Literal["supporting", "contradicting", "undecided"]
    by_person: bool
    sentence: str  # for people
    occasion: str = ""
    seen: bool = False


@dataclass(frozen=True, kw_only=True)
class Tried:
    """What a pattern would have done with past mail: of the newest `mails` of the account, the
    oldest of which came `since`, those that it fits."""

    precedents: tuple[Precedent, ...] = ()
    mails: int = 0
    since: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class PatternProposal:
    """A pattern somebody would like. `pattern.id` is of no account. `proposed_by` and
    `example_id` (the mail it was made from) are set by Remit's own code; `reason` is the
    model's word, quoted to people."""

    account: AccountRef
    pattern: Pattern
    proposed_by: Literal["chat", "webhook", "repetition"]
    example_id: str
    tried: Tried
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Proposed:
    """What became of a proposal. known: it is there already, its evidence was brought up to
    date. taken: another pattern matches the same mail and does something else. unproven: too
    little speaks for it, or something against it. crowded: too many wait already. invalid:
    `sentence` says why."""

    status: Literal["new", "known", "taken", "unproven", "crowded", "invalid"]
    sentence: str
    pattern_id: UUID | None = None
    acts: bool = False


@dataclass(frozen=True, kw_only=True)
class SkillRef:
    name: str
    version: int
    description: str


@dataclass(frozen=True, kw_only=True)
class LoadedSkill:
    name: str
    version: int
    content: str
