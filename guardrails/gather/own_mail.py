"""What the agent did of its own accord proves nothing about the user: neither mail that it sent
about whom the user writes to, nor mail that it filed about how the user wants such mail treated.

The provider counts both as the user's. Without this a stranger who gets an automatic answer would
from then on be somebody the user has written to, and a run in an attacker's hands would be a habit.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from uuid import UUID

from django.db import connection

from guardrails.actions.base import AnyAction, Arguments
from guardrails.contracts import ActionRequest, Decision
from guardrails.facts.facts import Facts
from guardrails.models import AgentFiling, AgentMail
from integrations.contracts import AccountRef


def list_filed(
    action: AnyAction, arguments: Arguments, decision: Decision, facts: Facts | None
) -> tuple[str, ...]:
    """The mails that this action files, for `guardrails.gather.stops` to note."""
    if not action.in_patterns:
        return ()
    others = action.others_changed(arguments, facts, decision.removals) if facts else ()
    return (action.object_id(arguments) or "", *others)


def note(
    request: ActionRequest,
    action: AnyAction,
    arguments: Arguments,
    decision: Decision,
) -> None:
    """The agent is about to send this without a person's word. Receivers whom the user typed
    in this request are the user's own. Once, however often it is tried."""
    if not action.sends_mail:
        return
    addresses = {
        target.value.lower()
        for target in action.targets(arguments)
        if target.is_receiver and decision.provenance.get(target.path) != "U"
    }
    AgentMail.objects.bulk_create(
        (
            AgentMail(account_id=request.account.id, action_id=request.action_id, address=one)
            for one in sorted(addresses)
        ),
        ignore_conflicts=True,
    )


def take_back(action_id: UUID) -> None:
    """Nothing was done."""
    AgentFiling.objects.filter(action_id=action_id).delete()
    AgentMail.objects.filter(action_id=action_id).delete()


def list_filings(account: AccountRef, item_ids: Iterable[str]) -> dict[str, frozenset[UUID]]:
    """Of each of these mails that the agent filed without a person's word, by which actions. One
    query."""
    rows = AgentFiling.objects.filter(account_id=account.id, item_id__in=list(item_ids))
    found: dict[str, set[UUID]] = {}
    for item_id, action_id in rows.values_list("item_id", "action_id"):
        found.setdefault(item_id, set()).add(action_id)
    return {item_id: frozenset(ids) for item_id, ids in found.items()}


def filings_of(account: AccountRef, item_id: str) -> frozenset[UUID]:
    """The actions by which the agent filed this mail without a person's word. One query."""
    rows = AgentFiling.objects.filter(account_id=account.id, item_id=item_id)
    return frozenset(rows.values_list("action_id", flat=True))


def without(facts: Facts, account: AccountRef) -> Facts:
    """The facts as they are by the user's own mail alone. One query where there are facts of
    that kind."""
    known, asked = facts.correspondence, dict(facts.corresponded or {})
    addresses = {*asked, *facts.sent_to} | ({known.address} if known else set())
    counts = sent_by_agent(account, addresses) if addresses else {}
    if not counts:
        return facts
    return replace(
        facts,
        corresponded=None
        if facts.corresponded is None
        else {one: max(0, sent - counts.get(one.lower(), 0)) for one, sent in asked.items()},
        correspondence=known
        and known.model_copy(
            update={"sent": max(0, known.sent - counts.get(known.address.lower(), 0))}
        ),
        reached_by_agent=tuple(sorted(counts)),
    )


# Of all accounts of the user: one mailbox's mail counts for the invitations of another. Every mail
# asks for it; composed by Django, it took several times as long.
_SENT_BY_AGENT = """
SELECT m.address, count(*) FROM guardrails_agentmail m JOIN integrations_account a
    ON a.id = m.account_id
WHERE a.organisation_id = %s AND a.external_user_id = %s AND m.address = ANY (%s::text[])
GROUP BY m.address
"""


def sent_by_agent(account: AccountRef, addresses: Iterable[str]) -> Mapping[str, int]:
    """How many mails the agent sent to each without a person's word, by small letters. One query
    for any."""
    if not (asked := sorted({one.lower() for one in addresses})):
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_SENT_BY_AGENT, [account.organisation_id, account.external_user_id, asked])
        return dict(cursor.fetchall())
