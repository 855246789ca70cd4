"""When a person must be asked, and when nobody may be. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from guardrails.contracts import Check
from guardrails.decide.checks import events, hiding
from guardrails.decide.checks.case import Case
from guardrails.decide.checks.drafting import contents, harms
from guardrails.decide.checks.exposing import Cause, causes
from guardrails.decide.conditions.base import Condition, OpeningCondition
from guardrails.decide.provenance import THE_USERS, strongest
from guardrails.facts import content
from guardrails.facts.classes import ArgumentClass
from guardrails.facts.exposure import NAMED
from guardrails.facts.phrases import joined, phrase
from guardrails.facts.targets import Target

BY_PEOPLE = frozenset({"chat", "operator"})
WRITTEN: Mapping[ArgumentClass, str] = {
    "text": "The text was written by the agent (%(where)s).",
    "time": "The time was chosen by the agent (%(where)s).",
    "number": "The number was chosen by the agent (%(where)s).",
}


def reasons_to_ask(case: Case) -> Iterator[Cause]:
    """Why a person must be asked; nothing if nobody must."""
    yield from (Cause("needs_approval", words) for words in _by_wish(case))
    yield from _beyond_wishes(case)


def _beyond_wishes(case: Case) -> Iterator[Cause]:
    """Why a person must be asked, whatever policy and agent say."""
    yield from (Cause("needs_approval", words) for words in _in_general(case))
    yield from causes(case)
    yield from contents(case)
    for target in case.targets:
        yield from (Cause("needs_approval", words) for words in _about_target(case, target))
    if case.has("egress"):
        yield from (Cause("needs_approval", words) for words in _to_lists(case))
        yield from (Cause("needs_approval", words) for words in _written_by_the_agent(case))


def _by_wish(case: Case) -> Iterator[str]:
    """Because a person changed it, or the policy or the agent says so."""
    if case.request.origin.revises:
        yield phrase("A person changed what the agent proposed.")
    if case.mode == "ask":
        yield phrase("The policy says so.")
    if any(limit.mode == "ask" for limit in case.limits):
        yield phrase("The organisation's ceiling says so.")
    if case.people_needed > 1:
        yield phrase("Two people have to say yes.")
    if case.request.origin.tighten:
        yield phrase("The agent asked for it.")


def _in_general(case: Case) -> Iterator[str]:
    """By what led to it and by its effects."""
    if not _removes_own(case):
        yield from (one.sentence for one in case.effects if one.kind == "destructive")
    yield from hiding.reasons(case)
    if events.is_series_unsaid(case):
        yield phrase("It concerns a whole series, and the user's words do not say so.")
    for person in events.taken_off_unsaid(case):
        yield phrase("It takes %(person)s off the event, and nobody said so.", person=person)
    yield from _doubts(case)


def _removes_own(case: Case) -> bool:
    """Whether the allowed action lets this go: what the user named and can be taken back. An event
    that they made, not a series, among people of the organisation, and with time to recall it; a
    document of theirs that nobody else reads; a mail."""
    conditions = case.allowed_action.conditions if case.allowed_action else ()
    facts = case.facts
    if facts is None or not any(one.lets_own_go for one in conditions):
        return False
    if NAMED.isdisjoint(case.sources.get(case.action.object_field or "", ())):
        return False
    if event := facts.event if facts.is_own else None:
        return (
            not (event.recurrence or event.this_and_future)
            and all(case.is_inside(one.value) for one in case.receivers)
            and case.hold_seconds > 0
        )
    if facts.document and facts.is_own:
        return facts.document_readers == ()
    return facts.email is not None


def _doubts(case: Case) -> Iterator[str]:
    """Conditions that hold, and under which a person is asked all the same."""
    known = [
        one
        for row in (case.allowed_action, *case.limits)
        if row is not None
        for one in row.conditions
        if isinstance(one, Condition)
    ]
    if known and case.facts is not None:
        context = case.context(case.facts)
        yield from filter(None, (one.doubt(context) for one in known))


def _about_target(case: Case, target: Target) -> Iterator[str]:
    about = {"value": target.value, "place": target.place}
    if unclear := case.unclear_name(target.path):
        yield unclear.sentence
    if _is_strange(case, target):
        yield phrase("Nobody typed or listed “%(value)s” itself (%(place)s).", **about)
    elif novel_to := _novel_to(case, target):
        yield phrase("“%(value)s” is not %(who)s (%(place)s).", who=novel_to.who, **about)
    elif _is_named_outside(case, target):
        yield phrase(
            "“%(value)s” is only named, and outside the organisation (%(place)s).", **about
        )
    elif _belongs_outside(case, target):
        yield phrase("“%(value)s” is outside the organisation (%(place)s).", **about)


def _is_strange(case: Case, target: Target) -> bool:
    """Whether the action goes where nobody but the agent named it."""
    if case.has("egress") and case.provenance.get(target.path, "X") == "X":
        return True
    if _novel_to(case, target) is None:
        return False
    return {"typed", "listed"}.isdisjoint(case.relations[target.path])


def _novel_to(case: Case, target: Target) -> OpeningCondition | None:
    """The condition that does not know this receiver, typed or not."""
    if not (target.is_receiver and case.openings):
        return None
    relations = case.relations[target.path]
    return next((one for one in case.openings if not one.knows(relations)), None)


def _to_lists(case: Case) -> Iterator[str]:
    """Even a mailing list that was named reaches nobody knows whom. An operator may list it by
    its own address, and say in the allowed action that this is enough."""
    conditions = case.allowed_action.conditions if case.allowed_action else ()
    let_in = any(one.lets_listed_lists_in for one in conditions)
    for target in case.receivers:
        listed = case.listed.get(target.path) if let_in else None
        if target.path in case.lists and (listed is None or listed.kind != "recipient"):
            yield phrase(
                "“%(value)s” is a mailing list: nobody knows who reads it (%(place)s).",
                value=target.value,
                place=target.place,
            )


def _is_named_outside(case: Case, target: Target) -> bool:
    """Whether nothing but a name in the user's words leads to somebody outside: that is not as
    good as an address that they typed."""
    sources = case.sources.get(target.path, frozenset())
    if "N" not in sources or case.is_inside(target.value):
        return False
    if not target.is_receiver:
        return strongest(sources - {"N"}) == "X"
    relations = case.relations[target.path] - {"named"}
    return strongest(sources - {"N"}) == "X" or not all(
        one.knows(relations) for one in case.openings
    )


def _belongs_outside(case: Case, target: Target) -> bool:
    """Whether somebody outside is let in for no other reason than that they belong to the user's
    own object."""
    is_opened = target.is_receiver and target.path in case.opened
    if not is_opened or case.is_inside(target.value):
        return False
    relations = case.relations[target.path] - {"belongs"}
    return not all(one.knows(relations) for one in case.openings)


def _written_by_the_agent(case: Case) -> Iterator[str]:
    """What reaches others and is not the user's own words, unless the allowed action lets it go."""
    conditions = case.allowed_action.conditions if case.allowed_action else ()
    if any(one.lets_own_text_out for one in conditions):
        return
    written: dict[ArgumentClass | None, list[str]] = {}
    aims = {target.path for target in case.targets}
    for path, code in case.provenance.items():
        if code not in THE_USERS and path not in aims:
            written.setdefault(case.action.class_at(path), []).append(path)
    by_person = case.request.origin.trigger in BY_PEOPLE
    if by_person and any(one.lets_plain_text_out for one in conditions):
        yield from _not_plain(case, written.pop("text", []))
    for kind, sentence in WRITTEN.items():
        if kind in written:
            yield phrase(sentence, where=", ".join(written[kind]))


def _not_plain(case: Case, paths: Sequence[str]) -> Iterator[str]:
    """What text of the agent's own has in it that could do harm where it arrives."""
    values = dict(case.values)
    found = content.of([values.get(path, "") for path in paths])
    yield from harms(case, found)
    if found.sensitive:
        kinds = joined(map(phrase, found.sensitive))
        yield phrase("The agent wrote what looks like a secret (%(kinds)s).", kinds=kinds)


def may_ask(case: Case) -> Check:
    """A mail makes a person be asked about an answer to a listed and proved sender; and, where an
    operator wants to be asked, about what reaches nobody new and needs a question for no other
    reason."""
    passed = not case.from_content or (
        bool(case.receivers) and all(_is_listed(case, one.path) for one in case.receivers)
    )
    if not passed and _asks_by_policy(case):
        reaches_nobody_new = all(
            one.path in case.in_thread or _is_listed(case, one.path) for one in case.receivers
        )
        passed = reaches_nobody_new and next(_beyond_wishes(case), None) is None
    return Check(
        name="asking",
        passed=passed,
        detail="A mail sets off a question where the policy asks, about what reaches nobody new; "
        "or about an answer to a listed sender.",
    )


def _asks_by_policy(case: Case) -> bool:
    modes = (case.mode, *(limit.mode for limit in case.limits))
    return "ask" in modes or case.people_needed > 1


def _is_listed(case: Case, path: str) -> bool:
    return path in case.authenticated and (path in case.listed or path in case.opened)
