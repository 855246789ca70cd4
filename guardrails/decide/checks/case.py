"""One decision in the making: what it is about, what was found so far, how it ends. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NoReturn

from guardrails.actions.base import AnyAction, Arguments
from guardrails.contracts import NOTHING, ActionRequest, Ambiguity, Check, Decision
from guardrails.decide.conditions.base import Context, OpeningCondition
from guardrails.decide.provenance import UNKNOWN, Provenance, Relation, strongest
from guardrails.decide.snapshot import AllowedAction, Limit, ListedTarget, Mode, PolicySnapshot
from guardrails.facts import targets
from guardrails.facts.effects import Effect, EffectKind
from guardrails.facts.exposure import Exposure, Unasked
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import joined, phrase
from guardrails.facts.reasons import sentence
from guardrails.facts.targets import Target
from guardrails.facts.text import duration, visible
from guardrails.words.heard import hear
from guardrails.words.names import Mention

FROM_CONTENT = frozenset({"webhook", "pattern"})


class Refused(Exception):
    """A check failed: nothing after it is looked at."""

    def __init__(self, reason: str, detail: str) -> None:
        self.reason, self.detail = reason, detail


class Case:
    """One decision in the making. What is not known yet says nothing."""

    parsed: Arguments | None = None
    arguments: Mapping[str, Any] = NOTHING  # canonical, once they are
    values: Sequence[tuple[str, str]] = ()  # each value of the arguments, with its path
    limits: tuple[Limit, ...] = ()
    allowed_action: AllowedAction | None = None
    openings: tuple[OpeningCondition, ...] = ()  # of the allowed action
    mode: Mode = "ask"
    effects: tuple[Effect, ...] = ()
    kinds: frozenset[EffectKind] = frozenset()  # of the effects
    targets: tuple[Target, ...] = ()
    receivers: tuple[Target, ...] = ()  # those of the targets that are people
    implied: tuple[Target, ...] = ()  # those of the targets that no argument names
    listed: Mapping[str, ListedTarget] = NOTHING  # by path
    authenticated: frozenset[str] = frozenset()  # paths
    lists: frozenset[str] = frozenset()  # paths of receivers that are mailing lists
    named: Mapping[str, Mention] = NOTHING  # whom the user's words may mean, by path
    in_thread: frozenset[str] = frozenset()  # paths of a private draft's receivers in its thread
    sources: Mapping[str, frozenset[Provenance]] = NOTHING  # by path
    provenance: Mapping[str, Provenance] = NOTHING  # what is recorded, by path
    readings: Mapping[str, str] = NOTHING  # how the user's words were read, by path
    relations: Mapping[str, frozenset[Relation]] = NOTHING  # of receivers, by path
    opened: frozenset[str] = frozenset()  # paths of receivers let in though not listed
    rivals: tuple[ListedTarget, ...] = ()
    is_meant: bool = False  # a mail to be put away that the user's own words are about
    exposures: tuple[Exposure, ...] = ()  # what others get to see by it
    ambiguity: Ambiguity | None = None  # the name that it is refused for
    unasked: Unasked | None = None  # whom a draft is for and nobody was asked about

    def __init__(
        self,
        *,
        request: ActionRequest,
        action: AnyAction | None,
        policy: PolicySnapshot,
        facts: Facts | None,
        now: datetime,
    ) -> None:
        """`action` is what the request names, if there is such an action."""
        self.request, self.policy, self.facts, self.now = request, policy, facts, now
        self.known, self.heard = action, hear(request.origin)
        self.checks: list[Check] = []

    def require(self, reason: str, check: Check) -> None:
        """Adds a check. Raises Refused with this reason code when it failed."""
        self.checks.append(check)
        if not check.passed:
            raise Refused(reason, check.detail)

    def refuse(self, reason: str, name: str, detail: str = "") -> NoReturn:
        """Adds a check that failed. Raises Refused."""
        self.checks.append(Check(name=name, passed=False, detail=detail))
        raise Refused(reason, detail)

    def aim(self, named: tuple[Target, ...], implied: tuple[Target, ...]) -> None:
        """Sets what the action reaches: by its arguments, and by facts alone."""
        self.targets, self.implied = named + implied, implied
        self.receivers = tuple([target for target in self.targets if target.is_receiver])

    def trace(self, sources: dict[str, frozenset[Provenance]]) -> None:
        """Sets what each value comes from."""
        self.sources = sources
        self.provenance = {
            path: "X" if found is UNKNOWN else strongest(found) for path, found in sources.items()
        }

    def take_effect(self, effects: tuple[Effect, ...]) -> None:
        """Sets what the action does beyond the account's own eyes."""
        self.effects, self.kinds = effects, frozenset([effect.kind for effect in effects])

    def has(self, *kinds: EffectKind) -> bool:
        return not self.kinds.isdisjoint(kinds)

    def is_inside(self, address: str) -> bool:
        """Whether this plain address is the organisation's: the account's own, somebody's in its
        directory, or at one of its own domains. No where that is not known."""
        if self.facts is None:
            return False
        directory = self.facts.directory
        return address == targets.address_or_none(self.facts.own_address) or bool(
            directory and directory.is_inside(address)
        )

    def unclear_name(self, path: str) -> Mention | None:
        """The name in the user's words that may mean this person or another one, where nothing
        better says that it is this one."""
        said = self.named.get(path)
        if said is None or said.is_clear or self.provenance.get(path) in ("U", "A"):
            return None
        return said

    def strangers(self, facts: Facts) -> frozenset[str] | None:
        """Those of the sender and the receivers who are strangers to the user, and whom no operator
        listed; None where that was not looked up."""
        return None if facts.strangers is None else self.policy.unlisted(facts.strangers)

    @property
    def action(self) -> AnyAction:
        """What is to be done. Raises Refused where there is no such action."""
        if self.known is None:
            self.refuse("unknown_action", "action")
        return self.known

    @property
    def people_needed(self) -> int:
        """How many different people have to say yes where one is asked."""
        return self.policy.people_needed(self.action.name, self.action.resource_type)

    @property
    def from_content(self) -> bool:
        return self.request.origin.trigger in FROM_CONTENT

    def context(self, facts: Facts, *, needs_approval: bool = False) -> Context:
        """What conditions may look at, once arguments, targets and provenance are known."""
        return Context(
            action=self.action,
            arguments=self.arguments,
            targets=self.targets,
            effects=self.effects,
            sources=self.sources,
            relations=self.relations,
            lists=self.lists,
            strangers=self.strangers(facts),
            words=self.heard.words,
            features=frozenset(self.request.account.features),
            trigger=self.request.origin.trigger,
            facts=facts,
            now=self.now,
            needs_approval=needs_approval,
        )

    @property
    def hold_seconds(self) -> int:
        """How long what reaches others or destroys is held first: the strictest counts."""
        if self.allowed_action is None or not self.has("egress", "destructive"):
            return 0
        return max(
            self.allowed_action.hold_seconds, *(limit.hold_seconds for limit in self.limits), 0
        )

    def decision(
        self, verdict: Literal["allow", "ask", "refuse"], reason: str, detail: str = ""
    ) -> Decision:
        seconds = 0 if verdict == "refuse" else self.hold_seconds
        why = sentence(reason, detail)
        if seconds:
            held = phrase("It is held for %(time)s first.", time=duration(seconds))
            why = joined((why, held), by=" ")
        listed_targets = (
            {one.id: one.group_id for one in self.listed.values()} if self.listed else {}
        )
        return Decision(
            verdict=verdict,
            reason=reason,
            sentence=why,
            checks=tuple(self.checks),
            policy_digest=self.policy.digest,
            rule_id=self.allowed_action.id if self.allowed_action else "",
            option_ids=tuple(listed_targets),
            target_group_id=next(filter(None, listed_targets.values()), ""),
            effects=self.effects,
            side_effects=tuple([effect.sentence for effect in self.effects]) + self._taken_off(),
            hold_seconds=seconds,
            is_meant=self.is_meant,
            removals=self.removals(),
            provenance=self.provenance,
            readings=self.readings,
            exposures=self.exposures,
            unasked=self.unasked if verdict == "allow" else None,
            ambiguity=self.ambiguity,
        )

    def _taken_off(self) -> tuple[str, ...]:
        """The labels that a single-choice group gives up, in words."""
        if not self.rivals or self.facts is None or self.facts.email is None:
            return ()
        present = self.facts.thread_labels
        return tuple(
            phrase("Takes off the label %(label)s.", label=visible(rival.name))
            for rival in self.rivals
            if rival.external_id in present
        )

    def removals(self) -> tuple[str, ...]:
        """The labels to take off: the group's others, as far as the provider has them."""
        if not self.rivals or self.facts is None:
            return ()
        known = self.facts.labels or {}
        return tuple(rival.external_id for rival in self.rivals if rival.external_id in known)
