"""Addresses in arguments whose meaning nobody here knows: one plain one each, or none."""

import re

import pytest
from hypothesis import given, strategies as st

from guardrails.facts.addressing import check, people
from guardrails.facts.targets import address_or_none

ADA, EVE = "ada@client.com", "eve@evil.example"


@pytest.mark.parametrize(
    "text",
    [
        f"{ADA}, {EVE}",
        f"{ADA};{EVE},",
        f"{ADA}\r\n{EVE}",
        f"{ADA} {EVE}",
        f" {EVE}",
        f"{EVE}.",
        f"Ada <{EVE}>",
        f'"Eve, Bob" <{EVE}>',
        f"<{EVE}>",
        f"(Ada) {EVE}",
        f"{EVE} (Ada)",
        f"mailto:{EVE}?cc={ADA}",
        f"friends: {ADA}, {EVE};",
        '"eve b"@evil.example',
        "Eve@EVIL.example",
        "ada@cli\u0435nt.com",
        "eve\uff20evil.example",
        "eve@\u200bevil.example",
        "eve@evil\u3002example",
    ],
)
def test_addresses_in_any_other_form_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="plain form"):
        check(text)


@pytest.mark.parametrize(
    "text",
    [
        ADA,
        "Mail from ada@client.com about the roof",
        "See ada@client.com. She knows.",
        "@eve look",
        "a@b",
        "react@18.2.0",
        "@scope/pkg@1.0.0",
        "git@github.com:org/repo.git",
        "https://user:pw@host.com/path",
    ],
)
def test_one_plain_address_passes_and_so_does_text(text: str) -> None:
    check(text)


def test_people_are_found_however_deep_and_nobody_within_words() -> None:
    value = {"to": ADA, "more": [{"cc": [EVE, "Ada"]}], "text": f"Ask {EVE}.", "n": 1}

    assert list(people(value, "arguments")) == [
        ("arguments.to", ADA),
        ("arguments.more[0].cc[0]", EVE),
    ]


PARTS = st.sampled_from([ADA, EVE, f"Ada <{EVE}>", f"({ADA})", f"mailto:{EVE}", f"<{ADA}>"])
BETWEEN = st.sampled_from([", ", ";", "\n", " ", " ;, "])


@given(st.lists(st.tuples(PARTS, BETWEEN), min_size=2, max_size=5))
def test_a_list_of_addresses_is_never_taken_for_text(parts: list[tuple[str, str]]) -> None:
    text = "".join(one + between for one, between in parts)
    named = [one for one, _ in parts if not one.startswith("(")]
    if named:
        with pytest.raises(ValueError, match="plain form"):
            check(text)


@given(st.text(alphabet='ab@.<>," \u200b;:()', max_size=60))
def test_what_passes_is_one_plain_address_or_holds_other_words(text: str) -> None:
    try:
        check(text)
    except ValueError:
        return
    assert address_or_none(text) == text or not re.fullmatch(r"[ab.]+@[ab]+\.[ab]{2,}", text)


@pytest.mark.parametrize(
    "text",
    ['"' * 10_000 + "@", "a " * 9_000 + "@", "x@" + "a." * 9_000, "(" * 9_000 + "@", "a@" * 9_000],
)
def test_no_text_takes_long(text: str) -> None:
    check(text)
