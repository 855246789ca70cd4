"""What a stranger made may do to the child that reads it whatever it likes, and to nobody else."""

import fcntl
import os
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from integrations.child import Child, Ended, Unreadable


@pytest.fixture
def child() -> Iterator[Child]:
    running = Child("tests.stubborn_child", seconds=1)
    yield running
    running.close()


def pid(child: Child) -> int:
    assert child._process is not None
    return child._process.pid


def is_asked(process: "subprocess.Popen[bytes]") -> bool:
    """Whether something waits that this process has not read."""
    assert process.stdin is not None
    unread = fcntl.ioctl(process.stdin.fileno(), termios.FIONREAD, bytes(4))
    return int.from_bytes(unread, sys.byteorder) > 0


@pytest.mark.parametrize(
    ("request_", "reason"),
    [("hang", "too_slow"), ("eat", "too_much_memory"), ("raise", "broken"), ("die", "broken")],
)
def test_what_it_cannot_read_has_a_reason_and_the_next_is_read(
    child: Child, request_: str, reason: str
) -> None:
    with pytest.raises(Unreadable) as caught:
        child.ask(request_)

    assert caught.value.reason == reason
    assert child.ask("next") == b"next"


def test_one_process_answers_all_that_goes_well(child: Child) -> None:
    child.ask("a")
    first = pid(child)
    for size in (0, 1, 100_000):
        assert child.ask("x" * size) == b"x" * size

    assert pid(child) == first


def test_it_has_a_time_for_each_request_not_for_all(child: Child) -> None:
    for _ in range(2):
        with pytest.raises(Unreadable):
            child.ask("hang")
        assert child.ask("a") == b"a"


def test_it_sees_no_secret(child: Child) -> None:
    os.environ["REMIT_TEST_SECRET"] = "x"
    try:
        assert "REMIT_TEST_SECRET" not in child.ask("environment").decode()
    finally:
        del os.environ["REMIT_TEST_SECRET"]


def test_one_that_is_ended_from_outside_says_nothing_of_what_it_read(child: Child) -> None:
    child.ask("a")
    process = child._process
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)  # so that it does not answer before it dies
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(child.ask, "b")
        while not is_asked(process):  # else it would be dead before, and another one asked
            os.sched_yield()
        os.kill(process.pid, signal.SIGTERM)
        os.kill(process.pid, signal.SIGCONT)
        with pytest.raises(Ended):
            asked.result()

    assert child.ask("c") == b"c"


def test_threads_ask_one_at_a_time_and_each_gets_its_own_answer(child: Child) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(child.ask, map(str, range(200))))

    assert found == [str(number).encode() for number in range(200)]
