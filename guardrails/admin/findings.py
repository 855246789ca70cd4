"""What is wrong with a policy, for the person who has just saved a part of it."""

from collections.abc import Iterator

from django.contrib import messages
from django.db.models import Model
from django.http import HttpRequest

from guardrails.gather.policy_rows import policy_snapshot, policy_snapshots
from guardrails.models import (
    AllowedAction,
    AllowedActionOption,
    CeilingLimit,
    TargetGroup,
)
from guardrails.policies.findings import Finding, findings
from integrations.models import Account

MOST = 5
LEVELS = {"error": messages.ERROR, "warning": messages.WARNING}


def tell(request: HttpRequest, row: Model) -> None:
    """Add a message for everything that is found around this row, as it is saved now."""
    found = list(dict.fromkeys(find_near(row)))
    for one in found[:MOST]:
        messages.add_message(request, LEVELS[one.severity], str(one))
    if len(found) > MOST:
        messages.warning(
            request,
            f"There are {len(found) - MOST} more such findings: see “What may it do?”.",
        )


def find_near(row: Model) -> Iterator[Finding]:
    """What is found about the actions that this row is about."""
    if isinstance(row, AllowedAction | AllowedActionOption):
        yield from _of(row.account, {row.action_type})
    elif isinstance(row, TargetGroup):
        yield from _of(row.account, {target.action_type for target in row.listed_targets.all()})
    elif isinstance(row, CeilingLimit):
        accounts = Account.objects.filter(organisation=row.organisation)
        every = [one.ref() for one in accounts.select_related("organisation")]
        policies = policy_snapshots(every)
        for account in every:
            for one in findings(policies[account.id], account.source):
                if str(row.pk) in one.ids or row.action_type in ("", one.action_type):
                    yield one


def _of(account: Account, action_types: set[str]) -> Iterator[Finding]:
    policy = policy_snapshot(account.ref())
    for one in findings(policy, account.source):
        if one.action_type in action_types:
            yield one
