from dataclasses import replace

from hypothesis import given, strategies as st

from audit.ledger.chain import canonical_bytes
from guardrails.decide import evidence
from tests.guardrails.values import option, policy_of, rule

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(st.tuples(TEXT, TEXT, st.booleans())))
def test_the_quick_form_of_targets_is_the_canonical_one(rows: list[tuple[str, str, bool]]) -> None:
    policy = policy_of(
        *(option("classify", "label", key, name=name, single=one) for key, name, one in rows)
    )
    assert policy.canonical.encode() == canonical_bytes(policy.content())


def test_equal_policies_have_one_digest_in_any_order() -> None:
    rows = [rule("classify"), rule("archive")]
    options = [option("classify", "label", f"label_{number}") for number in range(5)]
    one = policy_of(*rows, *options)
    other = policy_of(*rows[::-1], *options[::-1])

    assert one.digest == other.digest
    assert evidence.policy_of(one.content()).digest == one.digest
    assert replace(one, paused=True).digest != one.digest


def test_a_permission_for_one_type_of_thing_beats_the_general_one() -> None:
    general, special = rule("classify"), rule("classify", resource_type="email", id="special")
    for rows in ((general, special), (special, general)):
        assert policy_of(*rows).rule("classify", "email") == special
        assert policy_of(*rows).rule("classify", "document") == general
    assert policy_of(special).rule("classify", "document") is None


def test_targets_are_those_of_the_action_type_and_source_special_ones_first() -> None:
    general = option("classify", "label", "a", id="1")
    special = option("classify", "label", "b", id="2", resource_type="email")
    others = (
        option("archive", "label", "c", id="3"),
        option("classify", "label", "d", id="4", resource_type="document"),
        option("classify", "label", "e", id="5", source="outlook"),
    )
    policy = policy_of(general, special, *others)
    for _ in range(2):
        assert policy.options_for("classify", "email", "gmail") == (special, general)
    changed = replace(policy, options=(general,))
    assert changed.options_for("classify", "email", "gmail") == (general,)
