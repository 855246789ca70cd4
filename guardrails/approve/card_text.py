"""A card as plain lines, the same wherever it is shown: what decides first, words below it."""

from collections.abc import Iterator

from guardrails.approve.speaking import fill
from guardrails.contracts.cards import ApprovalCard, CardValue

CHANGES = "Changes %(what)s: from %(before)s to %(after)s"


def lines(card: ApprovalCard) -> Iterator[str]:
    """What a person is asked, line by line, in the order in which it matters: what would be done
    to whom; what is new about that; what others get to see; why it is asked; every value with
    where it comes from; the user's words; and last what the agent says."""
    yield card.heading
    if card.about:
        yield fill("Somebody's words for it: %(text)s", text=card.about)
    if card.yeses:
        yield card.yeses
    targets = [one for one in card.values if one.is_target]
    yield from (_value(one) for one in sorted(targets, key=lambda one: not one.is_new))
    for one in card.exposures:
        yield from one.lines
    for what, before, after in card.differences:
        yield fill(CHANGES, what=what, before=before, after=after)
    yield from card.side_effects
    if card.reason:
        yield fill("Why you are asked: %(text)s", text=card.reason)
    yield from (_value(one) for one in card.values if not one.is_target)
    if card.user_said:
        yield fill("The user's words: %(text)s", text=card.user_said)
    if card.agent_said:
        yield fill("The agent says (not evidence): %(text)s", text=card.agent_said)


def render(card: ApprovalCard) -> str:
    """The lines as one text. What somebody wrote over several lines goes on further in, so that
    none of its own can pass for one of the card's."""
    return "\n".join("\n    ".join(line.splitlines()) for line in lines(card))


def _value(one: CardValue) -> str:
    return f"{one.label}: {one.text} ({one.provenance})"
