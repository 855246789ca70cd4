"""A step of the server's clock is a row of the ledger, once."""

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.db import ProgrammingError, connections
from django.utils import timezone

from audit.contracts import LEDGER_TENANT, Recorded
from audit.database import clock
from audit.database.clock import Reading, Watch
from audit.ledger import events, ledger, selectors
from audit.management.commands import seal_ledger
from tests.audit import sealed
from tests.audit.entries import append_action

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def steps() -> tuple[Recorded, ...]:
    return selectors.about_ledger(LEDGER_TENANT, clock.ACTION_TYPE, limit=1000)


def readings(*said: tuple[float, float]) -> Callable[[], Reading]:
    """Server and process clock in seconds since noon and since the start."""
    rows = iter(
        Reading(at=NOON + timedelta(seconds=server), after=own, before=own) for server, own in said
    )
    return lambda: next(rows)


def test_a_clock_that_goes_on_says_nothing() -> None:
    append_action(tenant_id=uuid4())
    before, watch = len(steps()), Watch()
    assert [watch.look() for _ in range(3)] == [None] * 3
    assert len(steps()) == before


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ([(0, 0), (1, 1), (2, 2)], [None, None]),
        ([(0, 0), (0, 1), (1, 2)], [None, None]),  # a second is no step
        ([(0, 0), (-0.5, 1), (0.5, 2)], [1.5, None]),  # hidden by the second between two looks
        ([(0, 0), (-3600, 1), (-3599, 2)], [3601.0, None]),
        ([(0, 0), (-5, 1), (-10, 2)], [6.0, 6.0]),
        ([(0, 0), (3600, 1), (3601, 2)], [None, None]),
    ],
    ids=["goes on", "a second", "hidden", "an hour", "twice", "forward"],
)
def test_a_step_back_of_more_than_a_second_is_found_once(
    said: list[tuple[float, float]],
    found: list[float | None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recorded: list[tuple[datetime, datetime]] = []
    monkeypatch.setattr(clock, "find_newest", lambda: None)
    monkeypatch.setattr(clock, "record", lambda *step: recorded.append(step))
    watch = Watch(readings(*said))
    assert watch.look() is None
    steps = [watch.look() for _ in said[1:]]
    assert [step and step.total_seconds() for step in steps] == found
    assert [(before - after).total_seconds() for before, after in recorded] == [
        step for step in found if step
    ]


def test_an_answer_that_took_long_is_no_step() -> None:
    first = Reading(at=NOON, after=0, before=0)
    slow = Reading(at=NOON + timedelta(seconds=1), after=1, before=9)
    later = Reading(at=NOON + timedelta(seconds=10), after=10, before=10)
    assert first.at_earliest(slow) == slow.at
    assert slow.at_earliest(later) < later.at


def test_a_clock_behind_the_newest_row_is_recorded_once_however_often_one_looks() -> None:
    before = len(steps())
    with sealed.recorded_before(timedelta(seconds=-90)):
        append_action(tenant_id=uuid4())

    step = Watch().look()

    assert step is not None
    assert timedelta(seconds=80) < step <= timedelta(seconds=90)
    row = steps()[0]
    assert (row.phase, row.status, row.actor_type) == ("control", "recorded", "system")
    assert row.payload["sentence"] == (
        f"The database server's clock went back by {step.total_seconds():.1f} s."
    )
    said = (datetime.fromisoformat(row.payload[name]) for name in ("expected", "found"))
    assert next(said) - next(said) == step
    assert Watch().look() is None  # a sealer that is started again
    assert len(steps()) == before + 1


def test_two_sealers_record_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "SAME", timedelta(minutes=10))  # however slow the machine is
    before, found = len(steps()), timezone.now() + timedelta(hours=1)
    with sealed.recorded_before(timedelta(hours=-1)):
        for _ in range(2):
            clock.record(found + timedelta(seconds=7), found)
    assert len(steps()) == before + 1


def test_what_cannot_be_recorded_is_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = True

    def record(*step: datetime) -> None:
        if broken:
            raise ProgrammingError("permission denied")

    monkeypatch.setattr(clock, "find_newest", lambda: None)
    monkeypatch.setattr(clock, "record", record)
    watch = Watch(readings((0, 0), (-9, 1), (-8, 2), (-7, 3)))
    watch.look()
    with pytest.raises(ProgrammingError):
        watch.look()
    broken = False
    step = watch.look()
    assert step == timedelta(seconds=10)
    assert watch.look() is None


def test_the_sealer_looks_at_every_tick(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Stepped(Watch):
        def look(self) -> timedelta:
            stop.set()
            return timedelta(seconds=4)

    stop = threading.Event()
    monkeypatch.setattr(clock, "Watch", Stepped)
    seal_ledger.tick([sealed.SIGNER], stop=stop)
    assert "seal_ledger.clock_stepped_back seconds=4.0" in caplog.text


@pytest.mark.parametrize(
    "other",
    [
        {"action_type": "ledger.export"},
        {"phase": "redaction"},
        {"status": "succeeded"},
        {"tenant_id": uuid4()},
    ],
)
def test_nothing_else_is_recorded_that_way(other: dict[str, Any]) -> None:
    entry = events.build_entry(clock.ACTION_TYPE, tenant_id=LEDGER_TENANT, payload={})
    values = ledger.in_the_clear(replace(entry, **other))
    with connections["ledger"].cursor() as cursor, pytest.raises(ProgrammingError) as refused:
        cursor.execute(clock.RECORD, values)
    assert isinstance(refused.value.__cause__, psycopg.errors.InsufficientPrivilege)
