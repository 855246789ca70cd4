"""When a person must be asked, and when nobody may be. Pure."""

from collections.abc import Iterator, Mapping

from guardrails import registry
from guardrails.checks.case import Case
from guardrails.classes import ArgumentClass
from guardrails.conditions.written_by import WrittenBy
from guardrails.contracts import Check

WRITTEN: Mapping[ArgumentClass, str] = {
    "text": "The text was written by the agent",
    "time": "The time was chosen by the agent",
    "number": "The number was chosen by the agent",
}


def reasons_to_ask(case: Case) -> list[str]:
    """Why a person must be asked, in words; empty if nobody must."""
    found = []
    if case.request.origin.revises:
        found.append("A person changed what the agent proposed.")
    if case.mode == "ask":
        found.append("The permission says so.")
    if any(limit.mode == "ask" for limit in case.limits):
        found.append("The organisation's ceiling says so.")
    if case.request.origin.tighten:
        found.append("The agent wants to be sure.")
    found += [effect.sentence for effect in case.effects if effect.kind != "egress"]
    found += [
        f"Nobody typed or listed “{target.value}” itself ({target.path})."
        for target in case.targets
        if (case.has("egress") and case.provenance.get(target.path, "X") == "X")
        or (
            target.is_receiver
            and not all(one.knows(case.relations[target.path]) for one in case.openings)
        )
    ]
    if case.has("egress"):
        found += _written_by_the_agent(case)
    return found


def _written_by_the_agent(case: Case) -> Iterator[str]:
    """What reaches others and is not the user's own words, unless the permission lets it go."""
    action = registry.BY_NAME[case.request.action_type]
    conditions = case.rule.conditions if case.rule else ()
    if any(isinstance(one, WrittenBy) and one.written_by == "anyone" for one in conditions):
        return
    written = [
        (action.class_at(path), path) for path, code in case.provenance.items() if code != "U"
    ]
    for kind, sentence in WRITTEN.items():
        paths = [path for one, path in written if one == kind]
        if paths:
            yield f"{sentence} ({', '.join(paths)})."


def may_ask(case: Case) -> Check:
    """A mail makes nobody be asked, except to answer a listed and proved sender."""
    passed = not case.from_content or (
        bool(case.receivers)
        and all(
            target.path in case.authenticated
            and (target.path in case.listed or target.path in case.opened)
            for target in case.receivers
        )
    )
    return Check(name="asking", passed=passed, detail="Asked only to answer a listed sender.")
