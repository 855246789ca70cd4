"""The process that runs turns: many side by side, few connections, nothing lost when it ends."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections
from django.utils import timezone

from agents.journal import leases
from agents.models import Message, Step, Turn, TurnEvent
from agents.turns import turns
from agents.turns.runner import Runner
from integrations.models import Organisation
from tests.agents.waiting import ORCHESTRATOR, running_turns, turn_of
from tests.model_server import Paused, Reply, scripted_model
from tests.office import until

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
MANY, POOL = 20, 2


@contextmanager
def running() -> Iterator[threading.Event]:
    """A runner in this process; it is stopped at the end, or by the event."""
    stop = threading.Event()

    def run() -> None:
        try:
            Runner().run(stop)
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield stop
    finally:
        stop.set()
        thread.join()
        until(lambda: not any(thread.name == "turn" for thread in threading.enumerate()))


def all_finished() -> bool:
    return not Turn.objects.exclude(state="finished").exists()


def test_what_waits_is_run_and_so_is_what_comes_later(
    organisation: Organisation, settings: Any
) -> None:
    turn_of(organisation)
    with scripted_model(settings, {ORCHESTRATOR: ["One.", "Two."]}), running():
        until(all_finished)
        turn_of(organisation)
        until(all_finished)

    said = Message.objects.filter(role="assistant").order_by("created_at")
    assert list(said.values_list("content", flat=True)) == ["One.", "Two."]


def test_no_more_turns_than_there_are_threads_for_are_at_work(
    organisation: Organisation, settings: Any
) -> None:
    settings.TURN_THREADS = 2
    for _ in range(6):
        turn_of(organisation)
    at_work: list[int] = []
    both = threading.Barrier(2)

    def slow(_: dict[str, Any]) -> str:
        at_work.append(Turn.objects.filter(state="running").count())
        connections.close_all()
        both.wait(60)
        return "Done."

    with scripted_model(settings, {ORCHESTRATOR: slow}), running():
        until(all_finished)

    assert len(at_work) == 6
    assert max(at_work) == 2


def test_a_turn_that_breaks_does_not_take_others_along(
    organisation: Organisation, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, whole = turn_of(organisation), turn_of(organisation)
    work = turns.work

    def breaking(lease: leases.Lease, *, stream: bool) -> bool:
        if lease.turn_id == broken:
            raise RuntimeError("a bug")
        return work(lease, stream=stream)

    monkeypatch.setattr(turns, "work", breaking)
    with scripted_model(settings, {ORCHESTRATOR: ["Hello.", "Again."]}), running():
        until(lambda: Turn.objects.get(id=whole).state == "finished")
        monkeypatch.undo()
        past = timezone.now() - timedelta(seconds=1)
        Turn.objects.filter(id=broken).update(lease_expires_at=past)
        until(all_finished)

    assert Turn.objects.get(id=broken).attempts == 2


def test_told_to_stop_it_hands_back_what_waits_for_a_model(
    organisation: Organisation, settings: Any
) -> None:
    settings.TURN_STOP_SECONDS = 0
    turn_id, go_on = turn_of(organisation), threading.Event()
    answers = iter(["Too late.", "In time."])

    def slow(_: dict[str, Any]) -> str:
        answer = next(answers)
        if answer == "Too late.":
            go_on.wait()
        return answer

    with scripted_model(settings, {ORCHESTRATOR: slow}) as model:
        with running() as stop:
            until(model.chats)
            stop.set()
            until(lambda: Turn.objects.get(id=turn_id).state == "queued")
            go_on.set()
        assert not Step.objects.exists()
        with running():
            until(all_finished)

    assert Turn.objects.get(id=turn_id).attempts == 2
    assert Message.objects.get(turn=turn_id, role="assistant").content == "In time."


@pytest.mark.slow
def test_turns_hold_no_connection_while_they_wait_for_a_model(
    organisation: Organisation, settings: Any, tmp_path: Path
) -> None:
    """Ten times as many turns as connections wait for an answer, and then for its end."""
    asked, go_on = threading.Barrier(MANY), threading.Event()

    def slow(_: dict[str, Any]) -> Reply:
        asked.wait(120)
        return Paused("Half of it.", go_on)

    for _ in range(MANY):
        turn_of(organisation)
    log = tmp_path / "log"
    with scripted_model(settings, {ORCHESTRATOR: slow}):
        try:
            with running_turns(log, DATABASE_POOL=str(POOL)) as process:
                heard = TurnEvent.objects.filter(type="text.delta").values("turn").distinct()
                # Text that came at once is kept a while.
                until(lambda: heard.count() > 2 * POOL, seconds=120)
                until(lambda: set(states_of("remit turns")) == {"idle"}, seconds=120)
                held = len(states_of("remit turns"))
                go_on.set()
                until(all_finished, seconds=120)
                process.terminate()
                assert process.wait(60) == 0, log.read_text()
        finally:
            go_on.set()

    assert Message.objects.filter(role="assistant", content="Half of it.").count() == MANY
    assert held <= 2 * POOL  # a pool each for rows and for the ledger


def states_of(application: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT state FROM pg_stat_activity WHERE datname = current_database() "
            "AND application_name = %s",
            [application],
        )
        return [state for (state,) in cursor.fetchall()]


@pytest.mark.slow
def test_turns_of_a_process_that_has_to_stop_are_handed_to_another(
    organisation: Organisation, settings: Any, tmp_path: Path
) -> None:
    turn_id, go_on, log = turn_of(organisation), threading.Event(), tmp_path / "log"
    answers = iter(["Too late.", "In time."])

    def slow(_: dict[str, Any]) -> str:
        answer = next(answers)
        if answer == "Too late.":
            go_on.wait()
        return answer

    with scripted_model(settings, {ORCHESTRATOR: slow}) as model:
        try:
            with running_turns(log, TURN_STOP_SECONDS="0") as process:
                until(model.chats, seconds=120)
                process.terminate()
                assert process.wait(30) == 0, log.read_text()
            assert Turn.objects.get(id=turn_id).state == "queued"
        finally:
            go_on.set()
        with running():
            until(all_finished)

    assert Turn.objects.get(id=turn_id).attempts == 2
    assert Message.objects.get(turn=turn_id, role="assistant").content == "In time."


@pytest.mark.slow
def test_turns_of_a_killed_process_are_finished_by_another(
    organisation: Organisation, settings: Any, tmp_path: Path
) -> None:
    turn_id, go_on = turn_of(organisation), threading.Event()

    def slow(_: dict[str, Any]) -> str:
        go_on.wait()
        return "Done."

    with scripted_model(settings, {ORCHESTRATOR: slow}) as model:
        try:
            with running_turns(tmp_path / "log") as process:
                until(model.chats, seconds=120)
                process.send_signal(signal.SIGKILL)
        finally:
            go_on.set()
        past = timezone.now() - timedelta(seconds=1)
        assert Turn.objects.filter(id=turn_id, state="running").update(lease_expires_at=past)
        with running():
            until(all_finished)

    assert Turn.objects.get(id=turn_id).attempts == 2
    assert Message.objects.get(turn=turn_id, role="assistant").content == "Done."
