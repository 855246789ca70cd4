"""What holds for conditions of every kind, also for kinds that are yet to come."""

from dataclasses import fields, replace
from datetime import timedelta
from typing import Any, get_args

from hypothesis import given, strategies as st

from guardrails.actions import registry
from guardrails.actions.base import AnyAction
from guardrails.contracts import Trigger
from guardrails.decide.conditions import vocabulary as conditions
from guardrails.decide.conditions.base import Condition, Context, RateCondition
from guardrails.decide.conditions.vocabulary import BY_KIND
from guardrails.decide.provenance import Provenance, Relation
from guardrails.facts import content
from guardrails.facts.counts import Counts, Tally
from guardrails.facts.facts import Facts
from guardrails.facts.targets import Target
from guardrails.gather.lookups import content_of
from integrations.contracts import Document, Event, Issue
from tests.guardrails.kinds import STRATEGIES, any_condition
from tests.guardrails.values import ADA, ME, NOW, STRANGER, email, facts

# What looks at nothing but the request and the clock, which are always known.
ALWAYS_KNOWN = frozenset({"trigger", "business_hours", "two_people"})
DOCUMENT = Document(id="doc-1", created_at=NOW, modified_at=NOW, owner=ME, name="Plan")
EVENT = Event(id="event-1", title="Lunch", start=NOW, end=NOW, created_by=ME)
ISSUE = Issue(id="1", key="PROJ-1", project_key="PROJ", created_at=NOW, reporter=ADA)
actions = st.sampled_from(registry.ACTIONS)
receivers = st.lists(
    st.builds(
        lambda value, role: Target(path=f"{role}[0]", kind="recipient", value=value, role=role),
        st.sampled_from([ADA, STRANGER, "all@company.com"]),
        st.sampled_from(["to", "cc", "bcc", "audience"]),
    ),
    max_size=3,
).map(tuple)


def everything() -> Facts:
    return facts(
        document=DOCUMENT, event=EVENT, issue=ISSUE, folders=(), content=content_of(email())
    )


# Made once: a strategy is validated when it is first drawn from.
codes: st.SearchStrategy[set[Provenance]] = st.sets(st.sampled_from(["U", "R", "X"]))
relations = st.fixed_dictionaries(
    {
        f"{role}[0]": st.frozensets(st.sampled_from(get_args(Relation)), max_size=2)
        for role in ("to", "cc", "bcc", "audience")
    }
)


@st.composite
def contexts(draw: st.DrawFn) -> Context:
    action: AnyAction = draw(actions)
    return Context(
        action=action,
        trigger=draw(st.sampled_from(get_args(Trigger))),
        facts=everything(),
        now=NOW + timedelta(hours=draw(st.integers(0, 200))),
        arguments={
            action.object_field or "x": "mail-1",
            "to": [ADA],
            "amount": draw(st.integers(0, 60)),
            "body": draw(st.sampled_from(["Hello", "https://client.com/", "<b>x</b> 1"])),
        },
        targets=draw(receivers),
        sources={action.object_field or "x": draw(codes)},
        relations=draw(relations),
        features=draw(st.sampled_from([frozenset(), frozenset({"beta"})])),
        needs_approval=draw(st.booleans()),
    )


def counted(condition: Condition, context: Context) -> Context:
    """The context with what a rate would count."""
    if not isinstance(condition, RateCondition):
        return context
    tally = Tally(question=condition.question, own=1, count=2)
    return replace(context, facts=replace(context.facts, counts=Counts(tallies=(tally,))))


def test_every_kind_has_a_strategy() -> None:
    assert STRATEGIES.keys() == BY_KIND.keys()


@given(any_condition)
def test_what_is_stored_is_read_back_the_same(raw: dict[str, Any]) -> None:
    parsed = conditions.parse(raw)
    assert conditions.read(parsed.model_dump(mode="json")) == parsed


@given(any_condition)
def test_every_condition_has_a_sentence(raw: dict[str, Any]) -> None:
    parsed = conditions.parse(raw)
    assert parsed.sentence
    assert parsed.sentence[0].islower() or parsed.sentence[0] in "“0123456789"
    assert "_" not in parsed.kind or parsed.kind not in parsed.sentence
    assert not parsed.sentence.endswith(".")
    assert parsed.title


@given(any_condition, actions, st.booleans())
def test_without_facts_nothing_holds(
    raw: dict[str, Any], action: AnyAction, with_words: bool
) -> None:
    condition = conditions.parse(raw)
    nothing = Context(action=action, trigger="chat", facts=Facts(), now=NOW, needs_approval=True)
    known = condition.always_holds or condition.kind in ALWAYS_KNOWN
    assert known or not condition.evaluate(nothing).passed


@given(any_condition, contexts())
def test_a_missing_fact_never_makes_it_hold(raw: dict[str, Any], context: Context) -> None:
    condition = conditions.parse(raw)
    context = counted(condition, context)
    held = condition.evaluate(context).passed
    for one in fields(Facts):
        gone: dict[str, Any] = {one.name: one.default}
        if one.name == "email":
            gone["issue"] = None  # there is one object at a time
        poorer = replace(context.facts, **gone)
        if condition.evaluate(replace(context, facts=poorer)).passed:
            assert held, one.name


@given(any_condition, any_condition, contexts())
def test_what_is_said_about_two_conditions_is_true(
    one: dict[str, Any], other: dict[str, Any], context: Context
) -> None:
    first, second = conditions.parse(one), conditions.parse(other)
    is_met = first.evaluate(counted(first, context)).passed
    too = second.evaluate(counted(second, context)).passed
    assert not (first.excludes(second) and is_met and too)
    if first.implies(second) and is_met:
        assert too
    assert first.implies(first)


@given(any_condition, contexts())
def test_what_always_holds_holds(raw: dict[str, Any], context: Context) -> None:
    condition = conditions.parse(raw)
    if condition.always_holds:
        assert condition.evaluate(context).passed


@given(any_condition, contexts())
def test_what_cannot_be_judged_for_an_action_never_holds_for_it(
    raw: dict[str, Any], context: Context
) -> None:
    condition = conditions.parse(raw)
    alone = replace(
        context,
        facts=Facts(own_address=ME),
        arguments={},
        targets=(),
        sources={},
    )
    if condition.unfit(context.action) and not condition.always_holds:
        assert not condition.evaluate(alone).passed


def test_conditions_look_at_content_without_keeping_it() -> None:
    found = content_of(email(body_text="Your code is 123456, see https://evil.example/?q=1"))
    assert found == content.Content(
        hosts=("evil.example",),
        sensitive=("one_time_code",),
        chars=len("Lunch on Friday?Your code is 123456, see https://evil.example/?q=1"),
        digest=found.digest if found else "",
    )


@given(any_condition, contexts())
def test_a_widened_condition_permits_this_and_all_that_it_did(
    raw: dict[str, Any], context: Context
) -> None:
    condition = conditions.parse(raw)
    wider = condition.widened(context)
    if wider is None or condition.evaluate(context).passed:
        return
    stored = conditions.parse(wider.model_dump(mode="json", exclude_unset=True))
    assert stored == wider
    assert condition.implies(wider)
