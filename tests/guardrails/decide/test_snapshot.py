from dataclasses import replace

from hypothesis import given, strategies as st

from audit.ledger.chain import canonical_bytes
from guardrails.decide import evidence
from tests.guardrails.values import allow, list_target, policy_of

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(st.tuples(TEXT, TEXT, st.booleans())))
def test_the_quick_form_of_targets_is_the_canonical_one(rows: list[tuple[str, str, bool]]) -> None:
    policy = policy_of(
        *(list_target("classify", "label", key, name=name, single=one) for key, name, one in rows)
    )
    assert policy.canonical.encode() == canonical_bytes(policy.content())


def test_equal_policies_have_one_digest_in_any_order() -> None:
    rows = [allow("classify"), allow("archive")]
    listed_targets = [list_target("classify", "label", f"label_{number}") for number in range(5)]
    one = policy_of(*rows, *listed_targets)
    other = policy_of(*rows[::-1], *listed_targets[::-1])

    assert one.digest == other.digest
    assert evidence.policy_of(one.content()).digest == one.digest
    assert replace(one, paused=True).digest != one.digest


def test_an_allowed_action_for_one_type_of_thing_beats_the_general_one() -> None:
    general, special = (
        allow("classify"),
        allow("classify", resource_type="email", id="special"),
    )
    for rows in ((general, special), (special, general)):
        assert policy_of(*rows).allowed_action("classify", "email") == special
        assert policy_of(*rows).allowed_action("classify", "document") == general
    assert policy_of(special).allowed_action("classify", "document") is None


def test_targets_are_those_of_the_action_type_and_source_special_ones_first() -> None:
    general = list_target("classify", "label", "a", id="1")
    special = list_target("classify", "label", "b", id="2", resource_type="email")
    others = (
        list_target("archive", "label", "c", id="3"),
        list_target("classify", "label", "d", id="4", resource_type="document"),
        list_target("classify", "label", "e", id="5", source="outlook"),
    )
    policy = policy_of(general, special, *others)
    for _ in range(2):
        assert policy.listed_targets_for("classify", "email", "gmail") == (special, general)
    changed = replace(policy, listed_targets=(general,))
    assert changed.listed_targets_for("classify", "email", "gmail") == (general,)
