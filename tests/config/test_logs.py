import io
import json
import logging
import sys
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, transaction
from hypothesis import given, strategies as st

from config.logs import LineFormatter
from integrations.models import Organisation
from tests.database import failing_with

MARK = "Zebrafinch of Halmstad"


class Log:
    """A logger of a name, and what it writes."""

    def __init__(self, name: str) -> None:
        self.written = io.StringIO()
        self.logger = logging.Logger(name)  # noqa: LOG001  # nobody else hears it
        handler = logging.StreamHandler(self.written)
        handler.setFormatter(LineFormatter())
        self.logger.addHandler(handler)

    def last(self) -> dict[str, Any]:
        line: dict[str, Any] = json.loads(self.written.getvalue().splitlines()[-1])
        return line


@pytest.fixture
def ours() -> Log:
    return Log("integrations.web.webhooks")


@pytest.fixture
def library() -> Log:
    return Log("somebody.else")


def fail(words: str) -> None:
    try:
        raise KeyError(words)
    except KeyError as error:
        raise ValueError(words) from error


def test_an_exception_is_its_types_and_places_without_its_words(ours: Log) -> None:
    try:
        fail(MARK)
    except ValueError as error:
        error.add_note(MARK)
        ours.logger.exception("webhook.broke", extra={"delivery": 7, "why": error})

    found = ours.last()
    assert MARK not in ours.written.getvalue()
    assert (found["event"], found["delivery"], found["why"]) == (
        *("webhook.broke", 7),
        "builtins.ValueError",
    )
    assert [line for line in found["exception"] if not line.startswith("  ")] == [
        *("builtins.KeyError", "builtins.ValueError"),
    ]
    assert found["exception"][1].startswith("  tests/config/test_logs.py:")
    assert found["exception"][1].endswith(" fail")


def test_each_exception_of_a_group_is_named_once(ours: Log) -> None:
    try:
        try:
            fail(MARK)
        except ValueError as error:
            raise ExceptionGroup(MARK, [error, OSError(28, MARK)]) from error
    except ExceptionGroup:
        ours.logger.exception("broke")

    kinds = [line for line in ours.last()["exception"] if not line.startswith("  ")]
    assert kinds.count("builtins.OSError 28") == kinds.count("builtins.ExceptionGroup") == 1
    assert kinds.count("builtins.KeyError") == kinds.count("builtins.ValueError")
    assert MARK not in ours.written.getvalue()


@pytest.mark.django_db
def test_what_the_database_says_of_a_row_stays_out_and_its_state_is_there(ours: Log) -> None:
    with (
        failing_with("integrations_organisation", "53100"),
        pytest.raises(DatabaseError) as raised,
        transaction.atomic(),
    ):
        Organisation.objects.create(slug="a", name=MARK)
    ours.logger.error("not_stored: %s", raised.value, exc_info=raised.value)

    assert MARK in str(raised.value)
    assert MARK not in ours.written.getvalue()
    assert ours.last()["event"] == "not_stored: django.db.utils.OperationalError"
    assert f"{psycopg.errors.DiskFull.__module__}.DiskFull 53100" in ours.last()["exception"]


def test_a_library_may_say_its_own_sentence_and_nothing_that_was_put_into_it(library: Log) -> None:
    library.logger.warning("Not Found: %s", f"/{MARK}", extra={"request": MARK})
    assert library.last()["event"] == "Not Found: %s"
    library.logger.warning(f"Invalid HTTP_HOST header: {MARK}")  # noqa: G004  # as Django does

    assert library.last()["event"] == "library.message"
    assert library.last()["place"].startswith("test_logs:")
    assert MARK not in library.written.getvalue()


def test_a_traceback_in_a_librarys_words_keeps_its_places_alone(library: Log) -> None:
    text = (
        f"Failed 'x' - {MARK} : Traceback (most recent call last):\n"
        f'  File "{__file__}", line 7, in {MARK}\n    {MARK}\n'
        f'  File "/{MARK}.py", line 8, in x\n'
        f'  File "{sys.prefix}/{MARK}.py", line 9, in x\nValueError: {MARK}'
    )
    library.logger.error(text)

    assert library.last()["exception"] == ["  tests/config/test_logs.py:7"]
    assert MARK not in library.written.getvalue()


@given(st.text(min_size=12, alphabet=st.characters(categories=["Lo"])), st.booleans())
def test_no_words_of_an_exception_are_ever_written(words: str, by_library: bool) -> None:
    log = Log("library" if by_library else "knowledge.ingest")
    try:
        fail(words)
    except ValueError as error:
        log.logger.exception("broke: %s", error)
        log.logger.error("broke", exc_info=error, extra={"errors": [error]})

    assert words not in log.written.getvalue()
