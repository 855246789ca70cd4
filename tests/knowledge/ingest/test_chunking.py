import re

from hypothesis import example, given, strategies as st

from knowledge.ingest.chunking import MAX_BYTES, MAX_WORDS, OVERLAP_WORDS, chunk, spans

TEXTS = st.lists(
    st.one_of(
        st.text(max_size=30),
        st.just("\n\n"),
        st.just(" \n \n\t"),
        st.integers(1, 800).map(lambda n: " ".join(["word"] * n)),
        st.integers(1, 4_000).map(lambda n: "漢" * n),
    ),
    max_size=12,
).map(" ".join)


def numbered(count: int, start: int = 0) -> str:
    return " ".join(f"w{n}" for n in range(start, start + count))


@given(TEXTS)
@example("x" * 50_000)
@example("a" + " " * 50_000 + "b")
def test_no_text_is_lost_and_every_passage_goes_on_where_the_one_before_ended(text: str) -> None:
    covered = begun = 0
    for start, end in spans(text):
        assert begun <= start
        assert not text[covered:start].strip()
        assert end > covered
        begun, covered = start, end

    assert not text[covered:].strip()


@given(TEXTS)
def test_no_passage_is_larger_than_a_model_takes(text: str) -> None:
    for passage in chunk(text):
        assert len(re.findall(r"\S{1,100}", passage)) <= MAX_WORDS
        assert len(passage.encode()) <= MAX_BYTES


def test_a_text_without_words_has_no_passages() -> None:
    assert chunk(" \n\n ") == ()


def test_a_short_text_is_one_passage() -> None:
    assert chunk("One.\n\nTwo.") == ("One.\n\nTwo.",)


def test_a_passage_ends_with_a_paragraph_and_the_next_repeats_a_hundred_words() -> None:
    paragraphs = [numbered(250), numbered(250, 250), numbered(250, 500)]

    first, second = chunk("\n\n".join(paragraphs))

    assert first == "\n\n".join(paragraphs[:2])
    assert second == numbered(OVERLAP_WORDS, 400) + "\n\n" + paragraphs[2]


def test_a_paragraph_that_is_too_long_is_cut_between_words() -> None:
    first, second, third = chunk(numbered(1_500))

    assert first == numbered(600)
    assert second == numbered(600, 500)
    assert third == numbered(500, 1_000)


def test_a_change_at_the_end_leaves_the_earlier_passages_as_they_were() -> None:
    text = "\n\n".join(numbered(200, 200 * n) for n in range(6))

    assert chunk(text)[:-1] == chunk(text + " more")[:-1]
