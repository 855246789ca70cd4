import threading

import pytest
from django.db import connection, connections

from knowledge.sync.threads import ThreadPool


def test_jobs_run_side_by_side_and_their_results_and_errors_come_back() -> None:
    together = threading.Barrier(3, timeout=60)

    def job() -> int:
        return together.wait()

    def broken() -> None:
        raise ValueError("broken")

    with ThreadPool(3, name="test") as crew:
        futures = [crew.submit(job) for _ in range(3)]
        error = crew.submit(broken)
        assert sorted(future.result() for future in futures) == [0, 1, 2]
        with pytest.raises(ValueError, match="broken"):
            error.result()


def test_what_is_not_begun_when_the_block_ends_is_left_undone() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def first() -> str:
        begun.set()
        go_on.wait(timeout=60)
        return "done"

    with ThreadPool(1, name="test") as crew:
        running, waiting = crew.submit(first), crew.submit(lambda: "never")
        begun.wait(timeout=60)
        threading.Timer(0.05, go_on.set).start()

    assert running.result() == "done"
    assert waiting.cancelled()


@pytest.mark.django_db(transaction=True)
def test_its_threads_close_their_connections() -> None:
    opened = []

    def look() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        opened.append(connections["default"])

    with ThreadPool(2, name="test") as crew:
        for _ in range(4):
            crew.submit(look).result()

    assert {used.connection for used in opened} == {None}
