"""What an agent suggests to a person about an item that arrived. It does nothing: a person sees it
beside the item, and takes it up or not (`agents.inbound.taking_up`).

A stranger wrote the item, so that no word of the model's reaches the person: it chooses among
what was worked out before, and Remit says the choice in sentences of its own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from pydantic import Field

from agents.contracts import CallRecord, ToolResult, failure
from agents.journal import suggestions
from agents.journal.suggestions import ANSWER, SUGGESTED, TRIAGE, Kind, Offer, Seen
from agents.tools.base import Arguments, Tool, ToolContext
from guardrails.facts.text import quote

Answer = Literal["accept", "tentative", "decline"]
ANSWERS: Mapping[Answer, str] = {
    "accept": "Accept the invitation.",
    "tentative": "Answer the invitation with “maybe”.",
    "decline": "Decline the invitation.",
}
# As the action that answers takes them.
AS_ARGUMENT: Mapping[Answer, str] = {
    "accept": "accepted",
    "tentative": "tentative",
    "decline": "declined",
}
KINDS = {
    "component": Kind.COMPONENT,
    "label": Kind.LABEL,
    "priority": Kind.PRIORITY,
    "duplicate_of": Kind.DUPLICATE,
}


class SuggestAnswer(Arguments):
    answer: Answer
    propose: list[int] = Field(
        default_factory=list, max_length=3, description="Numbers of free times to propose instead."
    )


@dataclass(frozen=True, kw_only=True)
class Invitation:
    """What may be suggested about one: answers, and free times by their numbers, in words and
    in the user's zone. `takes_times`: who invites can hear of one; else the person alone hears
    when they are free. `because` are sentences about why, for the person."""

    seen: Seen
    answers: Sequence[Answer]
    free: Mapping[int, str] = field(default_factory=dict)
    times: Mapping[int, suggestions.Times] = field(default_factory=dict)
    takes_times: bool = True
    because: Sequence[str] = ()


class SuggestTriage(Arguments):
    component: str | None = None
    label: str | None = None
    priority: str | None = None
    duplicate_of: str | None = Field(default=None, description="The key of the same issue.")


@dataclass(frozen=True, kw_only=True)
class NewIssue:
    """What may be suggested about one: the project's own components, listed labels, priorities,
    and the issues that may be the same, by key with their summaries. `now` is what it has;
    `can_link`: Remit can say at the tracker which issue it repeats, else a person does."""

    seen: Seen
    now: Mapping[str, str] = field(default_factory=dict)
    components: Sequence[str] = ()
    labels: Sequence[str] = ()
    priorities: Sequence[str] = ()
    duplicates: Mapping[str, str] = field(default_factory=dict)
    can_link: bool = True

    @property
    def choices(self) -> Mapping[str, Sequence[str]]:
        """By argument, without those that there is nothing to choose for."""
        found: dict[str, Sequence[str]] = {
            "component": self.components,
            "label": self.labels,
            "priority": self.priorities,
            "duplicate_of": tuple(self.duplicates),
        }
        return {name: those for name, those in found.items() if those}


def offer_answer(invitation: Invitation) -> Tool[SuggestAnswer]:
    """The tool for this one invitation, which takes nothing but what may be suggested."""
    properties: dict[str, Any] = {"answer": {"type": "string", "enum": [*invitation.answers]}}
    if invitation.free:
        properties["propose"] = {
            "type": "array",
            "items": {"type": "integer", "enum": [*invitation.free]},
            "maxItems": 3,
        }
    return _tool(
        ANSWER,
        "Suggest how the user may answer. Nothing is sent.",
        SuggestAnswer,
        partial(_suggest_answer, invitation),
        {"type": "object", "properties": properties, "required": ["answer"]},
    )


def offer_triage(issue: NewIssue) -> Tool[SuggestTriage]:
    """The tool for this one issue, which takes nothing but what may be suggested."""
    return _tool(
        TRIAGE,
        "Suggest what the issue is to be given, and which issue it repeats. Nothing is changed.",
        SuggestTriage,
        partial(_suggest_triage, issue),
        {
            "type": "object",
            "properties": {
                name: {"type": "string", "enum": [*those]} for name, those in issue.choices.items()
            },
        },
    )


def is_suggestion(call: CallRecord) -> bool:
    """Whether a person is shown what it suggests."""
    return call.name in (ANSWER, TRIAGE) and bool(call.result and call.result.get("success"))


def _suggest_answer(
    invitation: Invitation, context: ToolContext, arguments: SuggestAnswer
) -> ToolResult:
    if arguments.answer not in invitation.answers:
        return _unknown("answer", invitation.answers)
    if not set(arguments.propose) <= set(invitation.free):
        return _unknown("propose", [*map(str, invitation.free)])
    free = [invitation.free[number] for number in dict.fromkeys(arguments.propose)]
    proposed = [f"Free instead: {'; '.join(free)}."] if free else []
    answer = AS_ARGUMENT[arguments.answer]
    # Who accepts proposes no other time.
    beside = answer if answer != "accepted" else AS_ARGUMENT["tentative"]
    times = [invitation.times[number] for number in dict.fromkeys(arguments.propose)]
    seen = invitation.seen
    if not invitation.takes_times:
        seen, times = seen.saying(free=[suggestions.span(one) for one in times]), []
    offers = [
        Offer(kind=Kind.ANSWER, value={"answer": answer}),
        *(
            Offer(kind=Kind.TIME, value={"answer": beside, **suggestions.span(one)})
            for one in times
        ),
    ]
    suggestions.keep(context.lease.turn_id, context.item_id, seen, offers)
    return _done([ANSWERS[arguments.answer], *invitation.because, *proposed])


def _suggest_triage(issue: NewIssue, context: ToolContext, arguments: SuggestTriage) -> ToolResult:
    given = arguments.model_dump(exclude_none=True)
    for name, value in given.items():
        if value not in issue.choices.get(name, ()):
            return _unknown(name, issue.choices.get(name, ()))
    if not given:
        return failure("INVALID_INPUT", "Name at least one thing to suggest.", recoverable=True)
    said = [
        f"{name.capitalize()}: {quote(value)}."
        for name, value in given.items()
        if name != "duplicate_of"
    ]
    if key := arguments.duplicate_of:
        said.append(f"It may repeat {key}: {quote(issue.duplicates[key])}.")
    offers = [
        Offer(
            kind=KINDS[name],
            value={name: value},
            about=issue.duplicates[value] if name == "duplicate_of" else "",
            basis=issue.now.get(name, ""),
            is_only_said=name == "duplicate_of" and not issue.can_link,
        )
        for name, value in given.items()
    ]
    suggestions.keep(context.lease.turn_id, context.item_id, issue.seen, offers)
    return _done(said)


def _done(sentences: Sequence[str]) -> ToolResult:
    return ToolResult(success=True, data={SUGGESTED: [*sentences]}, untrusted=True)


def _unknown(name: str, choices: Sequence[str]) -> ToolResult:
    known = ", ".join(choices) or "nothing"
    return failure("INVALID_INPUT", f"{name} takes one of: {known}.", recoverable=True)


def _tool(
    name: str,
    description: str,
    arguments: type[Any],
    run: Callable[[ToolContext, Any], ToolResult],
    form: Mapping[str, Any],
) -> Tool[Any]:
    return Tool(name=name, description=description, arguments=arguments, run=run, form=form)
