"""What stops everything, no matter who commands it, when it is decided and again when the attempt
stands in the ledger. Pure."""

from typing import Literal, NamedTuple

from guardrails.contracts import bare
from guardrails.decide.checks.case import Case
from guardrails.decide.snapshot import PERMITTING, Mode
from guardrails.facts.text import visible


class Stops(NamedTuple):
    """What could stop one action at this moment. `limits` are the modes of the ceiling's limits
    that it is under, `mode` is that of its allowed action; None: there is none any more."""

    switched_off: bool
    paused: bool
    limits: frozenset[Mode] = frozenset()
    mode: Mode | None = None


def stopping(case: Case, *, while_paused: bool = False) -> None:
    """No switch is thrown and nothing is paused; `while_paused`: or it may be."""
    request, policy = case.request, case.policy
    paused = request.account.paused or policy.paused
    switch = policy.switch(request.action_type, request.account.source)
    if switch:
        case.refuse("switched_off", "switches", f"“{visible(switch.why)}”")
    case.require("switched_off", bare("switches", True))
    case.require("paused", bare("pause", while_paused or not paused))


def stopping_effects(case: Case) -> None:
    """No switch stops what this does to others, once that is known."""
    request = case.request
    switch = case.policy.switch(request.action_type, request.account.source, case.kinds)
    if switch:
        case.refuse("switched_off", "switches by effect", f"“{visible(switch.why)}”")


def why_stopped(
    stops: Stops, *, undoes: bool, while_paused: bool = False
) -> Literal["", "switched_off", "paused"]:
    """The reason to stop, between the committed attempt and the provider's call; empty: none.
    What a person takes back (`undoes`), and what Remit does for itself, needs no allowed action of
    the agent."""
    if stops.switched_off:
        return "switched_off"
    forbidden = {"never"} if undoes else {"never", "draft_only"}
    permitted = undoes or stops.mode in PERMITTING - forbidden
    paused = stops.paused and not while_paused
    return "" if permitted and not paused and not stops.limits & forbidden else "paused"
