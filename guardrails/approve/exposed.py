"""What others get to see by an action, as its card shows it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from guardrails.contracts import CardExposure
from guardrails.decide.provenance import IN_WORDS
from guardrails.facts.exposure import NAMED, PASSAGE, TAINTS
from guardrails.facts.text import quote, visible

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
        f"{visible(address)} as {visible(role)}{_formerly(before.get(address))}"
        for address, role in after.items()
        if before.get(address) != role
    ]
    is_named = row["named"] in NAMED
    found = CardExposure(
        kind=row["kind"],
        title=quote(row["title"], empty=row["id"]),
        owner=visible(row["owner"]),
        newcomers=tuple(newcomers),
        readers=tuple(f"{visible(address)} ({visible(role)})" for address, role in before.items()),
        adds=row["adds"],
        named=IN_WORDS[row["named"]] if is_named else NOT_NAMED,
        is_new=not is_named,
        written=TAINTS.get(row["taint"], TAINTS["unknown"]),
        sensitive=tuple(SENSITIVE.get(one, one) for one in row["sensitive"]),
        passage=visible(row["passage"]),
        chars=row["chars"],
        lines=(),
    )
    return replace(found, lines=tuple(_lines(found)))


def _formerly(role: str | None) -> str:
    return f" (until now {visible(role)})" if role else ""


def _lines(one: CardExposure) -> Iterator[str]:
    """The exposure line by line, what matters most first."""
    if one.adds:
        yield f"{_few(one.readers)} will read what is put into the {one.kind} {one.title}."
    else:
        yield f"{_few(one.newcomers) or 'Nobody new'} will see the {one.kind} {one.title}."
    if one.sensitive:
        yield f"It holds {', '.join(one.sensitive)}."
    if not one.adds:
        yield f"Who sees it now: {_few(one.readers) or 'nobody else'}."
    owner = f"It belongs to {one.owner}; it was" if one.owner else "It was"
    yield f"{one.named}. {owner} {one.written}."
    cut = f" (the beginning; {one.chars} characters in all)" if len(one.passage) >= PASSAGE else ""
    if one.passage:
        yield f"What they read{cut}: {one.passage}"


def _few(people: Sequence[str]) -> str:
    more = len(people) - MOST_READERS
    listed = ", ".join(people[:MOST_READERS])
    return f"{listed} and {more} more" if more > 0 else listed
