"""“What is the status of …?”, “Who wrote …?”, “When is …?”: a fact of one item, as its source
gives it."""

from collections.abc import Sequence
from datetime import datetime

from sandbox.offline_model.language import listed, quoted
from sandbox.offline_model.rules import dates
from sandbox.offline_model.rules.asked import Asked
from sandbox.offline_model.rules.concepts import item_text, share, weights
from sandbox.offline_model.rules.wording import name_of, say
from sandbox.offline_model.transcript import Json, as_text, sender_of

SURE = 0.7  # so much of what the question is about must stand in an item that answers it
OF_TYPE = {
    "status": ("issue",),
    "is_open": ("issue",),
    "priority": ("issue",),
    "assignee": ("issue",),
    "reporter": ("issue",),
    "due_date": ("issue",),
    "attendees": ("event",),
    "organiser": ("event",),
}
# What an event is about may be an hour of its own (“when was it cancelled?”): its name says all.
EVENT_FACTS = ("begins", "lasts", "place", "attendees", "organiser")
SURE_OF_EVENT = 0.9
ENDED = ("done", "closed", "resolved", "cancelled", "canceled")
MOST_WRITERS = 3


def fact_of(asked: Asked) -> tuple[str, tuple[str, ...]]:
    """Which fact of which kinds of items answers it; no fact where none does."""
    if asked.fact == "updated":
        return "updated", asked.types
    if asked.fact:
        named = set(asked.types) & set(OF_TYPE[asked.fact])
        return asked.fact, tuple(named) or OF_TYPE[asked.fact]
    if asked.asks_writer:
        return "sender", asked.types or ("email", "message")
    if asked.asks_when_written:
        return "sent", asked.types or ("email", "message")
    if asked.kind == "when":
        return "begins", ("event",) if "event" in asked.types else ()
    if asked.kind == "where":
        return "place", ("event",) if "event" in asked.types else ()
    if asked.kind == "how_long":
        return "lasts", ()
    return "", ()


def needed(fact: str) -> float:
    """How much of what it is about an item must hold to answer with this fact."""
    return SURE_OF_EVENT if fact in ("begins", "lasts", "place") else SURE


def meant(asked: Asked, items: Sequence[Json], *, sure: float = SURE) -> list[Json]:
    """The items that hold enough of what it is about, the fullest first."""
    texts = [item_text(item) for item in items]
    weighed = weights(asked.concepts, texts, foreign=asked.german)
    rated = [(share(weighed, text), -rank, rank) for rank, text in enumerate(texts)]
    return [items[rank] for rated_by, _, rank in sorted(rated, reverse=True) if rated_by >= sure]


def answer(asked: Asked, fact: str, items: Sequence[Json], *, now: datetime) -> str | None:
    """What the sources say of the first of these items, or of several writers; None where the fact
    is none of an item of this kind. Of events alike it is the next one."""
    if fact in ("begins", "lasts", "place"):
        items = [item for item in items if item.get("type") == "event"]
    if not items:
        return None
    item = _next_one(items, now) if fact in EVENT_FACTS and not asked.keys else items[0]
    if fact == "sender" and not asked.keys:
        return _writers(asked.german, items)
    found = _said(asked.german, fact, item)
    return found if found or fact in ("sender", "sent") else None


def _next_one(items: Sequence[Json], now: datetime) -> Json:
    """Of items with the title of the first, the one that begins next; else the latest."""
    alike = [one for one in items if one.get("title") == items[0].get("title")]
    begins = [(dates.moment(one.get("date")), n) for n, one in enumerate(alike)]
    timed = sorted((when, n) for when, n in begins if when)
    coming = [n for when, n in timed if when >= now]
    return alike[coming[0] if coming else timed[-1][1]] if timed else items[0]


def _said(german: bool, fact: str, item: Json) -> str | None:
    kind = as_text(item.get("type"))
    if kind not in OF_TYPE.get(fact, (kind,)):
        return None
    about = {"title": title_of(item), "cite": cite(item)}
    value = _value(german, fact, item)
    if fact == "is_open":
        status = as_text(item.get("status"))
        is_open = status.casefold() not in ENDED
        return say(german, "is_open" if is_open else "is_not_open", value=quoted(status), **about)
    if fact == "assignee" and not value:
        return say(german, "nobody", **about)
    if not value:
        return say(german, "no_fact", fact=name_of(german, fact), **about)
    if fact == "sent":
        return say(german, "sent", who=_person(item), value=value, **about)
    if fact == "begins":
        ends = dates.moment(item.get("ends"))
        word = "bis" if german else "to"
        return say(
            german, "begins", value=value, until=f" {word} {ends:%H:%M}" if ends else "", **about
        )
    return say(german, fact, value=value, **about)


def _value(german: bool, fact: str, item: Json) -> str:
    if fact in ("reporter", "organiser", "sender"):
        return _person(item)
    if fact in ("updated", "sent", "begins"):
        when = dates.moment(item.get("date"))
        whole_day = item.get("all_day") is True
        return dates.show(when, german, clock=not whole_day) if when else ""
    if fact == "lasts":
        begins, ends = dates.moment(item.get("date")), dates.moment(item.get("ends"))
        return dates.length(begins, ends, german) if begins and ends else ""
    if fact == "attendees":
        people = item.get("attendees")
        return (
            listed([quoted(as_text(one)) for one in people][:10])
            if isinstance(people, list)
            else ""
        )
    return quoted(as_text(item.get("location" if fact == "place" else fact)).strip())


def _writers(german: bool, items: Sequence[Json]) -> str | None:
    """Who wrote these, each person once."""
    lines: dict[str, str] = {}
    for item in items:
        who = _person(item)
        when = dates.moment(item.get("date"))
        if who and when and len(lines) < MOST_WRITERS:
            date = dates.show(when, german)
            about = {"title": title_of(item), "cite": cite(item)}
            lines.setdefault(who, say(german, "sender", value=who, when=date, **about))
    return "\n".join(lines.values()) or None


def _person(item: Json) -> str:
    sender = sender_of(item)
    return quoted(as_text(sender.get("name")) or as_text(sender.get("address")))


def title_of(item: Json) -> str:
    return quoted(as_text(item.get("title")), limit=120)


def cite(item: Json) -> str:
    number = item.get("n")
    return f" [{number}]" if isinstance(number, int) else ""
