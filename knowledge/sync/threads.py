"""Threads that work side by side, each with a database connection of its own while they last."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Self, TypeVar

from django.db import connections

T = TypeVar("T")


class ThreadPool:
    """A pool of threads for one block. Unlike an executor's, its threads close their
    connections before they end. What has not started when the block ends is left undone."""

    def __init__(self, size: int, *, name: str) -> None:
        self._jobs: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._ended = False
        self._threads = [
            threading.Thread(target=self._work, name=f"{name}-{number}") for number in range(size)
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended = True
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def submit(self, job: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()
        self._jobs.put((future, job))
        return future

    def _work(self) -> None:
        try:
            while (entry := self._jobs.get()) is not None:
                future, job = entry
                if self._ended or not future.set_running_or_notify_cancel():
                    future.cancel()
                    continue
                try:
                    future.set_result(job())
                except BaseException as error:  # noqa: BLE001  # raised where it is waited for
                    future.set_exception(error)
        finally:
            connections.close_all()
