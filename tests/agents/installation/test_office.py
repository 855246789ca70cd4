"""Trials act at once where they say so: else a fault between two threads would not be noticed."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, BrokenBarrierError

import pytest

from agents.installation import office


def test_all_that_act_at_once_are_at_it_together() -> None:
    together = Barrier(3, timeout=60)

    places = office.at_once(lambda barrier: barrier.wait(), together, times=3)

    assert sorted(places) == [0, 1, 2]


def test_none_begins_before_all_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office, "ThreadPoolExecutor", lambda times: ThreadPoolExecutor(times - 1))
    monkeypatch.setattr(office, "PATIENCE_SECONDS", 0.1)
    begun: list[str] = []

    with pytest.raises(BrokenBarrierError):
        office.at_once(begun.append, "one", times=3)

    assert begun == []
