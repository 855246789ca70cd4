from itertools import product

from hypothesis import given, strategies as st

from knowledge.text.lexemes import (
    MAX_BYTES,
    MAX_STEMMED_BYTES,
    Term,
    find_any,
    indexed,
    join_neighbours,
    places,
    plain,
    terms,
    words,
)


def kept(text: str) -> str:
    return indexed(title="", summary="", text=text).plain


def forms(text: str) -> list[str]:
    return [term.plain for term in terms(text)]


def test_accents_are_no_difference_but_letters_are() -> None:
    assert plain("überweisung") == "uberweisung"
    assert plain("straße") == "strasse"
    assert plain("réglée") == "reglee"
    assert plain("mañana") == "manana"
    assert plain("gdańsk") == "gdansk"
    assert plain("łódź") == "lodz"
    assert plain("ёлка") == "елка"
    assert plain("который") == "который"
    assert plain("ガ") == "ガ"
    assert plain("한국") == "한국"
    assert plain("ώρα") == "ωρα"


def test_words_of_any_script_stay_whole() -> None:
    assert list(words("Überfällig: l'été, PROJ-123 (foo_bar) a@b.example")) == [
        *("überfällig", "l", "été", "proj", "123", "foo", "bar", "a", "b", "example"),
    ]
    assert list(words("शुक्रवार तक")) == ["शुक्रवार", "तक"]
    assert list(words("ＡＢＣ ﬁne")) == ["abc", "fine"]


def test_what_is_written_without_blanks_is_kept_in_pairs() -> None:
    assert kept("契約書") == "'契約':1C '約書':2C '書':3C"
    assert kept("会議2026年") == "'会議':1C '議':2C '2026':3C '年':4C"
    assert forms("契約書") == ["契約", "約書"]
    assert forms("猫") == ["猫"]
    assert [term.tsquery for term in terms("猫")] == ["'猫':*"]


def test_the_endings_of_japanese_are_not_looked_for() -> None:
    assert forms("会議はいつですか") == ["会議", "議は"]
    assert forms("すし") == ["すし"]


def test_a_word_is_looked_for_with_and_without_its_accents() -> None:
    [term] = terms("Réglée")

    assert term.tsquery == "'reglee':* | 'réglée':*"
    assert [term.tsquery for term in terms("der Bus")] == ["'der'", "'bus'"]


def test_each_text_is_stemmed_in_its_own_language() -> None:
    german = "Bitte senden Sie mir den Vertrag bis Freitag, damit wir weiterkommen."
    french = "Merci de nous envoyer le contrat signé avant vendredi. " * 40
    found = indexed(
        title="Vertrag",
        summary="They ask for the contract, and that it is signed.",
        text=f"{german}\n\n{french}",
    )

    assert [(language, weight) for language, weight, _ in found.stemmed] == [
        ("german", "A"),
        ("english", "B"),
        ("german", "C"),
        ("french", "C"),
    ]
    assert set(found.languages) == {"german", "french", "english"}


def test_nothing_is_kept_of_nothing() -> None:
    found = indexed(title="", summary="", text=" \n\n ")

    assert (found.plain, found.stemmed, found.languages) == ("", (), ())


@given(st.text(alphabet=st.characters(min_codepoint=1), max_size=3_000), st.text(max_size=50))
def test_every_word_that_is_looked_for_is_kept_where_it_stands(text: str, other: str) -> None:
    places = set(kept(f"{other}\n\n{text}").split())
    words_kept = {place.rpartition(":")[0].strip("'") for place in places}

    assert {form for form in forms(text) if len(form) > 1} <= words_kept
    assert all(any(word.startswith(form) for word in words_kept) for form in forms(text))


@given(st.text(alphabet="'\\:*&|!()<> abé猫ก้", max_size=200))
def test_no_text_leaves_its_quotes(text: str) -> None:
    for form in forms(text):
        assert not set(form) & set("'\\:*&|!()<> ")


def test_what_is_kept_has_a_limit() -> None:
    letters = [chr(0x4E00 + number) for number in range(400)]
    found = indexed(
        title="", summary="", text="".join(a + b for a in letters for b in letters)[:100_000]
    )
    long = indexed(title="", summary="", text="और यह है में " + "नया शब्द का है और में " * 10_000)

    assert len(found.plain.encode()) < 3 * MAX_BYTES
    assert sum(len(text.encode()) for _, _, text in long.stemmed) <= MAX_STEMMED_BYTES


def test_neighbours_are_looked_for_as_one_word_too() -> None:
    found = join_neighbours(terms("Red Hat a b 会議"))

    assert [term.joined for term in found] == [("redhat",), ("redhat",), (), (), ()]
    assert found[1].tsquery == "'hat' | 'redhat':*"
    assert join_neighbours(()) == ()


LETTERS = st.text(alphabet="ab", min_size=1, max_size=5)
EVERY = ["".join(letters) for size in range(1, 6) for letters in product("ab", repeat=size)]


@given(st.lists(LETTERS, max_size=5))
def test_any_of_several_words_finds_what_one_of_them_finds(asked: list[str]) -> None:
    def finds(query: str | None, word: str) -> bool:
        forms = query.replace("'", "").split(" | ") if query else []
        return any(
            word.startswith(form[:-2]) if form.endswith(":*") else word == form for form in forms
        )

    looked_for = join_neighbours(terms(" ".join(asked)))
    found = find_any(looked_for)

    for word in EVERY:
        assert finds(found, word) == any(finds(term.tsquery, word) for term in looked_for)


def test_any_of_several_words_is_looked_for_in_the_fewest_forms() -> None:
    looked_for = join_neighbours(terms("noodle noodles soup on"))

    assert find_any(looked_for) == "'noodle':* | 'on' | 'soup':*"
    assert find_any([]) is None


@given(st.text(alphabet="aAbB ,_-", max_size=60), st.lists(LETTERS, max_size=5))
def test_places_in_ascii_are_those_in_any_text(text: str, asked: list[str]) -> None:
    looked_for: tuple[Term, ...] = terms(" ".join(asked))

    assert set(places(text, looked_for)) == set(places(f"{text} é", looked_for))
