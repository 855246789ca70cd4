"""When a person must be asked, and when nobody may be. Pure."""

from guardrails.checks.case import Case
from guardrails.contracts import Check


def reasons_to_ask(case: Case) -> list[str]:
    """Why a person must be asked, in words; empty if nobody must."""
    found = []
    if case.request.origin.revises:
        found.append("A person changed what the agent proposed.")
    if case.mode == "ask":
        found.append("The permission says so.")
    if any(limit.mode == "ask" for limit in case.limits):
        found.append("The organisation's ceiling says so.")
    if case.request.origin.tighten:
        found.append("The agent wants to be sure.")
    found += [
        effect.sentence for effect in case.effects if effect.kind in ("destructive", "concealing")
    ]
    if case.has("egress"):
        found += [
            f"Nobody typed or listed “{target.value}” itself ({target.path})."
            for target in case.targets
            if case.provenance.get(target.path, "X") == "X"
        ]
    return found


def may_ask(case: Case) -> Check:
    """A mail makes nobody be asked, except to answer a listed and proved sender."""
    passed = not case.from_content or (
        bool(case.receivers)
        and all(
            target.path in case.authenticated and target.path in case.listed
            for target in case.receivers
        )
    )
    return Check(name="asking", passed=passed, detail="Asked only to answer a listed sender.")
