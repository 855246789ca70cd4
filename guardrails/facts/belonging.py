"""Who belongs to an object of the user's own: whom they, or somebody of their organisation, let in.
Pure.

Attendees of an event that the user made, readers of a document that they own, and those who write
to each other in a thread that they are in. Who was let in by a stranger, by nobody knows whom, or
by the agent of its own accord does not belong.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from guardrails.facts.facts import Facts, ObjectKind
from guardrails.facts.phrases import phrase
from guardrails.facts.targets import address_or_none


def let_in(facts: Facts, kind: ObjectKind | None) -> Mapping[str, frozenset[str]]:
    """Everybody whom somebody let into the object, with who did, as the provider tells. Nobody
    where it is not the user's own; for mail, where the user is not in the thread."""
    if kind == "event" and facts.event and facts.is_own:
        return _plain((one.email, one.added_by) for one in facts.event.attendees)
    if kind == "document" and facts.document and facts.is_own:
        return _plain(facts.document.shared_by.items())
    if kind == "email" and address_or_none(facts.own_address) in facts.participants:
        by_user = ((one, facts.own_address) for one in facts.written_to)
        by_others = (
            (one.address, adder)
            for one in facts.summarised_thread.people
            for adder in one.let_in_by
        )
        return _plain((*by_user, *by_others))
    return {}


def belonging(
    facts: Facts, kind: ObjectKind | None, *, is_inside: Callable[[str], bool]
) -> frozenset[str]:
    """The plain addresses of those who belong to the object. `is_inside` says whether a plain
    address is the organisation's. A mailing list is nobody."""
    if facts.let_in_by_agent is None:
        return frozenset()  # nobody looked who let them in
    strange = facts.lists.union(facts.let_in_by_agent)
    return frozenset(
        one
        for one, by in let_in(facts, kind).items()
        if one.lower() not in strange and any(map(is_inside, by))
    )


def how_let_in(facts: Facts, kind: ObjectKind | None, address: str) -> str:
    """Who let somebody into the user's own event or document, in words; empty where that is no
    question: it is not theirs, or nobody is said to have let them in. Mail says it itself."""
    by = None if kind == "email" else let_in(facts, kind).get(address)
    if by is None:
        return ""
    if address.lower() in (facts.let_in_by_agent or ()):
        return phrase("NEW: let in by the agent, unasked")
    if not by:
        return phrase("NEW: nobody knows who let them in")
    if address_or_none(facts.own_address) in by:
        return phrase("already there, let in by the user")
    return phrase("NEW: let in by %(people)s", people=", ".join(sorted(by)))


def _plain(pairs: Iterable[tuple[str, str]]) -> Mapping[str, frozenset[str]]:
    """By plain address, the plain addresses of those who let them in."""
    found: dict[str, set[str]] = defaultdict(set)
    for text, by in pairs:
        if address := address_or_none(text):
            found[address] |= {plain for plain in (address_or_none(by),) if plain}
    return {address: frozenset(by) for address, by in found.items()}
