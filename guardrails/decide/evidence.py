"""What a decision was decided on, as the ledger keeps it, and how it is decided again. Pure.

It is all that `policy.decide` looks at, and no more: never the text of an object, of the provider's
lists only what the policy or the arguments name, and of a thread only what it says of the people
whom the decision is about, so that a row does not grow with the thread.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter

from audit.contracts import Recorded
from guardrails.actions import registry
from guardrails.contracts import ActionRequest, Decision, Origin
from guardrails.decide import policy
from guardrails.decide.conditions import vocabulary
from guardrails.decide.snapshot import AllowedAction, Limit, ListedTarget, PolicySnapshot, Switch
from guardrails.facts.facts import Facts
from guardrails.facts.reasons import sentence
from integrations.contracts import AccountRef
from integrations.ports.registry import BY_SOURCE, PROVIDER_OF

ORIGIN = (
    "trigger",
    "user_words",
    "said_at",
    "time_zone",
    "item_source_id",
    "thread_id",
    "tighten",
    "undoes",
    "expects_revision",
    "revises",
    "proposed",
)
# Nothing reads these to decide, and they are the longest part.
MAIL_TEXT = {"body_text", "body_html", "snippet", "attachments"}
UNREAD: dict[str, Any] = {
    "email": MAIL_TEXT,
    "document": {"content_text"},
    "event": {"description"},
    "issue": {"description"},
    "draft": {"body"},
    "attached": {"__all__": {"document": {"content_text"}}},
}
# Why a decision cannot be made again without facts that were not read.
LACKING = ("facts_unavailable", "counts_unavailable")
LISTS = ("labels", "projects")  # the provider's lists
FACTS = TypeAdapter(Facts)


@dataclass(frozen=True, kw_only=True)
class Past:
    """A decision of the past with all that it was decided on, but for its policy."""

    recorded: Recorded
    request: ActionRequest
    facts: Facts | None
    needs: frozenset[str]  # which facts were read
    now: datetime
    verdict: str
    reason: str
    unsealed: str = ""


def collect(
    *,
    request: ActionRequest,
    policy: PolicySnapshot,
    facts: Facts | None,
    now: datetime,
    decision: Decision,
    unsealed: str = "",
) -> dict[str, Any]:
    """The evidence of one decision, as plain data."""
    return {
        **({"unsealed": unsealed} if unsealed else {}),
        "verdict": decision.verdict,
        "reason": decision.reason,
        "now": now.isoformat(),
        "paused": request.account.paused,
        "features": sorted(request.account.features),
        "origin": {name: getattr(request.origin, name) for name in ORIGIN},
        "needs": sorted(_needs(request, policy) | _looked_up(facts)) if facts else [],
        "facts": None if facts is None else _kept_facts(facts, request, policy),
    }


def past(row: Recorded) -> Past | None:
    """The decision that a row of the ledger keeps. None where it keeps none, or not all of
    it: rows without decision, erased payloads, arguments that were cut."""
    found = row.payload.get("decided_on")
    arguments = _arguments(row)
    if not isinstance(found, Mapping) or row.account_id is None or arguments is None:
        return None
    connector, provider = BY_SOURCE.get(row.provider), PROVIDER_OF.get(row.provider)
    account = AccountRef(
        id=row.account_id,
        organisation_id=row.tenant_id,
        organisation_slug="",
        external_user_id=row.on_behalf_of,
        kind=connector.kind if connector else "",  # type: ignore[arg-type]  # any text, from a row
        provider=provider.name if provider else "",
        source=row.provider,
        address="",
        display_name="",
        time_zone="UTC",
        paused=found["paused"],
        features=tuple(found.get("features", ())),  # older evidence knows none
    )
    return Past(
        recorded=row,
        request=ActionRequest(
            action_id=row.action_id,
            account=account,
            action_type=row.action_type,
            arguments=arguments,
            origin=Origin(
                **{name: found["origin"][name] for name in ORIGIN if name in found["origin"]}
            ),
        ),
        facts=None if found["facts"] is None else FACTS.validate_python(found["facts"]),
        needs=frozenset(found["needs"]),
        now=datetime.fromisoformat(found["now"]),
        verdict=found["verdict"],
        reason=found["reason"],
        unsealed=found.get("unsealed", ""),
    )


def decide_again(past: Past, under: PolicySnapshot) -> Decision | None:
    """What the policy says to a decision of the past. None when it looks at facts that were
    not read then, so that nobody can tell."""
    return decide_on(
        request=past.request,
        facts=past.facts,
        needs=past.needs,
        now=past.now,
        reason=past.reason,
        unsealed=past.unsealed,
        under=under,
    )


def decide_on(
    *,
    request: ActionRequest,
    facts: Facts | None,
    needs: frozenset[str],
    now: datetime,
    reason: str,
    unsealed: str = "",
    under: PolicySnapshot,
) -> Decision | None:
    """What another policy says on the facts of a decision, of which `needs` were read and
    whose reason was `reason`. None when it looks at facts that were not read."""
    if facts is not None and not _needs(request, under) <= needs:
        facts = None
    decision = policy.decide(
        request=request,
        action=registry.BY_NAME.get(request.action_type),
        policy=under,
        facts=facts,
        now=now,
        unsealed=unsealed,
    )
    if decision.reason == reason or decision.reason not in LACKING:
        return decision
    if reason == "invalid_arguments" and _lacks_formerly_needed(request):
        return decision._replace(reason=reason, sentence=sentence(reason))
    return None


def _lacks_formerly_needed(request: ActionRequest) -> bool:
    """Whether a version before this one refused these arguments for what they lack."""
    action = registry.BY_NAME.get(request.action_type)
    return action is not None and any(
        request.arguments.get(name) is None for name in action.formerly_needed
    )


def _needs(request: ActionRequest, under: PolicySnapshot) -> frozenset[str]:
    action = registry.BY_NAME.get(request.action_type)
    return policy.needs(action, under) if action else frozenset()


def _looked_up(facts: Facts) -> frozenset[str]:
    """What was read beyond the needs, to trace values: a draft policy may look at it too."""
    return frozenset(
        name
        for name in ("corresponded", "strangers", "directory", "members", "created")
        if getattr(facts, name) is not None
    )


def _kept_facts(facts: Facts, request: ActionRequest, under: PolicySnapshot) -> dict[str, Any]:
    if facts.thread is not None:
        facts = replace(facts, thread=None, thread_summary=facts.summarised_thread)
    found: dict[str, Any] = FACTS.dump_python(facts, mode="json", exclude=UNREAD)
    named = {listed_target.external_id for listed_target in under.listed_targets}
    named |= {value for value in request.arguments.values() if isinstance(value, str)}
    for name in LISTS:
        if found[name] is not None:
            found[name] = {key: text for key, text in found[name].items() if key in named}
    if summary := found["thread_summary"]:
        summary["labels"] = [one for one in summary["labels"] if one in named]
    if facts.created is not None:
        found["created"] = [one for one in facts.created if one in named]
    return found


def _arguments(row: Recorded) -> dict[str, Any] | None:
    proposed = row.payload.get("proposed")
    if proposed is None:
        found = row.payload.get("arguments")
    else:
        try:
            found = json.loads(proposed)
        except ValueError:
            return None
    return found if isinstance(found, dict) else None


def policy_of(content: Mapping[str, Any]) -> PolicySnapshot:
    """The policy that `PolicySnapshot.content` wrote down."""

    def rows(name: str) -> list[dict[str, Any]]:
        return [
            row | ({"conditions": read(row["conditions"])} if "conditions" in row else {})
            for row in content[name]
        ]

    read = vocabulary.read_all
    return PolicySnapshot(
        account_id=UUID(content["account"]),
        paused=content["paused"],
        allowed_actions=tuple(AllowedAction(**row) for row in rows("rules")),
        listed_targets=tuple(ListedTarget(**row) for row in rows("options")),
        ceiling=tuple(Limit(**row) for row in rows("ceiling")),
        switches=tuple(Switch(**row) for row in rows("switches")),
    )
