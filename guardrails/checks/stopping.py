"""What stops everything, whoever commands it. Pure."""

from collections.abc import Iterator

from guardrails.checks.case import Case, Step
from guardrails.contracts import Check
from guardrails.text import visible


def stopping(case: Case) -> Iterator[Step]:
    """No switch is thrown and nothing is paused."""
    request, policy = case.request, case.policy
    paused = request.account.paused or policy.paused
    switch = policy.switch(request.action_type, request.account.source)
    why = f"“{visible(switch.why)}”" if switch else ""
    yield "switched_off", Check(name="switches", passed=switch is None, detail=why)
    yield "paused", Check(name="pause", passed=not paused, detail="")
