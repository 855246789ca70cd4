"""What holds for every policy, every request and every mail."""

from dataclasses import replace
from typing import Any

from hypothesis import given, strategies as st

from guardrails.actions import registry
from guardrails.actions.base import InvalidArguments
from guardrails.contracts import Decision, Origin
from guardrails.decide.conditions import vocabulary as conditions
from guardrails.decide.snapshot import AllowedAction, ListedTarget, Mode, PolicySnapshot
from tests.guardrails.kinds import any_condition
from tests.guardrails.values import (
    ADA,
    NOW,
    allow,
    chat,
    decide,
    email,
    facts,
    inbound,
    list_target,
    policy_of,
    request,
)

MAIL = {"subject": "Hello", "body": "Text."}
ISSUE = {"project_key": "PROJ", "summary": "Setup CI/CD", "type": "task"}
LISTED_ADA = list_target("send_email", "recipient", ADA)
CLIENTS = list_target("send_email", "recipient_domain", "client.com")
PROJ = list_target("create_jira_task", "project", "PROJ")
CONDITIONS = any_condition | st.just({"kind": "invented"})
ARGUMENTS: dict[str, dict[str, Any]] = {
    "archive": {"email_id": "mail-1"},
    "classify": {"email_id": "mail-1", "label_id": "label_fyi"},
    "draft": {"to": [ADA], "reply_to_id": "mail-1", **MAIL},
    "send_email": {"to": [ADA], "reply_to_id": "mail-1", **MAIL},
    "create_jira_task": ISSUE,
}
TARGETS: list[ListedTarget] = [
    LISTED_ADA,
    CLIENTS,
    PROJ,
    list_target("classify", "label", "label_fyi"),
    list_target("draft", "recipient", ADA),
]
origins = st.sampled_from([chat(), chat(f"write {ADA}"), inbound(), inbound(trigger="pattern")])
action_types = st.sampled_from(sorted(ARGUMENTS))
MODES: tuple[Mode, ...] = ("auto", "ask", "never")
modes = st.sampled_from(MODES)
ORDER = {"refuse": 0, "ask": 1, "allow": 2}


# Made once: a strategy is validated when it is first drawn from.
some_actions = st.sets(action_types)
some_conditions = st.lists(CONDITIONS, max_size=3)
some_targets = st.lists(st.sampled_from(TARGETS), unique=True)


@st.composite
def policies(draw: st.DrawFn) -> PolicySnapshot:
    rows: list[AllowedAction | ListedTarget] = [
        allow(name, draw(modes), *draw(some_conditions)) for name in draw(some_actions)
    ]
    return policy_of(*rows, *draw(some_targets))


def decided(action_type: str, policy: PolicySnapshot, origin: Origin) -> Decision:
    wish = request(action_type, ARGUMENTS[action_type], origin)
    return decide(request=wish, policy=policy, facts=facts(), now=NOW)


@given(st.sampled_from([*sorted(ARGUMENTS), "delete", ""]), origins, st.booleans())
def test_an_empty_policy_allows_nothing(name: str, origin: Origin, with_targets: bool) -> None:
    wish = request(name, ARGUMENTS.get(name, {}), origin)
    policy = policy_of(*(TARGETS if with_targets else ()))
    decision = decide(request=wish, policy=policy, facts=facts(), now=NOW)
    assert decision.verdict == "refuse"


def narrows(raw: dict[str, Any]) -> bool:
    """Whether it is none of those that let receivers or the agent's own text through."""
    return not getattr(conditions.read(raw), "opens", False)


@given(action_types, policies(), origins, CONDITIONS.filter(narrows))
def test_another_condition_never_widens(
    action_type: str, policy: PolicySnapshot, origin: Origin, extra: dict[str, Any]
) -> None:
    tighter = replace(
        policy,
        allowed_actions=tuple(
            replace(
                one,
                conditions=(*one.conditions, *allow("archive", "auto", extra).conditions),
            )
            for one in policy.allowed_actions
        ),
    )
    before, after = decided(action_type, policy, origin), decided(action_type, tighter, origin)
    assert ORDER[after.verdict] <= ORDER[before.verdict]


@given(action_types, policies(), origins, st.data())
def test_the_order_of_rows_means_nothing(
    action_type: str, policy: PolicySnapshot, origin: Origin, data: st.DataObject
) -> None:
    shuffled = replace(
        policy,
        allowed_actions=tuple(data.draw(st.permutations(policy.allowed_actions))),
        listed_targets=tuple(data.draw(st.permutations(policy.listed_targets))),
    )
    assert decided(action_type, shuffled, origin) == decided(action_type, policy, origin)
    assert shuffled.digest == policy.digest


@given(action_types, policies(), origins, st.text(), st.text(), st.text())
def test_what_the_model_says_of_itself_changes_nothing(
    action_type: str, policy: PolicySnapshot, origin: Origin, reason: str, agent: str, model: str
) -> None:
    talking = replace(origin, reason=reason, agent=agent, model=model)
    assert decided(action_type, policy, talking) == decided(action_type, policy, origin)


@given(action_types, policies(), origins)
def test_a_condition_that_is_unknown_never_allows(
    action_type: str, policy: PolicySnapshot, origin: Origin
) -> None:
    decision = decided(action_type, policy, origin)
    found = policy.allowed_action(action_type, registry.BY_NAME[action_type].resource_type)
    if found and any(getattr(one, "raw", None) for one in found.conditions):
        assert decision.verdict == "refuse"


@given(action_types, policies(), origins, st.text(max_size=30), st.text(max_size=30))
def test_content_of_the_mail_changes_nothing(
    action_type: str, policy: PolicySnapshot, origin: Origin, body: str, markup: str
) -> None:
    wish = request(action_type, ARGUMENTS[action_type], origin)
    loud = email(body_text=body, body_html=f"<!-- {markup} -->", sender_name=body, snippet=markup)
    quiet = decide(request=wish, policy=policy, facts=facts(), now=NOW)
    assert decide(request=wish, policy=policy, facts=facts(loud), now=NOW) == quiet


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(action_types, st.dictionaries(st.text(), json_values, max_size=4), policies(), origins)
def test_arguments_outside_the_schema_are_refused(
    action_type: str, extra: dict[str, Any], policy: PolicySnapshot, origin: Origin
) -> None:
    known = set(registry.BY_NAME[action_type].arguments.model_fields)
    smuggled = ARGUMENTS[action_type] | {key: extra[key] for key in extra if key not in known}
    wish = request(action_type, smuggled, origin)
    decision = decide(request=wish, policy=policy, facts=facts(), now=NOW)
    if smuggled != ARGUMENTS[action_type]:
        assert decision.verdict == "refuse"


@given(action_types, st.data())
def test_any_value_in_the_wrong_shape_is_refused_or_canonical(
    action_type: str, data: st.DataObject
) -> None:
    action = registry.BY_NAME[action_type]
    name = data.draw(st.sampled_from(sorted(action.arguments.model_fields)))
    wish = ARGUMENTS[action_type] | {name: data.draw(json_values)}
    try:
        parsed = action.parse(wish)
    except InvalidArguments:
        return
    canonical = parsed.canonical()
    assert action.parse(canonical) == parsed
    assert canonical[name] == wish[name] or name in ("to", "cc", "bcc", "assignee")
