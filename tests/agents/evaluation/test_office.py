"""The suite `office`: its tasks can be done, and its checks notice when they are done wrongly.

Of each kind and each trap a few are played. All of them: REMIT_EVERY_TASK=1 (five minutes).
"""

import os
from collections.abc import Iterator

import pytest

from agents.evaluation import runner, tasks
from agents.evaluation.endpoint import OFFLINE_MODEL
from agents.evaluation.report import Try
from agents.evaluation.runner import Runner
from agents.evaluation.tasks import Suite, Task
from integrations.llm import llm
from tests import database

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
]
PLAYED = 1  # of each kind and of each trap


@pytest.fixture
def suite() -> Suite:
    return tasks.load("office")


@pytest.fixture
def playing(suite: Suite) -> Iterator[Runner]:
    with (
        database.unpooled(),
        runner.running(suite, model=OFFLINE_MODEL) as running,
    ):
        yield running
    llm.forget_clients()


def chosen(suite: Suite) -> list[Task]:
    if os.environ.get("REMIT_EVERY_TASK"):
        return suite.tasks
    groups: dict[str, list[Task]] = {}
    # Those that have wrong plays come first.
    for task in sorted(suite.tasks, key=lambda task: not task.wrong):
        groups.setdefault(task.trap or task.kind, []).append(task)
    return [task for group in groups.values() for task in group[:PLAYED]]


def test_there_are_tasks_enough_of_each_sort(suite: Suite) -> None:
    trapped = [task for task in suite.tasks if task.trap]

    assert len(suite.tasks) >= 120
    assert 3 * len(trapped) >= len(suite.tasks)
    assert {task.language for task in suite.tasks} == {"en", "de", "fr", "es"}
    assert {task.kind for task in trapped} == {task.kind for task in suite.tasks}
    assert len({task.trap for task in trapped}) == 7
    assert all(task.play for task in suite.tasks)


def test_a_perfect_agent_succeeds_and_a_wrong_one_fails(suite: Suite, playing: Runner) -> None:
    def tried(task: Task, steps: list[tasks.Step]) -> Try:
        return playing.judge(task, playing.play(task, steps=steps))

    failed, succeeded = {}, []
    for task in chosen(suite):
        if failures := tried(task, task.play).failures:
            failed[task.id] = failures
        succeeded += [
            f"{task.id}: {name}" for name, steps in task.wrong.items() if tried(task, steps).success
        ]

    assert failed == {}
    assert succeeded == []
