"""What stops everything, whoever commands it. Pure."""

from guardrails.contracts import bare
from guardrails.decide.checks.case import Case
from guardrails.facts.text import visible


def stopping(case: Case) -> None:
    """No switch is thrown and nothing is paused."""
    request, policy = case.request, case.policy
    paused = request.account.paused or policy.paused
    switch = policy.switch(request.action_type, request.account.source)
    if switch:
        case.refuse("switched_off", "switches", f"“{visible(switch.why)}”")
    case.require("switched_off", bare("switches", True))
    case.require("paused", bare("pause", not paused))
