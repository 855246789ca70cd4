"""No mail makes the agent write to a stranger, be it a draft. Pure."""

from guardrails.contracts import Check
from guardrails.decide.checks.case import Case
from guardrails.facts.facts import Facts


def strangers(case: Case, facts: Facts) -> None:
    """What an inbound item sets off is for nobody to whom the user never wrote, whatever else lets
    that receiver in (`guardrails.gather.strangers`)."""
    if not (case.from_content and case.receivers):
        return
    found = case.strangers(facts)
    if found is None:
        case.refuse("facts_unavailable", "strangers")
    for target in case.receivers:
        case.require(
            "receiver_stranger",
            Check(
                name=f"no stranger {target.path}",
                passed=target.value not in found,
                detail=f"“{target.value}” ({target.place})",
            ),
        )
