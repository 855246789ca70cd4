"""What stops everything, whoever commands it. Pure."""

from collections.abc import Iterator

from guardrails.checks.case import Case, Step
from guardrails.contracts import Check, bare
from guardrails.text import visible


def stopping(case: Case) -> Iterator[Step]:
    """No switch is thrown and nothing is paused."""
    request, policy = case.request, case.policy
    paused = request.account.paused or policy.paused
    switch = policy.switch(request.action_type, request.account.source)
    if switch:
        why = f"“{visible(switch.why)}”"
        yield "switched_off", Check(name="switches", passed=False, detail=why)
    yield "switched_off", bare("switches", True)
    yield "paused", bare("pause", not paused)
