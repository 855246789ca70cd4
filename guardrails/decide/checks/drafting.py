"""A draft is a send that a person makes later. Its receivers are judged as those of a send, less
only the question: of whom nobody was asked, the draft says so. Pure.
"""

from collections.abc import Iterator

from guardrails.actions.base import AnyAction
from guardrails.decide.checks.case import Case
from guardrails.decide.checks.exposing import Cause
from guardrails.decide.provenance import THE_USERS, Provenance
from guardrails.facts import content, links, targets
from guardrails.facts.content import Content
from guardrails.facts.exposure import NAMED, Unasked
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import joined, phrase
from guardrails.facts.targets import Target

# Whom the user wrote to or means, or an operator or the organisation knows.
KNOWN: frozenset[Provenance] = frozenset({"U", "A", "N", "C", "D", "V"})


def draft(case: Case, action: AnyAction, facts: Facts) -> None:
    """Sets what a draft that nobody else sees says of those about whom nobody was asked: who
    provably takes part in the thread is marked, anybody else is left out."""
    if not action.is_draft or case.has("egress"):
        return
    strange = [one for one in case.receivers if not _is_known(case, facts, one)]
    if not strange:
        return
    conditions = case.allowed_action.conditions if case.allowed_action else ()
    ways = {one.unasked_receivers for one in conditions} - {""}
    marked = [
        one.value
        for one in strange
        if ("mark" in ways or one.path in case.authenticated) and "leave_out" not in ways
    ]
    left_out = [one.value for one in strange if one.value not in marked]
    case.unasked = Unasked(marked=tuple(marked), left_out=tuple(left_out))


def contents(case: Case) -> Iterator[Cause]:
    """Why a person must see a draft first: it holds a code, a card or the like, and is for
    somebody about whom nobody was asked; or the agent wrote a link or image into it that leads
    elsewhere, or HTML, which loads what it names as soon as somebody opens it."""
    if not case.action.is_draft or case.has("egress"):
        return
    texts = {name: str(case.arguments.get(name) or "") for name in case.action.texts}
    if case.unasked and (found := content.of(texts.values()).sensitive):
        kinds = joined(phrase(one.replace("_", " ")) for one in found)
        yield Cause("draft_holds_secret", phrase("It holds: %(kinds)s.", kinds=kinds))
    own = [text for name, text in texts.items() if case.provenance.get(name) not in THE_USERS]
    for harm in harms(case, content.of(own)):
        yield Cause("draft_leads_out", harm)


def harms(case: Case, found: Content) -> Iterator[str]:
    """What text of the agent's has in it that leads elsewhere: to no host of the account's own
    domain, and to none that the user typed."""
    own = targets.address_or_none(case.facts.own_address) if case.facts else None
    known = {targets.domain_of(own)} if own else set()
    foreign = {*found.hosts} - known - ({*links.hosts(case.heard.words)} - {links.UNKNOWN})
    if foreign:
        where = min(foreign) or phrase("a place that cannot be read")
        yield phrase("The agent wrote a link or image that leads to %(where)s.", where=where)
    if not found.plain:
        yield phrase("The agent wrote HTML.")


def check_contents(case: Case) -> None:
    """A mail makes nobody be asked about such a draft."""
    for cause in contents(case) if case.from_content else ():
        case.refuse(cause.code, "contents", cause.words)


def _is_known(case: Case, facts: Facts, target: Target) -> bool:
    """Whether a send to this receiver would be no question of its own. The sender of a mail that
    the user named is whom they mean to answer."""
    sources = case.sources.get(target.path, frozenset())
    if sources & KNOWN:
        return True
    answered = case.sources.get(case.action.object_field or "", frozenset())
    is_sender = target.path in case.authenticated and target.value == facts.sender
    return is_sender and bool(answered & NAMED)
