"""What would happen: one action tried, or the decisions of the past under a draft policy.

Reads only. Nothing here performs an action, asks a person or writes a row.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from django.utils import timezone

from audit.ledger import selectors as ledger
from audit.ledger.ids import uuid7
from guardrails.actions import registry
from guardrails.actions.base import InvalidArguments
from guardrails.contracts import ActionRequest, Origin
from guardrails.decide import evidence
from guardrails.decide.evidence import Past
from guardrails.decide.snapshot import PolicySnapshot
from guardrails.facts.text import visible
from guardrails.gather.judgement import Judgement, canonical, judge, judge_by
from guardrails.gather.policy_rows import policy_snapshots
from integrations.contracts import AccountRef
from integrations.models import Account

LAST = 100
MOST = 5000  # decisions about mails
MOST_CHARS = 300  # of a description
PER_MAIL = 10  # more than a mail sets off
FROM_CONTENT = ("webhook", "pattern")
Of = Literal["decisions", "mails"]
Draft = Callable[[PolicySnapshot], PolicySnapshot]
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
    mails: int  # inbound items that set these decisions off
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
        else Origin(
            trigger="chat",
            user_words=user_words,
            said_at=timezone.now().isoformat(),
            time_zone=account.time_zone,
        )
    )
    return ActionRequest(
        action_id=uuid7(),
        account=account,
        action_type=action_type,
        arguments=arguments,
        origin=origin,
    )


def simulate(request: ActionRequest, *, policy: PolicySnapshot | None = None) -> Judgement:
    """The decision as it would be made now, with fresh facts; `policy` is the present one where it
    was read before. Never raises and never acts."""
    request = canonical(request)
    return judge_by(policy, request) if policy else judge(request)


def replay(
    draft: Draft,
    *,
    organisation_id: UUID,
    account_id: UUID | None = None,
    last: int = LAST,
    of: Of = "decisions",
) -> Replay:
    """The last decisions, or those about the last mails that came in, under the present policy
    and under the draft, from the facts that the ledger kept: of one account, or of all accounts
    of the organisation. The provider is not asked."""
    pasts = _pasts(organisation_id, account_id, last, of)
    present = _policies(organisation_id, pasts)
    drafted = {key: draft(policy) for key, policy in present.items()}
    differences, unclear, looked_at = [], 0, 0
    for past in pasts:
        key = past.request.account.id
        if key not in present:
            continue  # the account is gone
        looked_at += 1
        before, after = (evidence.decide_again(past, one[key]) for one in (present, drafted))
        if before is None or after is None:
            unclear += 1
        elif before.verdict != after.verdict:
            differences.append(
                difference(
                    past, before=before.verdict, after=after.verdict, sentence=after.sentence
                )
            )
    return Replay(
        differences=tuple(differences),
        looked_at=looked_at,
        mails=len({one.request.origin.item_source_id for one in pasts} - {""}),
        unclear=unclear,
    )


def difference(past: Past, *, before: Verdict, after: Verdict, sentence: str) -> Difference:
    """One decision of the past and what another policy says to it."""
    return Difference(
        past=past, description=describe_past(past), before=before, after=after, sentence=sentence
    )


def _policies(organisation_id: UUID, pasts: Iterable[Past]) -> dict[UUID, PolicySnapshot]:
    """The present policies of the accounts that were decided about."""
    rows = Account.objects.select_related("organisation").filter(
        organisation_id=organisation_id, id__in={past.request.account.id for past in pasts}
    )
    return policy_snapshots([row.ref() for row in rows])


def _pasts(organisation_id: UUID, account_id: UUID | None, last: int, of: Of) -> list[Past]:
    mails = of == "mails"
    rows = ledger.decisions(
        tenant_id=organisation_id,
        account_id=account_id,
        triggers=FROM_CONTENT if mails else (),
        limit=min(last * PER_MAIL, MOST) if mails else last,
    )
    found: list[Past] = []
    seen: set[str] = set()
    for past in filter(None, map(evidence.past, rows)):
        seen.add(past.request.origin.item_source_id)
        if mails and len(seen) > last:
            break
        found.append(past)
    return found


def describe_past(past: Past) -> str:
    """The action in one line; of one that was refused, what it was and on what."""
    found = str(past.recorded.payload.get("description", ""))
    if not found:
        action = registry.BY_NAME.get(past.request.action_type)
        subject = past.facts.email.subject if past.facts and past.facts.email else ""
        title = action.title if action else past.request.action_type
        about = [*([f"“{subject}”"] if subject else []), *_aims(past)]
        found = f"{title}: {', '.join(about)}" if about else title
    return visible(found, limit=MOST_CHARS)


def _aims(past: Past) -> list[str]:
    """What the arguments of a decision of the past were aimed at, as far as they are valid."""
    action = registry.BY_NAME.get(past.request.action_type)
    try:
        arguments = action.parse(past.request.arguments) if action else None
    except InvalidArguments:
        arguments = None
    return [one.value for one in action.targets(arguments)] if action and arguments else []
