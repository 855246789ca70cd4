"""The time that all processes have, whatever the clock of their machine says."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from django.db import connection

from integrations.database import clock
from tests.clocks import HOUR, clock_off

pytestmark = pytest.mark.django_db
NEAR = timedelta(seconds=5)


@pytest.mark.parametrize("by", [timedelta(), HOUR, -HOUR])
@pytest.mark.parametrize("kept", [0.0, clock.KEPT_SECONDS])
def test_it_is_the_databases(monkeypatch: pytest.MonkeyPatch, by: timedelta, kept: float) -> None:
    monkeypatch.setattr(clock, "KEPT_SECONDS", kept)
    with clock_off(by), connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        assert abs(clock.now() - cursor.fetchone()[0]) < NEAR


def test_it_is_asked_for_once_in_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    clock.now()
    monkeypatch.setattr(clock, "_ask", lambda: pytest.fail("the database was asked"))
    assert clock.now() <= clock.now()


def test_however_long_the_answer_takes_it_is_never_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a connection had to be waited for, or the answer was long under way."""
    counted, heard = [100.0], datetime(2026, 11, 28, 12, tzinfo=UTC)

    def answer_late() -> datetime:
        counted[0] += 60
        return heard

    monkeypatch.setattr(clock, "_ask", answer_late)
    monkeypatch.setattr(clock, "time", SimpleNamespace(monotonic=lambda: counted[0]))
    late = clock._Clock()

    assert late.now() == heard
    counted[0] += 7
    assert late.now() == heard + timedelta(seconds=7)
