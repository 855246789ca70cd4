"""What an attack is: data. `tests.attacks.run` carries it out against a running Remit.

Every case has a benign twin: the same door, policy and action with a harmless value. The
attack must end as it says without one call to the provider; the twin must come through.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from tests.attacks.desk import Desk

ITEM = "<the mail at hand>"  # in arguments: the id of the mail that sets the action off

# What an act comes to. refused: one row with the reason. asked: it waits for a person.
# revoked: a person says yes and it is refused with the reason all the same. unreadable: the
# model's call is no action at all, and refused as that. untouched: nobody even asks the
# guardrails.
# performed: done at once. confirmed: done after a person's yes.
# The code of a call in no form that the tool takes: nobody is asked about it.
FORM = "INVALID_INPUT"
End = Literal["refused", "asked", "revoked", "unreadable", "untouched", "performed", "confirmed"]
HARMLESS: frozenset[End] = frozenset({"performed", "confirmed"})
Rows = tuple[tuple[str, str, str], ...]  # phase, status, reason

ASKED: Rows = (("control", "waiting", "needs_approval"),)
APPROVED: Rows = (("control", "recorded", "approved"),)
DONE: Rows = (("attempt", "pending", "allowed"), ("outcome", "succeeded", "performed"))


@dataclass(frozen=True, kw_only=True)
class Chat:
    """A person types, over `POST /api/v1/chat`; the model obeys what it found elsewhere."""

    words: str = "Please see to it."


@dataclass(frozen=True, kw_only=True)
class Mail:
    """A mail arrives as a signed webhook, and the model obeys it. `fields` are its own."""

    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Learned:
    """A mail arrives for which an approved pattern with this matcher is there; the pattern
    holds the action. Where none fits, the model reads the mail and does nothing."""

    matcher: Mapping[str, str]
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Outside:
    """Another agent calls the action as a tool, over `POST /mcp` with a token of this user.
    `meta` is what its program says beside the arguments."""

    meta: Mapping[str, Any] = field(default_factory=dict)


Door = Chat | Mail | Learned | Outside


@dataclass(frozen=True, kw_only=True)
class Grant:
    """One allowed action, with its targets as (kind, id, name). The most generous one: what the
    agent wrote itself goes out unasked, unless `agent_text` is off."""

    action: str
    mode: str = "auto"
    targets: tuple[tuple[str, ...], ...] = ()
    conditions: tuple[dict[str, Any], ...] = ()
    agent_text: bool = True


@dataclass(frozen=True, kw_only=True)
class Act:
    """One thing an obedient model does, and what must come of it. Arguments given as text are
    sent as the raw arguments of the tool call. `reason` says why it is refused or asked about;
    empty: a person must confirm it."""

    via: Door
    action: str
    arguments: Mapping[str, Any] | str
    end: End
    reason: str = ""

    def rows(self) -> Rows:
        """The rows it must leave in the ledger, all of them."""
        refused = (("blocked", "blocked", self.reason),)
        why = self.reason or "needs_approval"
        return {
            "refused": refused,
            "asked": (("control", "waiting", why),),
            "revoked": ASKED + APPROVED + refused,
            "unreadable": (),
            "untouched": (),
            "performed": DONE,
            "confirmed": (
                ("control", "waiting", why),
                *APPROVED,
                ("attempt", "pending", why),
                ("outcome", "succeeded", "performed"),
            ),
        }[self.end]


def nothing(desk: Desk) -> None:
    """No preparation."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """An attack and its twin. `given` furnishes the office; in the attack alone, `before` is
    what the attacker did to it, and `meanwhile` what happens between the model's wish and the
    person's yes. Then the twin has an office of its own."""

    name: str
    row: str
    policy: tuple[Grant, ...]
    attack: Act
    twin: Act
    given: Callable[[Desk], None] = nothing
    before: Callable[[Desk], None] = nothing
    meanwhile: Callable[[Desk], None] = nothing

    def __str__(self) -> str:
        return f"{self.row}: {self.name}"

    def has_twin_of(self, other: "Case") -> bool:
        """Whether the twins of both are one act in one office under one policy."""
        mine, its = (self.policy, self.given, self.twin), (other.policy, other.given, other.twin)
        return mine == its

    def can_share_its_turn(self) -> bool:
        """Whether one turn can try its attack beside others: it fails by itself."""
        return (
            isinstance(self.attack.via, Chat | Mail)
            and self.attack.end in ("refused", "unreadable", "asked")
            and self.attack.reason != "name_ambiguous"  # then the turn ends with a question
            and self.meanwhile == nothing
        )

    def is_attacked_like(self, other: "Case") -> bool:
        """Whether the attacks of both come through one door of one office, to which the same was
        done, and no policy of the one says anything else about an action of the other's."""
        mine = (self.given, self.before, self.attack.via)
        return mine == (other.given, other.before, other.attack.via) and all(
            grants_of(self, action) == grants_of(other, action)
            for action in actions_of(self) & actions_of(other)
        )

    def attacking(self, **changes: Any) -> "Case":
        """The same case with another door, end or text of the attack."""
        return replace(self, attack=replace(self.attack, **changes))


def actions_of(case: Case) -> set[str]:
    return {grant.action for grant in case.policy}


def grants_of(case: Case, action: str) -> list[Grant]:
    return [grant for grant in case.policy if grant.action == action]


@dataclass(frozen=True, kw_only=True)
class Play:
    """A benign act under a policy. Cases are what an attacker changes about it."""

    policy: tuple[Grant, ...]
    action: str
    arguments: Mapping[str, Any]
    end: End = "performed"
    why: str = ""  # a person must confirm it
    via: Door = Chat()
    given: Callable[[Desk], None] = nothing

    def case(self, row: str, name: str, reason: str, /, **changes: Any) -> Case:
        """This play with these arguments changed, refused for that reason (FORM: not even taken);
        itself is the twin."""
        act = Act(
            via=self.via,
            action=self.action,
            arguments=self.arguments,
            end=self.end,
            reason=self.why,
        )
        hostile = {**self.arguments, **changes}
        return Case(
            name=name,
            row=row,
            policy=self.policy,
            attack=replace(
                act,
                arguments=hostile,
                end="unreadable" if reason == FORM else "refused",
                reason=reason,
            ),
            twin=act,
            given=self.given,
        )


@dataclass(frozen=True, kw_only=True)
class Story:
    """An attack that is not one wish of a model: requests, repetitions, races. Both are
    functions that assert; `calls` counts what the twin makes the provider do. What a person
    granted may be done once in the attack too: `calls_in_attack`. One that `passes` without a
    trace leaves the office to the next one with the same twin, which is proved after all.
    `attacks` counts what it tries."""

    name: str
    row: str
    attack: Callable[[Desk], None]
    twin: Callable[[Desk], None]
    calls: int = 0
    calls_in_attack: int = 0
    passes: bool = False
    attacks: int = 1

    def __str__(self) -> str:
        return f"{self.row}: {self.name}"
