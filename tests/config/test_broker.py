import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.db import connection, connections, transaction
from django.utils import timezone
from django_q.conf import Conf
from django_q.models import OrmQ
from django_q.signing import SignedPackage
from django_q.tasks import async_task
from pytest_django import DjangoAssertNumQueries

from agents import tasks
from agents.inbound import claims
from audit import tasks as audit_tasks
from config.broker import Broker, Task
from config.local import state
from integrations.models import Outage
from knowledge import tasks as knowledge_tasks
from tests.agents.inbound.test_claims import arrive
from tests.database import unpooled
from tests.knowledge.office import account
from tests.program import own_database

pytestmark = pytest.mark.django_db(transaction=True)
WITH_TASKS = (audit_tasks, knowledge_tasks, tasks)


@pytest.fixture
def broker() -> Iterator[Broker]:
    broker = Broker(list_key="tests")
    yield broker
    broker.notices.close()


@pytest.fixture(autouse=True)
def quick_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Conf, "POLL", 0.05)


def database_url() -> str:
    values = connection.settings_dict
    return str(
        psycopg.conninfo.make_conninfo(
            host=values["HOST"],
            port=values["PORT"],
            user=values["USER"],
            password=values["PASSWORD"],
            dbname=values["NAME"],
        )
    )


def seen_by_others() -> int:
    with psycopg.connect(database_url()) as session:
        row = session.execute("SELECT count(*) FROM django_q_ormq").fetchone()
    assert row is not None
    return int(row[0])


def test_a_task_exists_for_others_only_after_commit(broker: Broker) -> None:
    with transaction.atomic():
        number = broker.enqueue("payload")
        assert seen_by_others() == 0

    assert seen_by_others() == 1
    assert broker.dequeue() == [(number, "payload")]


def test_a_rolled_back_task_never_existed(broker: Broker) -> None:
    with transaction.atomic():
        broker.enqueue("payload")
        transaction.set_rollback(True)

    assert seen_by_others() == 0
    assert broker.dequeue() is None


def test_enqueueing_is_one_query(
    broker: Broker, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(1):
        broker.enqueue("payload")


def test_while_nothing_comes_each_wait_costs_one_look(
    broker: Broker, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    assert broker.dequeue() is None

    with django_assert_num_queries(3):
        assert [broker.dequeue() for _ in range(3)] == [None] * 3


def test_a_taken_task_is_given_to_nobody_else_until_its_lock_runs_out(broker: Broker) -> None:
    number = broker.enqueue("payload")
    assert broker.dequeue() == [(number, "payload")]

    assert broker.dequeue() is None
    assert broker.lock_size() == 1

    with connection.cursor() as cursor:
        cursor.execute("UPDATE django_q_ormq SET lock = now() - interval '1 second'")
    assert broker.dequeue() == [(number, "payload")]


def test_an_acknowledged_task_is_gone(broker: Broker) -> None:
    number = broker.enqueue("payload")
    broker.dequeue()

    broker.acknowledge(number)

    assert not OrmQ.objects.exists()


def test_two_workers_never_get_one_task(broker: Broker) -> None:
    expected = {broker.enqueue(f"task {index}") for index in range(60)}

    def drain(_: int) -> list[int | None]:
        mine = Broker(list_key="tests")
        taken: list[int | None] = []
        try:
            while tasks := mine.dequeue():
                taken += [number for number, _ in tasks]
        finally:
            mine.notices.close()
            connections.close_all()
        return taken

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(drain, range(2))

    assert len(first + second) == len(expected)
    assert {*first, *second} == expected


def test_while_deliveries_wait_each_look_gives_out_their_task_beside_another(
    broker: Broker, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    owner = account()
    arrive(owner, "m1", "ann@a.example")
    number = broker.enqueue("payload")

    first, (none, payload) = broker.dequeue() or []
    assert (first, none) == ((number, "payload"), None)
    assert SignedPackage.loads(payload)["func"] is tasks.react
    with django_assert_num_queries(1):
        [(none, _)] = broker.dequeue() or []
    assert none is None

    Outage.objects.create(account_id=owner.id, code="status_503", due_at=timezone.now())
    assert broker.dequeue() is None
    Outage.objects.all().delete()
    assert [one.body["source_id"] for one in claims.claim_queued(8, large=True)] == ["m1"]
    assert broker.dequeue() is None


def test_a_waiting_worker_is_woken_by_a_delivery(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert broker.dequeue() is None  # it listens from now on
    monkeypatch.setattr(Conf, "POLL", 600)
    owner = account()

    def wait() -> list[Task] | None:
        try:
            return broker.dequeue()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        woken = pool.submit(wait)
        arrive(owner, "m1", "ann@a.example")
        assert [number for number, _ in woken.result(timeout=60) or []] == [None]


def test_tasks_of_another_queue_are_left_alone(broker: Broker) -> None:
    Broker(list_key="elsewhere").enqueue("payload")

    assert broker.dequeue() is None
    assert broker.queue_size() == 0


def test_a_waiting_worker_is_woken_by_a_commit(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert broker.dequeue() is None  # it listens from now on
    monkeypatch.setattr(Conf, "POLL", 600)

    def wait() -> list[Task] | None:
        try:
            return broker.dequeue()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        woken = pool.submit(wait)
        with transaction.atomic():
            number = Broker(list_key="tests").enqueue("payload")
        assert woken.result(timeout=60) == [(number, "payload")]


def test_a_lost_connection_costs_one_pause_and_no_task(
    broker: Broker, caplog: pytest.LogCaptureFixture
) -> None:
    with unpooled(), psycopg.connect(database_url(), autocommit=True) as session:
        others = sessions(session)
        broker.dequeue()
        for lost in sessions(session) - others:
            session.execute("SELECT pg_terminate_backend(%s)", [lost])

        assert broker.dequeue() is None
        assert [record.message for record in caplog.records] == ["broker.database_away"]

        number = broker.enqueue("payload")
        assert broker.dequeue() == [(number, "payload")]


def sessions(session: psycopg.Connection) -> set[int]:
    """Of this database, by their process."""
    found = session.execute(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() "
        "AND backend_type = 'client backend'"
    )
    return {pid for (pid,) in found}


def test_a_task_is_given_out_again_only_after_all_before_it_had_their_time() -> None:
    cluster = settings.Q_CLUSTER
    rounds = -(-(cluster["queue_limit"] + 1) // cluster["workers"]) + 1

    assert cluster["retry"] > cluster["timeout"] * rounds


@contextmanager
def real_cluster(log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """One on the database of this test. At the end its queue is empty, and it is to stop."""
    environment = os.environ | own_database() | {"REMIT_PROCESS": "cluster"}
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [sys.executable, "manage.py", "qcluster"],
            cwd=state.PROJECT_DIR,
            env=environment,
            stdout=output,
            stderr=output,
        ) as cluster,
    ):
        try:
            yield cluster
            deadline = time.monotonic() + 60
            while OrmQ.objects.exists():
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.05)
        finally:
            cluster.terminate()


@pytest.mark.slow
def test_a_real_cluster_runs_a_task_once_and_forgets_it(tmp_path: Path) -> None:
    folder, log = tmp_path / "made by the task", tmp_path / "cluster.log"
    async_task("os.mkdir", str(folder))
    with real_cluster(log) as cluster:
        pass

    assert folder.exists()
    assert "Failed" not in log.read_text()
    assert cluster.returncode == 0


def write_collected(file: str) -> None:
    """A task: which modules with tasks its worker's garbage collector looks through."""
    looked_through = {id(one) for one in gc.get_objects()}
    found = [module.__name__ for module in WITH_TASKS if id(vars(module)) in looked_through]
    Path(file).write_text(json.dumps(found), encoding="utf-8")


@pytest.mark.slow
def test_the_garbage_collector_of_a_worker_leaves_out_what_was_loaded_before(
    tmp_path: Path,
) -> None:
    file, log = tmp_path / "collected.json", tmp_path / "cluster.log"
    async_task(write_collected, str(file))
    with real_cluster(log):
        pass

    assert json.loads(file.read_text()) == [], log.read_text()
