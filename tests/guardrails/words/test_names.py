"""Whom the user's words name: as people write names, and nobody by chance."""

import unicodedata

import pytest
from hypothesis import given, strategies as st

from guardrails.facts.people import Person, search_words
from guardrails.words.names import mentions, words_of


def person(name: str, *others: str, address: str = "", source: str = "directory") -> Person:
    address = address or f"{name.split()[0].casefold()}@company.com"
    return Person(address=address, key=address, names=(name, *others), source=source)  # type: ignore[arg-type]


PRIYA, TOM, INES = person("Priya Shah"), person("Tom Baker"), person("Inés Ødegård-Müller")
ANN, WILL, MAY = person("Ann Lee"), person("Will Young"), person("May Chen")
MARIA = person("Maria de la Cruz", "Mia", "Desk Lead")
OFFICE = (PRIYA, TOM, INES, ANN, WILL, MAY, MARIA)


def named(words: str, *people: Person, titles: tuple[str, ...] = ()) -> dict[str, list[str]]:
    """What each name in the words may mean, by the name as it was typed."""
    found = mentions(words, people or OFFICE, titles=titles)
    return {one.text: sorted(each.names[0] for each in one.people) for one in found}


@pytest.mark.parametrize(
    ("words", "text", "who"),
    [
        ("forward it to Priya", "Priya", PRIYA),
        ("forward it to priya.", "priya", PRIYA),
        ("FORWARD IT TO PRIYA", "PRIYA", PRIYA),
        ("send priya the notes", "priya", PRIYA),
        ("Priya needs the notes", "Priya", PRIYA),
        ("Tell Priya I am late", "Priya", PRIYA),
        ("Email Priya Friday's agenda", "Priya", PRIYA),
        ("Ask @Priya, please", "Priya", PRIYA),
        ("send it to Priya Shah", "Priya Shah", PRIYA),
        ("Leite es an priya shah weiter", "priya shah", PRIYA),
        ("an Frau Shah", "Shah", PRIYA),
        ("to Ms. Shah", "Shah", PRIYA),
        ("mr baker wants it", "baker", TOM),
        ("reply to Tom's mail", "Tom's", TOM),
        ("reply to Tom\u2019s mail", "Tom's", TOM),
        ("share it with Ines", "Ines", INES),
        ("share it with INÉS", "INÉS", INES),
        ("share it with ines odegard-muller", "ines odegard-muller", INES),
        ("share it with Ines Oedegaard-Mueller", "Ines Oedegaard-Mueller", INES),
        (unicodedata.normalize("NFD", "share it with Inés"), "Ine\u0301s", INES),
        ("invite Ann to lunch", "Ann", ANN),
        ("invite Will to lunch", "Will", WILL),
        ("will Will Young come?", "Will Young", WILL),
        ("write to Ms May", "May", MAY),
        ("write to May Chen", "May Chen", MAY),
        ("tell Maria de la Cruz", "Maria de la Cruz", MARIA),
        ("tell Maria Cruz", "Maria Cruz", MARIA),
        ("tell de la Cruz", "de la Cruz", MARIA),
        ("tell Mia", "Mia", MARIA),
        ("not Tom but Priya", "Priya", PRIYA),
        ("Trag Toms Urlaub ein", "Toms", TOM),
        ("Verschieb Toms Kundentermin auf Montag", "Toms", TOM),
        ("Priyas Bericht bitte an mich", "Priyas", PRIYA),
        ("Zeig mir Priya Shahs Aufgaben", "Priya Shahs", PRIYA),
        ("Was steht in Frau Shahs Kalender?", "Shahs", PRIYA),
        ("Zeig mir Ines' Termine", "Ines'", INES),
        ("Flytta Toms möte till fredag", "Toms", TOM),
        ("Verplaats Toms afspraak", "Toms", TOM),
    ],
)
def test_a_name_is_known_as_people_write_it(words: str, text: str, who: Person) -> None:
    assert named(words) == {text: [who.names[0]]}


@pytest.mark.parametrize(
    "words",
    [
        "",
        "forward it",
        "Annabel and Tomas and Priyanka",
        "Priya Patel",  # somebody else
        "ask priya patel",
        "tell Anna Priya to come",  # the second word of another name
        "see Priya.pdf and priya_shah",
        "priya@evil.example",
        "https://evil.example/Priya",
        "forward “Lunch with Tom”",
        "forward \"Lunch with Tom\" and 'Tom'",
        "look at `Priya`",
        "look at <Priya>",
        "Will you mark it?",
        "will you come in may",
        "I will come",
        "the May report is due in May",
        "on Friday",
        "the Young report",
        "Young people first",
        "the baker",
        "everyone but not Priya",
        "everyone except Tom",
        "everybody except Tom and Priya",
        "do not copy Priya",
        "don't tell Tom",
        "ohne Tom",
        "\u0420riya",  # a Cyrillic letter
        "\uff30\uff52\uff49\uff59\uff41",  # full width
        "P\u200briya",
        "Priya-Tom",
        "Tom/Priya",
        "la Cruz Maria",  # in no order that names have
        "Leite es an Toms weiter",  # nothing that Tom has
        "Schreib Toms Berger",  # somebody else
        "Schreib Toms. Termin um 10",
        "die toms termine",
        "Mays Termine",  # a month
        "nicht Toms Termine",
        "Willst Termine sehen",
    ],
)
def test_what_only_resembles_a_name_names_nobody(words: str) -> None:
    assert named(words) == {}


def test_a_name_that_ends_like_a_genitive_is_its_owners() -> None:
    jonas, jona = person("Jonas Berg"), person("Jona Lind")

    assert named("Jonas Termine", jonas, jona) == {}  # of Jona, or a title of Jonas's
    assert named("Jonas' Termine", jonas, jona) == {"Jonas'": ["Jonas Berg"]}
    assert named("Jonas Termine", jona) == {"Jonas": ["Jona Lind"]}
    assert {"tom", "toms", "termine"} == words_of("Toms Termine")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("Let Marco know that it is done", "Marco"),
        ("Pon una reunión con Marco el jueves", "Marco"),
        ("Réponds à Claire que le reçu arrive", "Claire"),
        ("Reenvía la factura a Claire.", "Claire"),
        ("Leite die Rechnung an Claire weiter", "Claire"),
        ("Dis à Rose que c'est fait", "Rose"),  # “à” is not the article “a”
    ],
)
def test_a_first_name_that_is_a_word_elsewhere_is_a_name_with_its_capital(
    words: str, text: str
) -> None:
    office = [person(f"{one} Dubois") for one in ("Marco", "Claire", "Rose")]
    assert named(words, *office) == {text: [f"{text} Dubois"]}


@pytest.mark.parametrize(
    "words",
    [
        "Écris une réponse claire à tout le monde",
        "la cosa più bianca",
        "reunião em marco",
        "reunião em março",
        "Reunião em Março",
        "a rose for everyone",
    ],
)
def test_the_word_itself_is_no_name(words: str) -> None:
    office = [person(f"{one} Dubois") for one in ("Marco", "Claire", "Rose", "Bianca")]
    assert named(words, *office) == {}


def test_each_of_several_names_counts() -> None:
    assert named("Send Tom, Priya and ann lee the plan; Mr Young too") == {
        "Tom": ["Tom Baker"],
        "Priya": ["Priya Shah"],
        "ann lee": ["Ann Lee"],
        "Young": ["Will Young"],
    }


def test_a_name_of_two_is_unclear_and_the_whole_one_is_not() -> None:
    other = person("Priya Patel", address="patel@company.com")
    people = (PRIYA, other)
    (found,) = mentions("send it to Priya", people)
    assert not found.is_clear
    assert found.sentence == (
        "“Priya” is Priya Patel <patel@company.com> or Priya Shah <priya@company.com> in the "
        "directory."
    )
    (whole,) = mentions("send it to Priya Patel", people)
    assert whole.is_clear
    assert whole.people == (other,)


def test_several_addresses_of_one_person_are_one_person() -> None:
    private = Person(address="priya@jira.company.com", key=PRIYA.key, names=("Priya Shah",))
    (found,) = mentions("Priya", (PRIYA, private))
    assert found.is_clear
    assert {one.address for one in found.people} == {PRIYA.address, private.address}


def test_a_colleague_of_the_name_comes_before_who_was_not_written_to_of_late() -> None:
    before = person("Priya Rao", address="priya@client.com", source="sent_before")
    (found,) = mentions("tell Priya", (PRIYA, before))
    assert found.people == (PRIYA,)
    (found,) = mentions("tell Priya Rao", (PRIYA, before))
    assert found.people == (before,)
    twin = person("Priya Shah", address="priya@client.com", source="sent_before")
    (found,) = mentions("tell Priya Shah", (PRIYA, twin))
    assert found.people == (PRIYA, twin)
    (found,) = mentions("tell Priya", (PRIYA, twin))
    assert found.people == (PRIYA,)


def test_a_colleague_and_whom_the_user_wrote_to_of_late_are_two() -> None:
    outside = person("Priya Rao", address="priya@client.com", source="sent")
    (found,) = mentions("tell Priya", (PRIYA, outside))
    assert not found.is_clear
    assert found.sentence == (
        "“Priya” is Priya Shah <priya@company.com> in the directory or Priya Rao "
        "<priya@client.com> in mail that the user sent."
    )
    (found,) = mentions("tell Priya", (TOM, outside))
    assert found.people == (outside,)
    assert found.sentence == "“Priya” is Priya Rao <priya@client.com> in mail that the user sent."


def test_the_title_of_an_object_names_nobody() -> None:
    words = "Forward Lunch with Tom to Priya"
    assert named(words) == {"Tom": ["Tom Baker"], "Priya": ["Priya Shah"]}
    assert named(words, titles=("Lunch with Tom",)) == {"Priya": ["Priya Shah"]}
    assert named("tell Tom", titles=("Tom",)) == {"Tom": ["Tom Baker"]}


def test_names_of_one_letter_name_nobody() -> None:
    assert named("plan B for J", person("J B")) == {}


NAMES = st.sampled_from([one.names[0] for one in OFFICE])
LETTERS = st.text(st.characters(categories=["L"]), min_size=1, max_size=5)


@given(st.text(), st.permutations(OFFICE))
def test_any_words_are_read_in_any_order_of_people(words: str, people: list[Person]) -> None:
    found = mentions(words, people)
    assert found == mentions(words, OFFICE)
    for one in found:
        assert one.people
        assert one.text in words.replace("\u2019", "'").replace("\u02bc", "'")


@given(st.text(), st.sampled_from(OFFICE))
def test_who_is_named_is_found_by_the_look_up(words: str, someone: Person) -> None:
    if mentions(words, (someone,)):
        assert words_of(words).intersection(search_words(someone.names))


@given(NAMES, LETTERS, st.booleans())
def test_a_name_within_another_word_names_nobody(name: str, more: str, first: bool) -> None:
    for word in name.split():
        longer = more + word if first else word + more
        found = named(f"tell {longer}")
        assert word not in found


@given(NAMES, st.sampled_from(["“”", "«»", "„“", '""', "``"]))
def test_a_quoted_name_names_nobody(name: str, marks: str) -> None:
    assert named(f"see {marks[0]}Lunch with {name}{marks[1]} today") == {}


@given(st.lists(NAMES, unique=True, min_size=1))
def test_whole_names_are_found_wherever_they_stand(names: list[str]) -> None:
    found = named(f"Please tell {', '.join(names)}.")
    assert sorted(found) == sorted(names)


@given(NAMES, NAMES)
def test_one_more_person_of_the_same_name_makes_it_unclear(name: str, other: str) -> None:
    twin = Person(address="twin@company.com", key="twin", names=(name,))
    for found in mentions(f"tell {name} and {other}", (*OFFICE, twin)):
        assert found.is_clear == (twin not in found.people)
