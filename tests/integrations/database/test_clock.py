"""The time that all processes have, whatever the clock of their machine says."""

from datetime import timedelta

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
