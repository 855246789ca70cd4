"""Whom the user named in this request, as the organisation's directory knows them. Pure."""

from guardrails.decide.checks.case import Case
from guardrails.decide.provenance import SOURCES
from guardrails.facts import targets
from guardrails.facts.facts import Facts
from guardrails.words.names import Mention, mentions, of_self


def named_people(case: Case, facts: Facts) -> dict[str, Mention]:
    """What the user's words call each person whom the action reaches, by path. A clear name comes
    before one that several people have."""
    if not facts.directory or "N" not in SOURCES[case.request.origin.trigger]:
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
