"""What guided setup offers to pick: the account's own labels, folders and projects."""

from collections.abc import Mapping
from dataclasses import dataclass

from guardrails.policies import picking
from guardrails.policies.picking import Picked, Use
from integrations.models import Account

# What may be picked, by the kind of account: for which action, which of its targets.
PICKS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "mail": (("classify", "label"), ("move_email", "folder")),
    "issues": (("create_jira_task", "project"),),
    "files": (("create_document", "folder"), ("move_document", "folder")),
}


@dataclass(frozen=True, kw_only=True)
class Pick:
    """One list of the account: what of it the action may be about."""

    use: Use
    choices: list[Picked]
    listed: frozenset[str]

    @property
    def field(self) -> str:
        return f"{self.use.action.name}-{self.use.kind}"


def list_uses(account: Account) -> list[Use]:
    """What may be picked for this account."""
    wanted = PICKS.get(account.kind, ())
    return [one for one in picking.list_uses(account) if (one.action.name, one.kind) in wanted]


def list_picks(account: Account) -> tuple[list[Pick], str]:
    """The account's own lists, and why they may be missing or old."""
    uses = list_uses(account)
    problem = picking.bring_up_to_date(account) if uses else ""
    if account.listed_at is None:
        return [], problem
    return [
        Pick(use=one, choices=picking.list_choices(one), listed=picking.list_picked(one))
        for one in uses
    ], problem
