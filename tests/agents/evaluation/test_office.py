"""The suite `office`: its tasks can be done, and its checks notice when they are done wrongly.

One of each trap is played. `make bench NAME=long` plays all (five minutes).
"""

from collections.abc import Iterator

import pytest

from agents.evaluation import database as evaluation_database, runner, tasks
from agents.evaluation.endpoint import OFFLINE_MODEL
from agents.evaluation.report import Try
from agents.evaluation.runner import Runner
from agents.evaluation.tasks import Suite, Task
from integrations.llm import llm
from tests import database
from tests.long import times

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
]


@pytest.fixture
def suite() -> Suite:
    return tasks.load("office")


@pytest.fixture
def playing(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runner]:
    monkeypatch.setattr(evaluation_database, "BLANK", database.migrated_already())
    with database.unpooled(), runner.running(suite, model=OFFLINE_MODEL) as running:
        yield running
    llm.forget_clients()


def chosen(suite: Suite) -> list[Task]:
    trapped = {task.trap: task for task in reversed(suite.tasks) if task.trap and task.wrong}
    # Its sent mail sets off the status of its thread, at the time of the task.
    sent = suite.task("send-holiday-days")
    return times([*trapped.values(), sent], long=suite.tasks)


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
