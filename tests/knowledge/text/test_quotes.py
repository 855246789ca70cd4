# ruff: noqa: RUF001 - other languages have letters that look like Latin ones
import gzip
import json
from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from integrations.mail.mail import parse
from knowledge.text.quotes import own_words
from tests.corpus import MAIL, needs_corpus


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


@pytest.mark.parametrize("line", ["", "On 1 May 2026 at 10:01 2026 10:01", "1" * 500])
def test_a_mail_of_lines_that_only_begin_like_a_quote_stays(line: str) -> None:
    body = "Hello" + f"\n{line}" * 20

    assert own_words(body) == body.strip()


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


@pytest.mark.parametrize(
    "introduction",
    [
        "Le mar. 3 mars 2026 à 10:01, Ann Berg <ann@example.com> a écrit :",
        "El mar, 3 mar 2026 a las 10:01, Ann Berg (<ann@example.com>) escribió:",
        "Il giorno mar 3 mar 2026 alle ore 10:01 Ann Berg <ann@example.com> ha scritto:",
        "Op di 3 mrt 2026 om 10:01 schreef Ann Berg <ann@example.com>:",
        "Em ter., 3 de mar. de 2026 às 10:01, Ann <ann@example.com> escreveu:",
        "W dniu 3.03.2026 o 10:01, Ann Berg <ann@example.com> napisała:",
        "В вт, 3 мар. 2026 г. в 10:01, Ann <ann@example.com> написал:",
        "2026年3月3日(火) 10:01 Ann Berg <ann@example.com>さんは書きました：",
        "Ann Berg <ann@example.com> 于2026年3月3日周二 10:01写道：\n> x",
        "Ann Berg wrote:\n> x",
    ],
)
def test_a_quote_is_left_out_in_other_languages(introduction: str) -> None:
    assert own_words(f"Fine with me.\n\n{introduction}\n> Shall we meet?") == "Fine with me."


@pytest.mark.parametrize(
    "head",
    [
        "From: Ann Berg <ann@example.com>\nSent: Tuesday, 3 March 2026\nTo: John\nSubject: Plan",
        "________________________________\nFrom: Ann\nSent: Tuesday\nTo: John\nSubject: Plan",
        "*From:* Ann\n*Sent:* Tuesday\n*To:* John\n*Subject:* Plan",
        "Von: Ann\nGesendet: Dienstag\nAn: John\nBetreff: Plan",
        "De : Ann\nEnvoyé : mardi\nÀ : John\nObjet : Plan",
        "Från: Ann\nSkickat: tisdag\nTill: John\nÄmne: Plan",
        "-----Original Message-----\nFrom: Ann\nSent: Tuesday",
        "-----Ursprüngliche Nachricht-----\nVon: Ann",
    ],
)
def test_what_stands_below_the_head_of_an_answered_mail_is_left_out(head: str) -> None:
    body = f"Fine with me.\n\n{head}\n\nShall we meet?\n\nAnn"

    assert own_words(body).rstrip("_\n") == "Fine with me."


def test_answers_below_and_between_quotes_stay() -> None:
    body = (
        "Hi Ann,\n\nOn Tue, 3 Mar 2026 at 10:01, Ann <ann@example.com> wrote:\n"
        "> Shall we meet?\n\nYes.\n\n> Where?\n> And when?\n\nHere, at nine.\n\n-- \nJohn"
    )

    assert own_words(body).replace("\n", "") == "Hi Ann,Yes.Here, at nine."


def test_an_answer_below_an_original_message_with_marks_stays() -> None:
    body = "----- Original Message -----\nFrom: Ann\nSubject: Plan\n\n> Shall we meet?\n\nYes."

    assert own_words(body) == "Yes."


def test_a_signature_above_a_quote_is_left_out() -> None:
    quote = "\n".join("> line" for _ in range(40))
    body = f"Yes.\n-- \nJohn Smith\n\nOn Tue, 3 Mar 2026, Ann <ann@example.com> wrote:\n{quote}"

    assert own_words(body) == "Yes."


def test_the_footer_of_a_list_is_left_out() -> None:
    rule = "_" * 47
    body = f"Yes.\n\nJohn\n{rule}\nPlans mailing list\nplans@lists.example\nhttps://lists.example"

    assert own_words(body) == "Yes.\n\nJohn"


@pytest.mark.parametrize(
    "body",
    [
        "In 2019 he wrote:\nplease pay.\n\nI did.",
        "On 3 May I wrote:\nplease pay.",
        "From: my desk\nwith love",
        "To: do\nFrom: scratch\nthen rest.",
        "Totals\n==========\n120\n==========",
        "She said:\n\nno.",
    ],
)
def test_words_that_look_like_a_quote_stay(body: str) -> None:
    assert own_words(body) == body


@pytest.mark.parametrize(
    "mark",
    [
        "------- Forwarded Message",
        "--- begin forwarded text",
        "-------- Weitergeleitete Nachricht --------",
    ],
)
def test_a_forwarded_mail_stays_whatever_it_is_called(mark: str) -> None:
    body = f"Look.\n\n{mark}\nFrom: Ann\nDate: Tuesday\nSubject: Plan\n\n> Shall we meet?"

    assert own_words(body) == body


BLOCKS = st.sampled_from(
    [
        ["> quoted"],
        ["> quoted", "", "> more"],
        ["On 3 Mar 2026 at 10:01, Ann <ann@example.com> wrote:", "> quoted"],
        ["On 3 Mar 2026 at 10:01, Ann Berg", "<ann@example.com> wrote:", "", "> quoted"],
        ["Ann said:", "> quoted"],
        ["-----Original Message-----", "From: Ann", "To: John", "", "> quoted"],
        ["mine"],
        ["mine, on 3 March", ""],
    ]
)


@given(st.lists(BLOCKS, min_size=1))
def test_of_marked_quotes_nothing_stays_and_of_answers_everything(blocks: list[list[str]]) -> None:
    body = "\n".join(line for block in blocks for line in block)
    mine = [line for block in blocks for line in block if line.startswith("mine")]

    own = own_words(body)

    assert [line for line in own.splitlines() if line] == mine or (not mine and own == body.strip())


@needs_corpus
def test_of_real_mail_with_quotes_few_keep_any() -> None:
    quoting = left = 0
    with gzip.open(MAIL, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file):
            if number % 5:
                continue
            raw = json.loads(line)["raw"].encode("iso-8859-1")
            raw = raw.partition(b"\n")[2] if raw.startswith(b"From ") else raw
            body = parse(raw, fallback_date=datetime(2026, 1, 1, tzinfo=UTC)).email.body_text
            if any(row.startswith("> ") for row in body.splitlines()):
                quoting += 1
                left += any(row.startswith("> ") for row in own_words(body).splitlines())

    assert quoting > 200
    assert left / quoting < 0.05
