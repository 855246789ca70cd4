"""What cannot be taken back is not begun while the ledger is not sealed: a row without a seal
proves nothing to anybody outside. Pure."""

from guardrails.decide.checks.case import Case
from guardrails.facts.effects import is_irreversible


def sealed(case: Case, why_not: str) -> None:
    """The ledger's seals let it be done (`why_not` is empty), or it needs none: it can be taken
    back, or there is nothing to do. Looked at last."""
    if not why_not or case.facts is None or not is_irreversible(case.effects):
        return
    if not case.action.already_so(case.parsed, case.facts, case.removals()):
        case.refuse("not_sealed", "seals", why_not)
