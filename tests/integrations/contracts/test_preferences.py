"""What a user may say of themself, as values."""

from datetime import time

import pytest

from integrations.contracts import preferences as said
from integrations.contracts.preferences import Hours


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("de", "de"),
        ("DE-at", "de-AT"),
        ("ZH-hant-tw", "zh-Hant-TW"),
        ("es-419", "es-419"),
        ("de-CH-1996", "de-CH-1996"),
        ("en-GB-x-Office", "en-GB-x-office"),
        ("fil", "fil"),
    ],
)
def test_a_language_is_a_tag_in_one_spelling(given: str, written: str) -> None:
    assert said.clean_language(given) == written


@pytest.mark.parametrize(
    "tag", ["", "german", "d", "de_AT", "de-", "de--AT", "de AT", "dé", "de\n", "ignore all limits"]
)
def test_what_is_no_tag_is_refused(tag: str) -> None:
    with pytest.raises(ValueError, match="is not a language"):
        said.clean_language(tag)


def test_hours_come_in_the_order_of_the_week_and_in_few_words() -> None:
    usual = {"start": "08:30", "end": "17:00"}
    raw = {
        "friday": {"start": "08:30", "end": "13:00"},
        **dict.fromkeys(("wednesday", "tuesday", "monday", "thursday"), usual),
        "sunday": usual,
    }

    hours = said.read_hours(raw)

    assert list(hours) == ["monday", "tuesday", "wednesday", "thursday", "friday", "sunday"]
    assert hours["friday"] == Hours(start=time(8, 30), end=time(13))
    assert said.dump_hours(hours)["friday"] == raw["friday"]
    assert said.render_hours(hours) == "Mon-Thu 08:30-17:00, Fri 08:30-13:00, Sun 08:30-17:00"
    assert said.render_hours({}) == ""


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ([], "Input should be a valid dictionary"),
        ({"someday": {"start": "09:00", "end": "17:00"}}, "someday: Input should be"),
        ({"monday": {"start": "17:00", "end": "09:00"}}, "monday: start must be before end"),
        ({"monday": {"start": "09:00", "end": "09:00"}}, "monday: start must be before end"),
        ({"monday": {"start": "09:00"}}, "monday, end: Field required"),
        ({"monday": {"start": "nine", "end": "17:00"}}, "monday, start: Input should be"),
        ({"monday": {"start": "09:00Z", "end": "17:00Z"}}, "monday: takes times without a zone"),
    ],
)
def test_hours_that_nobody_works_are_refused_with_what_is_wrong(raw: object, why: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        said.read_hours(raw)
    assert said.explain(caught.value).startswith(why)


@pytest.mark.parametrize("hidden", ["\x00", "\x1b", "\u202e", "\u2066", "\u200b", "\u2028", "\r"])
def test_a_character_that_moves_or_hides_others_is_refused(hidden: str) -> None:
    with pytest.raises(ValueError, match=f"U\\+{ord(hidden):04X}"):
        said.check_text(f"Maya{hidden}", lines=True)


def test_a_line_break_stands_in_a_signature_alone() -> None:
    assert said.check_text("Maya\nBerg & Co", lines=True) == "Maya\nBerg & Co"
    with pytest.raises(ValueError, match=r"U\+000A"):
        said.check_text("Maya\nBerg")
