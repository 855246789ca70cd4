"""What agents suggested to people: sentences in the journal of their turns, and a row for each
thing that a person can take up."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.formats import date_format
from django.utils.translation import gettext, gettext_noop

from agents.models import Suggestion, ToolCall, Turn
from guardrails.facts.text import quote
from knowledge.models import Item

ANSWER, TRIAGE = "suggest_answer", "suggest_triage"  # the tools (`agents.tools.suggest`)
SUGGESTED = "suggested"  # the sentences in a result
State, Kind = Suggestion.State, Suggestion.Kind
OF_INVITATIONS = (Kind.ANSWER, Kind.TIME)
ANSWERS = {
    "accepted": gettext_noop("Accept"),
    "tentative": gettext_noop("Say “maybe”"),
    "declined": gettext_noop("Decline"),
}
PROPOSING = gettext_noop("%(answer)s and propose %(day)s, %(start)s to %(end)s")
VALUES = {
    Kind.COMPONENT: gettext_noop("Component: %(value)s"),
    Kind.LABEL: gettext_noop("Label: %(value)s"),
    Kind.PRIORITY: gettext_noop("Priority: %(value)s"),
    Kind.DUPLICATE: gettext_noop("It repeats %(value)s"),
}
INVITED = gettext_noop("%(who)s invites you, %(day)s, %(start)s to %(end)s.")
NEVER_WRITTEN = gettext_noop("You have never written to them.")
COLLIDES = gettext_noop("It collides with %(title)s, %(day)s, %(start)s to %(end)s.")
NOTHING_ELSE = gettext_noop("You have nothing else then.")
FREE = gettext_noop("You are free at the other time.")
FREE_THEN = gettext_noop("You are free %(day)s, %(start)s to %(end)s.")
PRIORITY_NOW = gettext_noop("Its priority is “%(value)s” now.")
LACKING = {
    Kind.COMPONENT: gettext_noop("It has no component yet."),
    Kind.LABEL: gettext_noop("It has no label yet."),
    Kind.DUPLICATE: gettext_noop("Both say much the same."),
}
ONLY_SAID = gettext_noop("Remit links no issues there. Link them there yourself, if it is so.")
Times = tuple[datetime, datetime]


@dataclass(frozen=True, kw_only=True)
class Seen:
    """The item as code looked at it: what an action calls it, its revision, what suggestions
    about it rest on, and the reasons for them beside what it is like itself."""

    object_id: str
    revision: str
    basis: str
    reasons: Mapping[str, Any] = field(default_factory=dict)

    def saying(self, **reasons: Any) -> "Seen":
        """With these reasons, too."""
        return replace(self, reasons={**self.reasons, **reasons})


@dataclass(frozen=True, kw_only=True)
class Offer:
    """One thing to be suggested; `about` is in a stranger's words. `is_only_said`: nobody can take
    it up here."""

    kind: Suggestion.Kind
    value: Mapping[str, str]
    about: str = ""
    basis: str | None = None  # where it rests on something of its own
    is_only_said: bool = False


def keep(turn_id: UUID, item_id: str, seen: Seen, offers: Sequence[Offer]) -> None:
    """The suggestions of a turn, in place of earlier ones of its own that nobody has decided."""
    with transaction.atomic():
        turn = Turn.objects.select_for_update().get(id=turn_id)
        rows = Suggestion.objects.filter(turn=turn)
        rows.filter(state=State.OPEN, action_id=None).delete()
        if turn.account_id is None or rows.exists():
            return
        Suggestion.objects.bulk_create(
            Suggestion(
                account_id=turn.account_id,
                turn=turn,
                position=position,
                item_source_id=item_id,
                object_id=seen.object_id,
                kind=one.kind,
                value=dict(one.value),
                about=one.about[:300],
                basis=seen.basis if one.basis is None else one.basis,
                revision=seen.revision,
                reasons={**seen.reasons, **({"is_only_said": True} if one.is_only_said else {})},
            )
            for position, one in enumerate(offers)
        )


def retire(rows: Iterable[Suggestion]) -> int:
    """Those of them that are open are out of date from now on; how many were."""
    keys = [row.pk for row in rows]
    return Suggestion.objects.filter(pk__in=keys, state=State.OPEN).update(state=State.OUT_OF_DATE)


def load_rows(turn_ids: Iterable[UUID]) -> Mapping[UUID, list[Suggestion]]:
    """The suggestions of these turns, in order. One query."""
    found: dict[UUID, list[Suggestion]] = {}
    for row in Suggestion.objects.filter(turn_id__in=[*turn_ids]):
        found.setdefault(row.turn_id, []).append(row)
    return found


def load_titles(rows: Iterable[Suggestion]) -> Mapping[tuple[UUID, str], str]:
    """What the items are called, in strangers' words, by account and id. One query."""
    rows = list(rows)
    found = Item.objects.filter(
        account_id__in={row.account_id for row in rows},
        source_id__in={row.item_source_id for row in rows},
    ).values_list("account_id", "source_id", "title")
    return {(account_id, source_id): title for account_id, source_id, title in found}


def say(row: Suggestion) -> str:
    """What taking it up would do, in the language of who reads it."""
    value: Mapping[str, Any] = row.value
    if row.kind == Kind.ANSWER:
        return gettext(ANSWERS[value["answer"]])
    if row.kind == Kind.TIME:
        return gettext(PROPOSING) % {"answer": gettext(ANSWERS[value["answer"]]), **_when(value)}
    said = gettext(VALUES[Kind(row.kind)]) % {"value": next(iter(value.values()))}
    return f"{said}: {quote(row.about)}" if row.about else said


def reasons_of_invitation(
    *, who: str, times: Times, collisions: Sequence[tuple[str, Times]], is_stranger: bool
) -> Mapping[str, Any]:
    """To be kept. Times are in the user's zone; `who` and titles in strangers' words."""
    return {
        "who": who,
        **span(times),
        "collisions": [{"title": title, **span(taken)} for title, taken in collisions],
        "is_stranger": is_stranger,
    }


def explain(row: Suggestion) -> list[str]:
    """Why it is suggested, in the language of who reads it: what code found, and no word of a
    model's. Empty where that was not kept."""
    if row.kind == Kind.PRIORITY:
        return [gettext(PRIORITY_NOW) % {"value": row.basis}]
    if row.kind not in OF_INVITATIONS:
        said = [gettext(LACKING[Kind(row.kind)])]
        return [*said, gettext(ONLY_SAID)] if row.is_only_said else said
    if not row.reasons:
        return []
    reasons: Mapping[str, Any] = row.reasons
    said = [gettext(INVITED) % {"who": quote(reasons["who"]), **_when(reasons)}]
    if reasons["is_stranger"]:
        said.append(gettext(NEVER_WRITTEN))
    said += [
        gettext(COLLIDES) % {"title": quote(one["title"]), **_when(one)}
        for one in reasons["collisions"]
    ]
    if not reasons["collisions"]:
        said.append(gettext(NOTHING_ELSE))
    said += [gettext(FREE_THEN) % _when(one) for one in reasons.get("free", ())]
    return [*said, gettext(FREE)] if row.kind == Kind.TIME else said


def span(times: Times) -> dict[str, str]:
    """As arguments of the action and reasons have it."""
    return {"start": times[0].isoformat(), "end": times[1].isoformat()}


def _when(value: Mapping[str, Any]) -> dict[str, str]:
    begins, ends = (datetime.fromisoformat(value[name]) for name in ("start", "end"))
    day = date_format(begins, "D j F")
    return {"day": day, "start": f"{begins:%H:%M}", "end": f"{ends:%H:%M}"}


def load_suggested(turn_ids: Iterable[UUID]) -> Mapping[UUID, tuple[str, ...]]:
    """The sentences of each turn that suggested anything; of several suggestions the last. One
    query."""
    calls = ToolCall.objects.filter(
        turn_id__in=[*turn_ids], name__in=(ANSWER, TRIAGE), result__success=True
    ).order_by("step_id", "position")
    return {
        turn_id: tuple(map(str, result["data"].get(SUGGESTED, ())))
        for turn_id, result in calls.values_list("turn_id", "result")
        if result
    }
