"""Whether the user's words mean the object at hand, and who let people into it."""

from collections.abc import Iterable
from dataclasses import replace

from django.utils import timezone

from guardrails.actions.base import AnyAction, Arguments
from guardrails.contracts import ActionRequest
from guardrails.decide.provenance import SOURCES
from guardrails.facts.belonging import let_in
from guardrails.facts.facts import Facts
from guardrails.facts.people import Person
from guardrails.gather.let_in import let_in_by_agent
from guardrails.gather.lookups import namesakes
from guardrails.gather.meant import asks_for, meant_by
from guardrails.words.heard import hear
from guardrails.words.typed import named, typed
from integrations.ports.account import Reader


def is_asked_for(request: ActionRequest, action: AnyAction, arguments: Arguments) -> bool:
    """Whether the user's words may mean the object by its people, so that these are looked up."""
    words = hear(request.origin).words
    may_mean = "O" in SOURCES[request.origin.trigger]
    return (
        may_mean
        and not typed(action.object_id(arguments) or "", words)
        and asks_for(action.object_kind, words)
    )


def look_up(
    request: ActionRequest,
    reader: Reader,
    action: AnyAction,
    arguments: Arguments,
    facts: Facts,
    *,
    reaches: bool,
    people: Iterable[Person],
) -> Facts:
    """The facts with all that tells how the user named the object, and, where the action
    `reaches` people, whom the agent let into it. `people` are those whom the words may mean. The
    same facts where nobody has any words, or there is no object. Raises ProviderError."""
    object_id = action.object_id(arguments)
    if "O" not in SOURCES[request.origin.trigger] or not object_id:
        return facts
    words, kind = hear(request.origin).words, action.object_kind
    # All of a series have one title: it means none of them alone.
    is_one_of_series = facts.event is not None and facts.event.series_id is not None
    if (facts.is_own or facts.alert) and named(facts.object_title, words) and not is_one_of_series:
        facts = replace(facts, namesakes=namesakes(reader, kind, facts.object_title))
    if not typed(object_id, words) and (facts.is_own or kind != "event"):
        meant = meant_by(
            request,
            reader,
            kind=kind,
            object_id=object_id,
            title=facts.object_title,
            event=facts.event,
            now=timezone.now(),
            people=people,
        )
        facts = replace(facts, meant_by=meant)
    if reaches and let_in(facts, kind):
        # Mail that the agent sent is known otherwise (guardrails.gather.own_mail).
        by_agent = () if kind == "email" else let_in_by_agent(request, object_id)
        facts = replace(facts, let_in_by_agent=by_agent)
    return facts
