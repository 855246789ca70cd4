"""Which objects others get to see by an action, how each was named and who wrote it. Pure.

Whom an action reaches is one question, what they see by it another. An object that the user did
not name, or that the agent wrote to, leaves by no allowed action without a person's word, whatever
it says of receivers.
"""

from collections.abc import Iterator, Set
from typing import NamedTuple

from guardrails.actions.base import AnyAction, Arguments
from guardrails.contracts import Check
from guardrails.decide.checks.case import Case
from guardrails.decide.provenance import THE_USERS, Provenance, strongest
from guardrails.facts.exposure import NAMED, OF_AGENT, TAINTS, Exposure
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.text import quote, visible
from guardrails.words.roles import says_role


class Cause(NamedTuple):
    """Why a person must be asked: a code of `guardrails.facts.reasons`, and it in words."""

    code: str
    words: str


def expose(case: Case, action: AnyAction, arguments: Arguments, facts: Facts) -> None:
    """Sets what others get to see, once it is known where every value comes from."""
    found = action.exposes(arguments, facts)
    if not found:
        return
    own = action.object_id(arguments)
    named = _how_named(case.sources.get(action.object_field or "", frozenset()))
    attached = {
        document_id: _how_named(case.sources.get(f"attachments[{index}]", frozenset()))
        for index, document_id in enumerate(action.attached(arguments))
    }
    exposures = []
    for one in found:
        author = facts.author(one.id)
        exposures.append(
            one._replace(
                named=named if one.id == own else attached.get(one.id, one.named),
                taint=author.taint,
                placed=author.placed,
            )
        )
    case.exposures = tuple(exposures)


def check_roles(case: Case) -> None:
    """Nobody may do more with an object than read it, unless the user's words say so; neither a
    quotation nor the object's own title says anything."""
    field = case.action.role_field
    title = case.facts.object_title if case.facts else ""
    without_title = case.heard.spoken.replace(title, "_") if title else case.heard.spoken
    chosen = case.sources.get(field or "", frozenset())
    for one in case.exposures:
        for reader in one.newcomers if field and not chosen & THE_USERS else ():
            case.require(
                "role_not_said",
                Check(
                    name=f"role of {reader.address}",
                    passed=says_role(reader.role, case.heard.spoken)
                    and says_role(reader.role, without_title),
                    detail=f"“{reader.role}” for {visible(reader.address)}",
                ),
            )


def causes(case: Case) -> Iterator[Cause]:
    """Why a person must see what leaves first. Nothing where the user named it and the agent wrote
    nothing of it."""
    for one in case.exposures:
        if one.taint in OF_AGENT and not one.adds:
            yield Cause(
                "exposure_of_agent",
                phrase(
                    "%(what)s was %(written)s.",
                    what=_in_words(one),
                    written=phrase(TAINTS[one.taint]),
                ),
            )
        elif one.is_unspoken and not _is_let_out(case, one):
            yield Cause(
                "exposure_not_named",
                phrase("Nobody named %(what)s in this request.", what=_in_words(one)),
            )


def _is_let_out(case: Case, exposure: Exposure) -> bool:
    """Whether the allowed action (not the ceiling) lets what lies there go, named or not. What the
    agent put there does not lie there."""
    conditions = case.allowed_action.conditions if case.allowed_action else ()
    return not exposure.placed and any(one.lets_out(exposure) for one in conditions)


def _how_named(sources: Set[Provenance]) -> Provenance:
    """How the user named the object; X: not at all, whatever else is known of it."""
    return strongest(sources & NAMED)


def _in_words(exposure: Exposure) -> str:
    title = quote(exposure.title, empty=exposure.id)
    return phrase(f"the {exposure.kind} %(title)s", title=title)
