"""Whom a card names, whatever is in it."""

import pytest

from integrations.providers.carddav import cards
from integrations.providers.carddav.cards import Card
from tests.integrations.providers.carddav.box import card

TOM = "tom@elsewhere.test"


def read(raw: str | bytes) -> Card:
    content = raw.encode() if isinstance(raw, str) else raw
    return cards.read({"/tom.vcf": content})["/tom.vcf"]


@pytest.mark.parametrize("version", ["3.0", "4.0"])
def test_one_person_is_read_with_their_addresses_as_they_are_compared(version: str) -> None:
    lines = (
        'EMAIL;TYPE="home,work";PREF=1:tom@Elsewhere.TEST',
        "item1.EMAIL:Tom.B@elsewhere.test",
        "email:tom@elsewhere.test",
        "EMAIL:tom@else",
        " where.test",  # one line, folded
        "PHOTO;ENCODING=b:" + "A" * 5000,
    )
    expected = Card(name="Tom", addresses=(TOM, "Tom.B@elsewhere.test"))
    assert read(card("Tom", *lines, version=version)) == expected


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff\xfe nothing",
        card("Tom", f"EMAIL:{TOM}").encode("utf-16"),
        card("Caf\xe9", f"EMAIL:{TOM}").encode("latin-1"),
        card("Tom", f"EMAIL:{TOM}", 'EMAIL;TYPE="open:x@elsewhere.test'),
        card("Tom", f"EMAIL:{TOM}") * 2,
        card("Team", f"EMAIL:{TOM}", "KIND:group", version="4.0"),
        card("Team", f"EMAIL:{TOM}", "X-ADDRESSBOOKSERVER-KIND:group"),
        card("Tom", *(f"EMAIL:p{number}@elsewhere.test" for number in range(21))),
        card("Tom", f"EMAIL:{TOM}", "NOTE:" + "x" * cards.MAX_CARD_BYTES),
    ],
)
def test_what_cannot_be_read_or_is_no_person_names_nobody(raw: str | bytes) -> None:
    assert read(raw).addresses == ()


@pytest.mark.parametrize(
    "value",
    ["Tom <tom@elsewhere.test>", "tom@elsewhere.test,ann@elsewhere.test", "@elsewhere.test", ""],
)
def test_what_is_no_plain_address_is_none(value: str) -> None:
    assert read(card("Tom", f"EMAIL:{value}")).addresses == ()


def test_thousands_of_cards_and_a_bad_one_among_them_are_read() -> None:
    good = card("Tom", f"EMAIL:{TOM}").encode()
    contents = {f"/{number}.vcf": good for number in range(3000)} | {"/bad.vcf": b"\xff"}

    found = cards.read(contents)

    assert found.pop("/bad.vcf") == Card()
    assert set(found.values()) == {Card(name="Tom", addresses=(TOM,))}
