"""A draft is a send that a person makes later. Its receivers are judged as those of a send, less
only the question: of whom nobody was asked, the draft says so. Pure.
"""

from collections.abc import Iterator

from guardrails.actions.base import AnyAction
from guardrails.decide.checks.case import Case
from guardrails.decide.checks.exposing import Cause
from guardrails.decide.provenance import Provenance
from guardrails.facts import content
from guardrails.facts.exposure import NAMED, Unasked
from guardrails.facts.facts import Facts
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


def secrets(case: Case) -> Iterator[Cause]:
    """Why a person must see a draft first: it holds a code, a card or the like, and is for
    somebody about whom nobody was asked."""
    if case.unasked:
        texts = [str(case.arguments.get(name) or "") for name in case.action.texts]
        if found := content.of(texts).sensitive:
            kinds = ", ".join(found).replace("_", " ")
            yield Cause("draft_holds_secret", f"It holds: {kinds}.")


def check_secrets(case: Case) -> None:
    """A mail makes nobody be asked about such a draft."""
    for cause in secrets(case) if case.from_content else ():
        case.refuse(cause.code, "secrets", cause.words)


def _is_known(case: Case, facts: Facts, target: Target) -> bool:
    """Whether a send to this receiver would be no question of its own. The sender of a mail that
    the user named is whom they mean to answer."""
    sources = case.sources.get(target.path, frozenset())
    if sources & KNOWN:
        return True
    answered = case.sources.get(case.action.object_field or "", frozenset())
    is_sender = target.path in case.authenticated and target.value == facts.sender
    return is_sender and bool(answered & NAMED)
