import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.quotes import own_words


@pytest.mark.parametrize(
    "introduction",
    [
        "On Tue, 3 Mar 2026 at 10:01, Ann Berg <ann@example.com> wrote:",
        "On Tue, 3 Mar 2026 at 10:01, Ann Berg\n<ann@example.com> wrote:",
        "Am 3. März 2026 um 10:01 schrieb Ann Berg <ann@example.com>:",
        "Den tis 3 mars 2026 kl 10:01 skrev Ann Berg <ann@example.com>:",
        "-----Original Message-----",
    ],
)
def test_a_quoted_reply_is_left_out(introduction: str) -> None:
    body = f"Fine with me.\n\n{introduction}\n> Shall we meet?\n> Ann"

    assert own_words(body) == "Fine with me."


def test_answers_between_quoted_lines_stay() -> None:
    assert own_words("> Shall we meet?\nYes.\n> Where?\nHere.") == "Yes.\nHere."


@pytest.mark.parametrize("mark", ["-- ", "--", "Sent from my phone", "Get Outlook for iOS"])
def test_a_signature_is_left_out(mark: str) -> None:
    assert own_words(f"See you.\n{mark}\nJohn Smith\n+46 1 234") == "See you."


def test_a_line_of_dashes_in_the_middle_of_a_long_text_is_no_signature() -> None:
    body = "Start.\n--\n" + "\n".join(f"Line {n}" for n in range(20))

    assert own_words(body) == body


def test_a_sentence_of_the_senders_own_is_no_quote() -> None:
    body = "On Monday I wrote:\nplease pay."

    assert own_words(body) == body


def test_a_forwarded_mail_stays() -> None:
    body = "Look at this.\n\n---------- Forwarded message ---------\nFrom: Ann\n> quoted"

    assert own_words(body) == body


def test_a_mail_that_is_nothing_but_a_quote_stays_whole() -> None:
    assert own_words("> all of it") == "> all of it"


@given(st.text())
def test_something_is_left_of_every_text_that_has_something(body: str) -> None:
    assert bool(own_words(body)) == bool(body.strip())
