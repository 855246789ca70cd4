"""Whether a whole series of events is at stake though nobody spoke of one. Pure."""

from guardrails.decide.checks.case import Case
from guardrails.words.series import says_series


def is_unsaid(case: Case) -> bool:
    """Whether the action concerns every one of a series, or all later ones, and the user's words
    do not say so: they may have meant one."""
    event = case.facts.event if case.facts is not None else None
    if event is None or case.action.object_kind != "event":
        return False
    return bool(event.recurrence or event.this_and_future) and not says_series(case.words)
