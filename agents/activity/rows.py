"""A row of the activity in words: who, about what, what was done, asked, refused or left alone,
and why, with ways to all that stands behind it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext

from agents.activity.offers import Offered, offers
from agents.activity.outcomes import COLOURS, Outcome
from agents.activity.reasons import ending_of, why_nothing
from agents.activity.selection import CHAT, KINDS, REMINDER, kind_of, moment_of
from agents.answer.records import STATUS_WORDS, describe, sentence_of
from agents.journal.suggestions import load_rows, load_suggested
from agents.models import Message, Turn
from audit.contracts import ActionState
from audit.ledger import selectors, timeline
from guardrails.actions.registry import BY_NAME
from integrations.models import Delivery
from integrations.web.cursors import Place
from knowledge.models import Item

SHOWN_ACTIONS, TITLE_CHARS = 5, 140
STATUSES = {"blocked": "refused", "denied": "refused", "waiting": "pending", "pending": "under way"}
"""How an action stands by the ledger, in the words of an answer (`STATUS_WORDS`)."""

# The sentences of a turn, and what of it can be taken up.
Suggested = tuple[tuple[str, ...], tuple[Offered, ...]]


@dataclass(frozen=True, kw_only=True)
class Done:
    """One action: what it was, how it stands now, and why where it was not done."""

    what: str
    status: str
    colour: str
    why: str
    link: str


@dataclass(frozen=True, kw_only=True)
class Row:
    place: Place
    day: str
    time: str
    kind: str
    who: str
    title: str
    person: str
    outcome: str
    colour: str
    why: str
    suggested: tuple[str, ...] = ()
    offers: tuple[Offered, ...] = ()
    done: tuple[Done, ...]
    more: int
    link: str
    links: tuple[tuple[str, str], ...]


def render(
    found: Sequence[Delivery | Turn], *, organisation_id: UUID, zone: tzinfo = UTC
) -> list[Row]:
    """The rows in words, with times of the zone, and users by their ids. Six queries at most,
    however many rows."""
    deliveries = [row for row in found if isinstance(row, Delivery)]
    requests = [row for row in found if isinstance(row, Turn)]
    turns = [*requests, *(turn for row in deliveries if (turn := turn_of(row)))]
    items = _items(found)
    said = dict(
        Message.objects.filter(turn__in=requests, role=Message.Role.USER).values_list(
            "turn_id", "content"
        )
    )
    states = selectors.states_of_runs(
        tenant_id=organisation_id, run_ids=[str(turn.id) for turn in turns]
    )
    suggested = _suggested(turns)
    by_run: dict[str, list[ActionState]] = {}
    for one in states:
        by_run.setdefault(one.run_id, []).append(one)
    for id, earlier in _asked_before(turns, states, organisation_id=organisation_id).items():
        by_run.setdefault(id, []).extend(earlier)
    return [
        _delivery(row, items.get(_item_key(row)), by_run, suggested, zone)
        if isinstance(row, Delivery)
        else _request(row, said.get(row.id, ""), by_run, zone)
        if row.kind == CHAT
        else _reminder(row, items.get(_item_key(row)), by_run, zone)
        for row in found
    ]


def named(page: Iterable[Row], names: Mapping[str, str]) -> list[Row]:
    """With users by these names instead of their ids."""
    return [
        replace(
            row,
            person=names.get(row.person, row.person),
            who=names.get(row.who, row.who) if row.who == row.person else row.who,
        )
        for row in page
    ]


def _asked_before(
    turns: Iterable[Turn], states: Iterable[ActionState], *, organisation_id: UUID
) -> dict[str, list[ActionState]]:
    """By turn, what it wanted and an earlier one had asked a person for: it is done once, and so
    it stands in the ledger with that one alone."""
    known = {one.action_id: one for one in states}
    wanted = {
        turn: {UUID(one["action_id"]) for one in turn.actions}
        for turn in turns
        if any(one["status"] == "pending" for one in turn.actions)
    }
    known |= selectors.states_of_actions(
        tenant_id=organisation_id, action_ids=set().union(*wanted.values()).difference(known)
    )
    return {
        str(turn.id): [
            known[id] for id in sorted(ids & known.keys()) if known[id].run_id != str(turn.id)
        ]
        for turn, ids in wanted.items()
    }


def _suggested(turns: Iterable[Turn]) -> Mapping[UUID, Suggested]:
    ids = [turn.id for turn in turns if turn.ending == Turn.Ending.SUGGESTED]
    if not ids:
        return {}
    rows = load_rows(ids)
    return {id: (said, offers(rows.get(id, ()))) for id, said in load_suggested(ids).items()}


def turn_of(delivery: Delivery) -> Turn | None:
    return getattr(delivery, "turn", None)


def _item_key(row: Delivery | Turn) -> tuple[UUID | None, str]:
    """Of the item that a row is about."""
    source_id = row.source_id if isinstance(row, Delivery) else row.item_source_id
    return row.account_id, source_id


def _items(found: Iterable[Delivery | Turn]) -> dict[tuple[UUID | None, str], Item]:
    keys = {key for key in map(_item_key, found) if all(key)}
    rows = Item.objects.filter(
        account_id__in={account_id for account_id, _ in keys},
        source_id__in={source_id for _, source_id in keys},
    ).only("account_id", "source_id", "title", "sender_name", "sender_address")
    return {(row.account_id, row.source_id): row for row in rows}


def _delivery(
    row: Delivery,
    item: Item | None,
    by_run: Mapping[str, Sequence[ActionState]],
    suggested: Mapping[UUID, Suggested],
    zone: tzinfo,
) -> Row:
    turn = turn_of(row)
    said, offered = suggested.get(turn.id, ((), ())) if turn else ((), ())
    done, more = _done(turn, by_run)
    page = reverse("admin:integrations_delivery_change", args=[row.id])
    turn_page = reverse("admin:agents_turn_change", args=[turn.id]) if turn else ""
    item_page = reverse("admin:knowledge_item_change", args=[item.id]) if item else ""
    sender = item and (item.sender_name or item.sender_address)
    return _row(
        row,
        zone=zone,
        kind=KINDS.get(kind_of(row.source), "Item"),
        who=sender or "",
        title=(item.title if item else "") or row.source_id,
        person=row.account.external_user_id if row.account else "",
        why="" if done or said else why_nothing(row, turn),
        suggested=tuple(map(timeline.reveal, said)),
        offers=offered,
        done=done,
        more=more,
        link=turn_page or page,
        links=(("Item", item_page), ("Turn", turn_page), ("Delivery", page)),
    )


def _request(
    row: Turn, said: str, by_run: Mapping[str, Sequence[ActionState]], zone: tzinfo
) -> Row:
    done, more = _done(row, by_run)
    page = reverse("admin:agents_turn_change", args=[row.id])
    talk = reverse("admin:agents_conversation_change", args=[row.conversation_id])
    return _row(
        row,
        zone=zone,
        kind=KINDS[CHAT],
        who=row.external_user_id,
        title=" ".join(said.split()) or gettext("Decided about what waited."),
        person=row.external_user_id,
        why="" if done else ending_of(row),
        done=done,
        more=more,
        link=page,
        links=(("Conversation", talk), ("Turn", page)),
    )


def _reminder(
    row: Turn, item: Item | None, by_run: Mapping[str, Sequence[ActionState]], zone: tzinfo
) -> Row:
    done, more = _done(row, by_run)
    page = reverse("admin:agents_turn_change", args=[row.id])
    item_page = reverse("admin:knowledge_item_change", args=[item.id]) if item else ""
    return _row(
        row,
        zone=zone,
        kind=KINDS[REMINDER],
        who="",
        title=(item.title if item else "") or row.item_source_id,
        person=row.external_user_id,
        why=gettext("Nobody has answered it."),
        done=done,
        more=more,
        link=page,
        links=(("Item", item_page), ("Turn", page)),
    )


def _row(
    row: Delivery | Turn, *, zone: tzinfo, links: Iterable[tuple[str, str]], **words: Any
) -> Row:
    at: datetime = moment_of(row).astimezone(zone)
    outcome = Outcome(row.outcome)  # type: ignore[union-attr]  # annotated by agents.activity.outcomes
    words["title"] = timeline.reveal(Truncator(words["title"]).chars(TITLE_CHARS))
    words["who"] = timeline.reveal(words["who"])
    return Row(
        place=Place(at=at, id=row.pk),
        day=f"{at:%A %-d %B %Y}",
        time=f"{at:%H:%M}",
        outcome=outcome.label,
        colour=COLOURS[outcome],
        links=tuple((name, link) for name, link in links if link),
        **words,
    )


def _done(
    turn: Turn | None, by_run: Mapping[str, Sequence[ActionState]]
) -> tuple[tuple[Done, ...], int]:
    """What its agent asked for, as it stands in the ledger now, and how much more there was."""
    if turn is None:
        return (), 0
    words = {str(one.get("action_id")): one for one in turn.actions}
    rows = [one for one in by_run.get(str(turn.id), ()) if one.action_type in BY_NAME]
    return tuple(_action(one, words.get(str(one.action_id))) for one in rows[:SHOWN_ACTIONS]), max(
        0, len(rows) - SHOWN_ACTIONS
    )


def _action(one: ActionState, words: Mapping[str, Any] | None) -> Done:
    status = STATUSES.get(one.status, one.status)
    refused = status == "refused"
    if status == "pending" and words and words["status"] == "held":
        status = "held"
    return Done(
        what=timeline.reveal(describe(words)) if words else gettext(BY_NAME[one.action_type].title),
        status=gettext(STATUS_WORDS.get(status, status)),
        colour=timeline.COLOURS.get(one.status, ""),
        why=timeline.reveal(sentence_of(words)) if words and refused else "",
        link=reverse("admin:audit_executedagentaction_changelist") + f"?q={one.action_id}",
    )
