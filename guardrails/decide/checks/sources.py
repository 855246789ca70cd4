"""Where the values of one action come from: what the facts prove, by path. Pure."""

from collections.abc import Sequence, Set

from guardrails.actions.base import AnyAction, Arguments
from guardrails.decide import provenance
from guardrails.decide.checks import saying
from guardrails.decide.checks.case import Case
from guardrails.decide.provenance import (
    RELATIONS,
    Provenance,
    Relation,
    strongest,
    typed_paths,
)
from guardrails.facts import targets
from guardrails.facts.belonging import belonging
from guardrails.facts.facts import Facts
from guardrails.words.names import Mention, mentions, of_self
from guardrails.words.typed import named, typed


def sources(
    case: Case, action: AnyAction, arguments: Arguments, facts: Facts
) -> dict[str, frozenset[Provenance]]:
    """All that each argument, and each target that no argument names, comes from."""
    origin = case.request.origin
    edited = typed_paths(case.arguments, proposed=origin.proposed) if origin.revises else ()
    object_id = action.object_id(arguments) or ""
    item = {action.object_field} if action.object_field else set()
    by_words = bool(facts.meant_by) or typed(object_id, case.heard.words)
    case.named = _named_people(case, facts)
    owned = _of_own_object(case, action, facts, by_words=by_words)
    owned |= _attached_by_title(case, action.attached(arguments), facts)
    by_value, derived = saying.read(case, action, facts, owned)
    proved: dict[Provenance, Set[str]] = {
        "A": {path for path, one in case.listed.items() if one.kind != "recipient_domain"},
        "N": {path for path, said in case.named.items() if said.is_clear},
        "O": owned,
        "U": by_value.keys(),
        "V": derived.keys(),
    }
    # Not because of the ceiling, which only narrows: there the allowed action must name it.
    if (directory := facts.directory) and any("directory" in one.relation for one in case.openings):
        proved["C"] = {one.path for one in case.receivers if directory.has(one.value)}
    if written := facts.corresponded:
        proved["D"] = {one.path for one in case.receivers if written.get(one.value, 0) > 0}
    if case.from_content:
        proved["T"] = case.authenticated | item
    elif by_words:  # in a chat the model chooses the mail that is answered, or else the user did
        proved["T"] = case.authenticated
    if facts.created and object_id in facts.created:
        proved["R"] = item
    traced = provenance.trace(
        [*case.values, *((target.path, target.value) for target in case.implied)],
        trigger=origin.trigger,
        words=case.heard.words,
        edited=frozenset(edited),
        proved=proved,
    )
    read = {path: reading for path, reading in (derived | by_value).items() if reading}
    if facts.meant_by:
        read |= dict.fromkeys(item, facts.meant_by)
    case.readings = read | {
        path: said.sentence for path, said in case.named.items() if strongest(traced[path]) == "N"
    }
    return traced | dict.fromkeys(action.names(arguments, facts), provenance.UNKNOWN)


def _named_people(case: Case, facts: Facts) -> dict[str, Mention]:
    """What the user's words call each person whom the action reaches, by path. A clear name comes
    before one that several people have."""
    if not facts.directory or "N" not in provenance.SOURCES[case.request.origin.trigger]:
        return {}
    said = mentions(case.heard.words, facts.directory.people, titles=(facts.object_title,))
    found: dict[str, Mention] = {}
    for mention in sorted(said, key=lambda one: one.is_clear):
        meant = {one.address for one in mention.people}
        found |= {one.path: mention for one in case.targets if one.is_person and one.value in meant}
    own = targets.address_or_none(facts.own_address)
    at_user = {one.path for one in case.targets if one.is_person and one.value == own}
    if own and at_user - found.keys() and (said_of_self := of_self(case.heard.words, own)):
        found |= dict.fromkeys(at_user, said_of_self)
    return found


def _of_own_object(case: Case, action: AnyAction, facts: Facts, *, by_words: bool) -> set[str]:
    """The paths of an object which the user owns and named exactly, in words that mean it alone or
    by its title, and of those who belong to it."""
    kind = action.object_kind
    is_mail = facts.email is not None and kind == "email"
    # An alert is its reader's own; it counts by its title too.
    is_own = kind is not None and bool(facts.is_own or facts.alert)
    titled = is_own and named(facts.object_title, case.heard.words) and facts.namesakes == 1
    found: set[str] = set()
    # Any mail of the mailbox and any issue that the account may write to is theirs to mean.
    is_meant = bool((is_mail or facts.issue) and facts.meant_by)
    if (is_own and by_words) or titled or is_meant:
        found.add(action.object_field or "")
    if found or (is_mail and by_words):
        people = belonging(facts, kind, is_inside=case.is_inside)
        found |= {one.path for one in case.receivers if one.value in people}
    return found


def _attached_by_title(case: Case, attached: Sequence[str], facts: Facts) -> set[str]:
    """The paths of documents of the user's own that they named by a title which no other has."""
    if not attached:
        return set()
    known = {
        one.document.id
        for one in facts.attached
        if one.document
        and one.is_own
        and named(one.object_title, case.heard.words)
        and one.namesakes == 1
    }
    return {f"attachments[{index}]" for index, one in enumerate(attached) if one in known}


def relations(case: Case, facts: Facts) -> dict[str, frozenset[Relation]]:
    """How each receiver stands to the user, by path. Nobody is known by their domain alone."""
    found: dict[str, frozenset[Relation]] = {}
    if not case.receivers:
        return found
    own = targets.address_or_none(facts.own_address)
    for target in case.receivers:
        known = {RELATIONS[one] for one in case.sources[target.path] if one in RELATIONS}
        if target.path in case.listed:
            known.add("listed")
        if target.path in case.in_thread:
            known.add("thread_participant")
        if known and own and targets.domain_of(own) == targets.domain_of(target.value):
            known.add("own_domain")
        # After own_domain, which nobody gains by a fact that only some policies read.
        if facts.directory and facts.directory.has(target.value):
            known.add("directory")
        found[target.path] = frozenset(known)
    return found
