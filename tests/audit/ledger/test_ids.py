import os
import threading
from datetime import UTC, datetime, timedelta
from uuid import RFC_4122, UUID

from audit.ledger import ids


def test_an_id_is_version_7_and_holds_its_time() -> None:
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    made = ids.uuid7()
    assert (made.version, made.variant) == (7, RFC_4122)
    assert before <= ids.moment(made) <= datetime.now(UTC)


def test_ids_of_one_process_only_grow_across_threads() -> None:
    made: list[list[UUID]] = [[] for _ in range(4)]

    def make(into: list[UUID]) -> None:
        into.extend(ids.uuid7() for _ in range(5000))

    threads = [threading.Thread(target=make, args=(into,)) for into in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(into == sorted(into) for into in made)
    assert len({one for into in made for one in into}) == 20_000


def test_a_forked_process_does_not_repeat_the_ids_of_its_parent() -> None:
    ids.uuid7()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, ids.uuid7().bytes)
        os._exit(0)
    mine = ids.uuid7()
    os.waitpid(child, 0)
    assert UUID(bytes=os.read(reading, 16)) != mine
    os.close(reading)
    os.close(writing)


def test_floor_is_below_every_id_of_its_millisecond_and_above_the_one_before() -> None:
    at = datetime(2026, 11, 20, 12, 0, 0, 514_000, tzinfo=UTC)
    floor = ids.floor(at)
    assert ids.moment(floor) == at
    assert ids.floor(at - timedelta(milliseconds=1)) < floor
    assert floor.version == 7
    assert floor <= ids.assemble(floor.int >> 80, 1)
