"""Whether a second yes is that of another person."""

from hypothesis import given, strategies as st

from guardrails.decide.two_people import doubt_second

names = st.frozensets(st.sampled_from(["user:anna", "user:ben", "staff:1", "operator:maya"]))


@given(who=names, first=names, requesters=names)
def test_only_somebody_who_shares_no_name_is_the_second(
    who: frozenset[str], first: frozenset[str], requesters: frozenset[str]
) -> None:
    doubt = doubt_second(who, first=first, requesters=requesters)

    is_another = bool(who) and bool(first) and not who & (first | requesters)
    assert (doubt == "") is is_another
    if not doubt:  # and neither of the two would be, the other way round, the same person
        assert doubt_second(first, first=who, requesters=frozenset()) == ""


@given(first=names, requesters=names)
def test_nobody_is_never_the_second(first: frozenset[str], requesters: frozenset[str]) -> None:
    assert doubt_second(frozenset(), first=first, requesters=requesters) == "unknown"
