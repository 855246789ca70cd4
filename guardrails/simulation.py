"""What would happen: one action tried, or the decisions of the past under a draft policy.

Reads only. Nothing here performs an action, asks a person or writes a row.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from audit import selectors as ledger
from audit.ids import uuid7
from guardrails import conditions, evidence, registry, selectors
from guardrails.contracts import ActionRequest, Origin
from guardrails.evidence import Past
from guardrails.judgement import Judgement, canonical, judge
from guardrails.models import AllowedAction, AllowedActionOption
from guardrails.snapshot import Mode, Option, PolicySnapshot, Rule
from guardrails.text import visible
from integrations.contracts import AccountRef

LAST = 100
Verdict = Literal["allow", "ask", "refuse"]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One decision of the past that the draft would make differently."""

    past: Past
    description: str
    before: Verdict
    after: Verdict
    sentence: str  # what the draft says


@dataclass(frozen=True, kw_only=True)
class Replay:
    """What a draft changes, newest first. `unclear` counts decisions that nobody can tell
    about, because the draft looks at facts that were not read then."""

    differences: tuple[Difference, ...]
    looked_at: int
    unclear: int

    def newly(self, verdict: Verdict) -> tuple[Difference, ...]:
        return tuple(one for one in self.differences if one.after == verdict)


def wish(
    account: AccountRef,
    *,
    action_type: str,
    arguments: Mapping[str, Any],
    user_words: str = "",
    email_id: str = "",
    thread_id: str = "",
) -> ActionRequest:
    """An action to try: as a chat would ask for it, or, with `email_id`, as an inbound mail
    sets it off (which has no words of the user)."""
    origin = (
        Origin(trigger="webhook", item_source_id=email_id, thread_id=thread_id)
        if email_id
        else Origin(trigger="chat", user_words=user_words)
    )
    return ActionRequest(
        action_id=uuid7(),
        account=account,
        action_type=action_type,
        arguments=arguments,
        origin=origin,
    )


def simulate(request: ActionRequest) -> Judgement:
    """The decision as it would be made now, with fresh facts. Never raises and never acts."""
    return judge(canonical(request))


def replay(account: AccountRef, draft: PolicySnapshot, *, last: int = LAST) -> Replay:
    """The account's last decisions under its present policy and under the draft, from the
    facts that the ledger kept. The provider is not asked."""
    present = selectors.policy_snapshot(account)
    differences, unclear, looked_at = [], 0, 0
    for past in _last(account, last):
        looked_at += 1
        before, after = (evidence.decide_again(past, one) for one in (present, draft))
        if before is None or after is None:
            unclear += 1
        elif before.verdict != after.verdict:
            differences.append(
                Difference(
                    past=past,
                    description=_described(past),
                    before=before.verdict,
                    after=after.verdict,
                    sentence=after.sentence,
                )
            )
    return Replay(differences=tuple(differences), looked_at=looked_at, unclear=unclear)


def drafted(policy: PolicySnapshot, row: AllowedAction | AllowedActionOption) -> PolicySnapshot:
    """The policy as it would be with this row, saved or not."""
    key = str(row.pk)
    if isinstance(row, AllowedAction):
        mode: Mode = row.approval_mode  # type: ignore[assignment]  # a choice of the field
        rule = Rule(
            id=key,
            action_type=row.action_type,
            resource_type=row.resource_type,
            enabled=row.enabled,
            mode=mode,
            conditions=conditions.read_all(row.conditions),
            hold_seconds=row.hold_seconds,
        )
        others = tuple(one for one in policy.rules if one.id != key)
        return replace(policy, rules=(*others, rule))
    kept = tuple(one for one in policy.options if one.id != key)
    return replace(policy, options=(*kept, _option(row)))


def _option(row: AllowedActionOption) -> Option:
    return Option(
        id=str(row.pk),
        action_type=row.action_type,
        resource_type=row.resource_type,
        source=row.source,
        kind=row.kind,
        external_id=row.external_id,
        name=row.name,
        group_id=str(row.group_id or ""),
        single=row.group is not None and row.group.cardinality == "single",
    )


def _last(account: AccountRef, last: int) -> Iterator[Past]:
    for row in ledger.decisions(
        tenant_id=account.organisation_id, account_id=account.id, limit=last
    ):
        past = evidence.past(row)
        if past is not None:
            yield past


def _described(past: Past) -> str:
    """The action in one line; of one that was refused, what it was and on what."""
    found = str(past.recorded.payload.get("description", ""))
    if not found:
        action = registry.BY_NAME.get(past.request.action_type)
        subject = past.facts.email.subject if past.facts and past.facts.email else ""
        title = action.title if action else past.request.action_type
        found = f"{title}: “{subject}”" if subject else title
    return visible(found)
