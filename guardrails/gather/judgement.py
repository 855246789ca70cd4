"""Gathering what a decision needs, deciding, and putting it into words. Reads only."""

import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from time import monotonic
from typing import Any
from uuid import UUID

from django.utils import timezone

from audit.ledger.chain import UNSTORABLE, canonical_bytes
from audit.ledger.selectors import actions_of_run
from audit.seals.progress import load_progress
from guardrails.actions import registry
from guardrails.actions.base import AnyAction, Arguments, Difference, InvalidArguments, Inverse
from guardrails.contracts import ActionRequest, Decision
from guardrails.decide import evidence, policy
from guardrails.decide.checks.case import FROM_CONTENT
from guardrails.decide.checks.rates import rates_of
from guardrails.decide.policy_file import PolicyFile, with_file
from guardrails.decide.provenance import SOURCES
from guardrails.decide.snapshot import PolicySnapshot
from guardrails.facts.belonging import let_in
from guardrails.facts.counts import UNASKED, Use, hidden_question
from guardrails.facts.effects import is_irreversible
from guardrails.facts.facts import Facts
from guardrails.facts.targets import Target
from guardrails.gather import corrections, directory, own_mail, own_objects, usage
from guardrails.gather.attached import authors_of_attached, read_attached
from guardrails.gather.authorship import authors
from guardrails.gather.lookups import (
    corresponded,
    correspondence,
    gather,
    groups,
    members,
)
from guardrails.gather.policy_rows import policy_snapshot
from guardrails.gather.security_senders import known_senders
from guardrails.gather.sightings import first_seen
from guardrails.gather.strangers import look_up_strangers
from integrations.accounts import reads
from integrations.contracts import AccountRef
from integrations.database.pools import release_connections
from integrations.exceptions import ProviderError
from integrations.ports.account import Reader

log = logging.getLogger(__name__)
FRESH_SECONDS = 2.0  # longer than from one statement to the next


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """A decision, what it was decided on, and what a person would be shown. What a person
    would be shown is empty when it is a refusal."""

    decision: Decision
    grounds: Mapping[str, Any] = field(default_factory=dict)  # guardrails.decide.evidence.collect
    policy: PolicySnapshot | None = None
    facts: Facts | None = None
    action: AnyAction | None = None
    arguments: Arguments | None = None
    description: str = ""
    undo: str = ""
    inverse: Inverse | None = None
    digest: str = ""
    first_seen: Mapping[str, str] = field(default_factory=dict)
    differences: tuple[Difference, ...] = ()
    reached: Mapping[str, str] = field(default_factory=dict)  # by no argument: path to value
    nothing_to_do: bool = False
    shadow: Mapping[str, Any] = field(default_factory=dict)  # guardrails.gather.shadow

    @property
    def people_needed(self) -> int:
        """How many different people have to say yes where one is asked."""
        if self.policy is None or self.action is None:
            return 1
        return self.policy.people_needed(self.action.name, self.action.resource_type)


NAMELESS = "(no name)"
Claim = Callable[[Judgement, Use, datetime], None]


def canonical(request: ActionRequest) -> ActionRequest:
    """The request with the very arguments that are decided and executed. Arguments that break
    the schema stay as they are; they are refused. So is an action without a name, or with one that
    no database holds, under one that no action has: the ledger keeps no row without."""
    if not request.action_type.strip() or UNSTORABLE.search(request.action_type):
        request = replace(request, action_type=NAMELESS)
    action = registry.BY_NAME.get(request.action_type)
    try:
        parsed = action.parse(request.arguments) if action else None
    except InvalidArguments:
        parsed = None
    return replace(request, arguments=parsed.canonical()) if parsed else request


def judge(
    request: ActionRequest,
    *,
    claim: Claim | None = None,
    trial: UUID | None = None,
    snapshot: PolicySnapshot | None = None,
) -> Judgement:
    """Decide a canonical request under the present policy (the `snapshot`, where that is of the
    account and of less than FRESH_SECONDS ago) and fresh facts. Never raises: a guard that breaks
    refuses.

    Where the policy has rates, `claim` is given the judgement and what it uses up, in the
    transaction that counted. Without it nothing is written. What a `trial` would have used up
    counts for it as well.
    """
    try:
        present = _present(snapshot, request.account) or policy_snapshot(request.account)
        return _judge(request, present, claim, trial)
    except Exception:  # whatever broke, the answer is no
        log.exception("guardrails.guard_failed action=%s", request.action_id)
        return Judgement(decision=policy.GUARD_FAILED)


def _present(snapshot: PolicySnapshot | None, account: AccountRef) -> PolicySnapshot | None:
    if snapshot is None or snapshot.account_id != account.id:
        return None
    return snapshot if monotonic() - snapshot.read_at < FRESH_SECONDS else None


def judge_by(policy_read: PolicySnapshot, request: ActionRequest) -> Judgement:
    """The same under the policy as it was read for several requests of one account. For trials
    alone: nothing is counted, and nothing may be done on it."""
    try:
        return _judge(request, policy_read, None)
    except Exception:  # the same
        log.exception("guardrails.guard_failed action=%s", request.action_id)
        return Judgement(decision=policy.GUARD_FAILED)


def judge_under(
    draft: PolicyFile, request: ActionRequest, *, claim: Claim, trial: UUID
) -> Judgement:
    """The same under a whole policy that is not live, with the ceiling, switches and pauses that
    are. For trials alone: nothing may be done on it."""
    try:
        present = policy_snapshot(request.account)
        return _judge(request, with_file(present, draft, request.account.source), claim, trial)
    except Exception:  # the same
        log.exception("guardrails.guard_failed action=%s", request.action_id)
        return Judgement(decision=policy.GUARD_FAILED)


def binding(
    request: ActionRequest,
    *,
    description: str,
    decision: Decision,
    facts: Facts,
    policy: PolicySnapshot,
) -> str:
    """The digest a person's word is bound to: this action with these arguments, for this
    account and turn, its effects, the object as the person saw it, and the part of the policy
    that this action is under. What operators change elsewhere leaves the word good."""
    action = registry.BY_NAME[request.action_type]
    bound = {
        "policy": policy.basis(action.name, action.resource_type, decision.option_ids),
        "organisation": str(request.account.organisation_id),
        "account": str(request.account.id),
        "action_id": str(request.action_id),
        "turn": request.origin.turn_id,
        "action_type": request.action_type,
        "arguments": request.arguments,
        "description": description,
        "side_effects": decision.side_effects,
        "object": facts.exposed(),
    }
    return hashlib.sha256(canonical_bytes(bound)).hexdigest()


def _judge(
    request: ActionRequest,
    snapshot: PolicySnapshot,
    claim: Claim | None,
    trial: UUID | None = None,
) -> Judgement:
    action = registry.BY_NAME.get(request.action_type)

    def decide(facts: Facts | None, now: datetime, unsealed: str = "") -> Judgement:
        given: dict[str, Any] = {
            "request": request,
            "policy": snapshot,
            "facts": facts,
            "now": now,
            "unsealed": unsealed,
        }
        decision = policy.decide(action=action, **given)
        grounds = evidence.collect(decision=decision, **given)
        return Judgement(decision=decision, grounds=grounds, policy=snapshot, facts=facts)

    found = decide(None, timezone.now())
    if action is None or found.decision.reason != "facts_unavailable":
        return found  # no, whatever the provider would say
    arguments = action.parse(request.arguments)
    try:
        facts = read_facts(request, snapshot, action, arguments)
    except ProviderError as error:
        log.warning("guardrails.facts_unavailable code=%s", error.code)
        return found

    # A query, so only where it counts.
    counts_seals = is_irreversible(action.effects(arguments, facts)) and not request.origin.undoes
    unsealed = load_progress(request.account.organisation_id).stops if counts_seals else ""

    def judged(facts: Facts, now: datetime) -> Judgement:
        found = decide(facts, now, unsealed)
        if found.decision.verdict == "refuse":
            return found
        return _described(found, request, action, arguments, facts)

    hides = action.puts_away and request.origin.trigger not in FROM_CONTENT
    uncounted = bool(request.origin.undoes) or action.is_upkeep
    if uncounted or not (snapshot.has_rates or hides):
        return judged(facts, timezone.now())
    questions = [rate.question for rate in rates_of(action, snapshot)]
    if hides:
        questions.append(hidden_question(facts.mailbox.inbox if facts.mailbox else None))
    with usage.lock_account(request.account):
        now = timezone.now()
        use = usage.use_of(request, action, arguments, facts, now=now)
        counts = usage.counted(questions, use, request=request, now=now, trial=trial)
        found = judged(replace(facts, counts=counts), now)
        if claim is not None and found.decision.verdict != "refuse":
            claim(found, replace(use, hidden=use.hidden and not found.decision.is_meant), now)
    return found


def _described(
    found: Judgement,
    request: ActionRequest,
    action: AnyAction,
    arguments: Arguments,
    facts: Facts,
) -> Judgement:
    """The judgement with all that is needed to ask a person and to act."""
    decision, description = found.decision, action.describe(arguments, facts)
    reached = {one.path: one.value for one in action.implied(arguments, facts) or ()}
    snapshot = found.policy
    if snapshot is None:
        raise ValueError("a decision without policy asks nobody")
    return replace(
        found,
        action=action,
        arguments=arguments,
        description=description,
        undo=action.undo(arguments, facts),
        first_seen=first_seen(
            request.arguments,
            reached=reached,
            kind=action.object_kind,
            provenance=decision.provenance,
            facts=facts,
        ),
        differences=action.differences(arguments, facts, decision.removals),
        reached=reached,
        digest=binding(
            request, description=description, decision=decision, facts=facts, policy=snapshot
        ),
        inverse=action.inverse(arguments, facts, decision.removals),
        nothing_to_do=action.already_so(arguments, facts, decision.removals),
    )


def read_facts(
    request: ActionRequest, snapshot: PolicySnapshot, action: AnyAction, arguments: Arguments
) -> Facts:
    """What this policy looks at to decide the request, as it is at the provider now. Raises
    ProviderError."""
    created = _created(request)
    release_connections()
    reader = reads.reader(request.account)
    needs = policy.needs(action, snapshot)
    facts = gather(
        reader,
        object_kind=action.object_kind,
        object_id=action.object_id(arguments),
        needs=needs,
        own_address=request.account.address,
        known=known_senders(),
    )
    if _puts_away_many(request, action):
        facts = replace(facts, mailbox=reads.mail_reader(request.account).mailbox())
    reached = action.targets(arguments) + (action.implied(arguments, facts) or ())
    receivers = [target.value for target in reached if target.is_receiver]
    if facts.thread is not None:
        about = (*receivers, *([facts.sender] if facts.sender else []))
        summary = facts.summarised_thread.about(about, own_address=facts.own_address)
        facts = replace(facts, thread_summary=summary)
    known = correspondence(reader, receivers)
    facts = replace(facts, groups=groups(known))
    if "D" in SOURCES[request.origin.trigger]:
        facts = replace(facts, corresponded=corresponded(known))
    asked = receivers if request.origin.trigger in FROM_CONTENT else ()
    facts = look_up_strangers(facts, request.account, asked, known, needs)
    people = [target.value for target in reached if target.is_person]
    found = directory.look_up_for(
        request,
        reader,
        people,
        is_asked_for=own_objects.is_asked_for(request, action, arguments),
        adders=frozenset().union(*let_in(facts, action.object_kind).values()),
    )
    facts = own_objects.look_up(
        request, reader, action, arguments, facts, reaches=bool(receivers), people=found.people
    )
    if people:
        facts = replace(facts, directory=found)
    if "members" in needs:
        facts = replace(facts, members=_members(reader, reached))
    facts = replace(facts, attached=read_attached(request, action.attached(arguments)))
    if exposures := action.exposes(arguments, facts):
        files = authors_of_attached(request, exposures, facts.attached)
        theirs = {one.object_id for one in files}
        others = authors(request, [one for one in exposures if one.id not in theirs], facts)
        facts = replace(facts, authors=(*files, *others))
    # A query, so only where there is anything to be found.
    if snapshot.has_corrections and request.origin.trigger in FROM_CONTENT:
        labels = [target.value for target in reached if target.kind == "label"]
        facts = corrections.look_up(request, facts, labels)
    return own_mail.without(replace(facts, created=created), request.account)


def _members(reader: Reader, reached: Sequence[Target]) -> tuple[str, ...] | None:
    """Which of the people who are given an issue are members of its project."""
    given = [target.value for target in reached if target.kind == "assignee"]
    project = next((target.value for target in reached if target.kind == "project"), "")
    return members(reader, project, given) if given else None


def _puts_away_many(request: ActionRequest, action: AnyAction) -> bool:
    """Whether it matters how large the inbox is. A query where that could be."""
    if not action.puts_away or request.origin.trigger in FROM_CONTENT:
        return False
    return usage.hidden_before(request, now=timezone.now()) >= UNASKED


def _created(request: ActionRequest) -> tuple[str, ...]:
    """What this run has created in this account. One query; none outside of runs."""
    account, run_id = request.account, request.origin.turn_id
    if not run_id or "R" not in SOURCES[request.origin.trigger]:
        return ()
    rows = actions_of_run(tenant_id=account.organisation_id, run_id=run_id)
    return tuple(
        artifact.external_id
        for row in rows
        if row.account_id == account.id and row.status == "succeeded"
        for artifact in row.artifacts
    )
