"""What others get to see by an action, as its card shows it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext

from guardrails.approve.speaking import fill
from guardrails.contracts.cards import CardExposure
from guardrails.decide.provenance import IN_WORDS
from guardrails.facts.exposure import NAMED, PASSAGE, TAINTS
from guardrails.facts.text import quote, visible

AS, FORMERLY = "%(who)s as %(role)s", "%(who)s as %(role)s (until now %(before)s)"
READ, SEEN, SEEN_BY_NOBODY = (
    "%(people)s will read what is put into the %(kind)s %(title)s.",
    "%(people)s will see the %(kind)s %(title)s.",
    "Nobody new will see the %(kind)s %(title)s.",
)
BELONGS, WRITTEN = (
    "%(named)s. It belongs to %(who)s; it was %(written)s.",
    "%(named)s. It was %(written)s.",
)
PASSAGE_CUT = "What they read (the beginning; %(number)s characters in all): %(text)s"
NOT_NAMED = "NEW: nobody named it in this request; the agent chose it"
MOST_READERS = 20
SENSITIVE = {
    "one_time_code": "a one-time code",
    "iban": "a bank account",
    "card": "a card number",
    "token": "a password or access token",
}


def in_cards(rows: Sequence[Mapping[str, Any]]) -> tuple[CardExposure, ...]:
    """What an approval has kept, in words."""
    return tuple(map(_card, rows))


def _card(row: Mapping[str, Any]) -> CardExposure:
    before = {one["address"]: one["role"] for one in row["before"]}
    after = {one["address"]: one["role"] for one in row["after"]}
    newcomers = [
        _newcomer(address, role, before.get(address))
        for address, role in after.items()
        if before.get(address) != role
    ]
    is_named = row["named"] in NAMED
    found = CardExposure(
        kind=row["kind"],
        title=quote(row["title"], empty=row["id"]),
        owner=visible(row["owner"]),
        newcomers=tuple(newcomers),
        readers=tuple(f"{visible(address)} ({label(role)})" for address, role in before.items()),
        adds=row["adds"],
        named=gettext(IN_WORDS[row["named"]] if is_named else NOT_NAMED),
        is_new=not is_named,
        written=gettext(TAINTS.get(row["taint"], TAINTS["unknown"])),
        sensitive=tuple(gettext(SENSITIVE.get(one, one)) for one in row["sensitive"]),
        passage=visible(row["passage"]),
        chars=row["chars"],
        lines=(),
    )
    return replace(found, lines=tuple(_lines(found)))


def label(word: str) -> str:
    """What a provider calls a role, for people; one that Remit does not know as it is."""
    return gettext(visible(word)) if word else ""


def _newcomer(address: str, role: str, before: str | None) -> str:
    template = FORMERLY if before else AS
    return fill(template, who=visible(address), role=label(role), before=label(before or ""))


def _lines(one: CardExposure) -> Iterator[str]:
    """The exposure line by line, what matters most first."""
    about = {"kind": gettext(one.kind), "title": one.title}
    if one.adds:
        yield fill(READ, people=_few(one.readers), **about)
    elif one.newcomers:
        yield fill(SEEN, people=_few(one.newcomers), **about)
    else:
        yield fill(SEEN_BY_NOBODY, **about)
    if one.sensitive:
        yield fill("It holds %(kinds)s.", kinds=", ".join(one.sensitive))
    if not one.adds:
        readers = _few(one.readers) or gettext("nobody else")
        yield fill("Who sees it now: %(people)s.", people=readers)
    template = BELONGS if one.owner else WRITTEN
    yield fill(template, named=one.named, who=one.owner, written=one.written)
    if one.passage:
        is_cut = len(one.passage) >= PASSAGE
        template = PASSAGE_CUT if is_cut else "What they read: %(text)s"
        yield fill(template, text=one.passage, number=one.chars)


def _few(people: Sequence[str]) -> str:
    more = len(people) - MOST_READERS
    listed = ", ".join(people[:MOST_READERS])
    return (
        fill("%(people)s and %(number)s more", people=listed, number=more) if more > 0 else listed
    )
