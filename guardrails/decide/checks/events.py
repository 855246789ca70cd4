"""What of an event is at stake though the user's words do not say so: a whole series of it, or who
attends it. Pure.
"""

from collections.abc import Iterator

from guardrails.decide.checks.case import Case
from guardrails.decide.provenance import SPOKEN
from guardrails.words.removal import says_removal
from guardrails.words.series import says_series


def is_series_unsaid(case: Case) -> bool:
    """Whether the action concerns every one of a series, or all later ones, and the user's words
    do not say so: they may have meant one."""
    event = case.facts.event if case.facts is not None else None
    if event is None or case.action.object_kind != "event":
        return False
    return bool(event.recurrence or event.this_and_future) and not says_series(case.heard.words)


def taken_off_unsaid(case: Case) -> Iterator[str]:
    """Those whom the action takes off the event, and of whom the user did not say that: an
    argument lists all who attend from then on, so who is missing in it hears that they need not
    come. Their name alone says nothing: “move my meeting with Tom” changes nothing for him."""
    event = case.facts.event if case.facts is not None else None
    staying = case.arguments.get("attendees")
    if event is None or staying is None:
        return
    remaining = {one.casefold() for one in staying}
    attending = {one.email.casefold() for one in event.attendees}
    is_said = says_removal(case.heard.spoken)
    for target in case.implied:
        address = target.value.casefold()
        named = is_said and case.sources.get(target.path, frozenset()) & SPOKEN
        if address in attending and address not in remaining and not named:
            yield target.value
