"""What is a confirmation in words, by a strict grammar."""

import pytest
from hypothesis import given, strategies as st

from guardrails.approve.words import LONGEST, Meant, read

ONE, ALL = Meant(), Meant(every=True)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Yes", ONE),
        ("yes, please.", ONE),
        ("Yes, do it!", ONE),
        ("go ahead", ONE),
        ("Confirmed.", Meant(explicit=True)),
        ("I confirm both", Meant(every=True, count=2, explicit=True)),
        ("Yes, do all three", Meant(every=True, count=3)),
        ("Yes, create all three", Meant(every=True, count=3, verb="create")),
        ("Yes, please send it", Meant(verb="send")),
        ("Yes, go ahead with all three.", Meant(every=True, count=3)),
        ("Ja, erstelle alle drei", Meant(every=True, count=3, verb="create")),
        ("Oui, crée les trois", Meant(every=True, count=3, verb="create")),
        ("Sí, crea las tres", Meant(every=True, count=3, verb="create")),
        ("Sí, haz las tres", Meant(every=True, count=3)),
        ("Sì, falle tutte e tre", Meant(every=True, count=3)),
        ("Yes, all", ALL),
        ("Yes, all 12", Meant(every=True, count=12)),
        ("Yes, 1 and 3", Meant(numbers=(1, 3))),
        ("2", Meant(numbers=(2,))),
        ("Number 2, please", Meant(numbers=(2,))),
        ("Ja, bitte", ONE),
        ("Ja, mach alle drei", Meant(every=True, count=3)),
        ("Ich bestätige beides", Meant(every=True, count=2, explicit=True)),
        ("1 und 2", Meant(numbers=(1, 2))),
        ("Oui, s'il te plaît", ONE),
        ("Vas-y", ONE),
        ("Oui, fais les trois", Meant(every=True, count=3)),
        ("Je confirme", Meant(explicit=True)),
        ("Sí, hazlo", ONE),
        ("Sí, las tres", Meant(every=True, count=3)),
        ("Confirmo", Meant(explicit=True)),
        ("Sì, fallo, per favore", ONE),
        ("Sì, tutti e tre", Meant(every=True, count=3)),
        ("Confermo entrambi", Meant(every=True, count=2, explicit=True)),
    ],
)
def test_a_short_confirmation_is_understood(text: str, meant: Meant | None) -> None:
    assert read(text) == meant


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ok",
        "Sure",
        "No",
        "No, 1",
        "no 1",
        "All three",
        "Yes?",
        "Send both",
        "Yes, send it to Bob",
        "Yes, create all three tasks in OPS",
        "Yes, but change the title",
        "Yes, if Anna agrees",
        "Yes, and send it to Bob",
        "Yes, do all three and archive the mail",
        "yes yes yes, confirm everything",
        "Don't do it",
        "Do not confirm",
        "“Yes, do it”",
        '"yes"',
        "> yes",
        "yes\nyes",
        "Anna: yes",
        "yes\u200b",
        "y\u0435s",  # with a Cyrillic letter
        "ja nein",
        "Ja, aber später",
        "Nein",
        "Oui, mais plus tard",
        "Non",
        "Sí, pero mañana",
        "Sì, ma domani",
        "Yes, 0",
        "yes " * 20,
    ],
)
def test_anything_else_is_none(text: str) -> None:
    assert read(text) is None


@given(st.text(max_size=80))
def test_what_is_understood_is_short_and_has_no_other_marks(text: str) -> None:
    if read(text) is not None:
        assert len(text) <= LONGEST
        assert not set(text) & set('?"“”«»<>:;()[]\n')
