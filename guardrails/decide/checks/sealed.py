"""What cannot be taken back is not begun while the ledger is not sealed: a row without a seal
proves nothing to anybody outside. Pure."""

from guardrails.contracts import Check, Decision
from guardrails.facts.reasons import sentence


def sealed(decision: Decision, why_not: str) -> Decision:
    """The decision on an irreversible action, refused if the ledger says why it must not be
    (audit.seals.progress)."""
    if not why_not:
        return decision  # just what the policy says, and says again whenever it is replayed
    return decision._replace(
        verdict="refuse",
        reason="not_sealed",
        sentence=sentence("not_sealed", why_not),
        checks=(*decision.checks, Check(name="seals", passed=False, detail=why_not)),
        hold_seconds=0,
    )
