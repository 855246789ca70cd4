"""The whole evaluation on a small suite: programs, databases, HTTP, sandbox and report."""

import json
import os
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from agents.evaluation import database as evaluation_database, runner, tasks
from agents.evaluation.endpoint import OFFLINE_MODEL
from agents.evaluation.runner import Runner
from agents.evaluation.tasks import Suite
from agents.models import Turn
from integrations.llm import llm
from integrations.models import Organisation
from tests import database

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
SUITE = Path(__file__).parents[2] / "evaluation" / "suite"


@pytest.fixture(autouse=True)
def own_connections(settings: Any) -> Iterator[None]:
    """The evaluation leads connections to databases of its own."""
    with database.unpooled():
        yield
    llm.forget_clients()


@pytest.fixture
def suite() -> Suite:
    return tasks.load(str(SUITE))


def own_databases() -> list[str]:
    """The databases of this process's evaluations."""
    own = f"{evaluation_database.PREFIX}{os.getpid()}_"
    with connection.cursor() as cursor:
        cursor.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [own])
        return [name for (name,) in cursor.fetchall()]


def played(playing: Runner, id: str, steps: Any) -> list[str]:
    task = playing.suite.task(id)
    return list(playing.judge(task, playing.play(task, steps=steps)).failures)


def test_references_succeed_wrong_plays_fail_and_nothing_stays(suite: Suite) -> None:
    before = timezone.now
    with runner.running(suite, model=OFFLINE_MODEL) as playing:
        right = {task.id: played(playing, task.id, task.play) for task in suite.tasks}
        wrong = {
            name: played(playing, task.id, steps)
            for task in suite.tasks
            for name, steps in task.wrong.items()
        }
        again = played(playing, "archive", suite.task("archive").play)

    assert right == {task.id: [] for task in suite.tasks}
    assert wrong["does nothing"][0].startswith("Not done: change emails/mail_lift")
    assert any(
        "Not wanted: changed emails/mail_omar_001" in one for one in wrong["archives one more"]
    )
    assert again == []
    assert timezone.now is before
    assert own_databases() == []
    assert not Organisation.objects.filter(slug="evaluation").exists()
    assert not Turn.objects.exists()


@pytest.fixture
def blank(monkeypatch: pytest.MonkeyPatch) -> None:
    """Migrating is what takes longest, and one test here does it."""
    monkeypatch.setattr(evaluation_database, "BLANK", database.migrated_already())


def evaluate(*arguments: str) -> dict[str, Any]:
    out = StringIO()
    call_command(
        "evaluate", "--suite", str(SUITE), "--json", *arguments, stdout=out, stderr=StringIO()
    )
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


@pytest.mark.usefixtures("blank")
def test_recorded_answers_play_again_and_what_fits_no_more_is_said(tmp_path: Path) -> None:
    recording, folder = tmp_path / "answers.jsonl", tmp_path / "transcripts"
    chosen = ["--task", "archive", "--repeat", "2"]
    first = evaluate("--model", OFFLINE_MODEL, "--record", str(recording), *chosen)

    again = evaluate("--replay", str(recording), "--repeat", "2", "--transcripts", str(folder))

    def told(said: dict[str, Any]) -> list[Any]:
        return [(one["task"], one["try"], one["failures"], one["calls"]) for one in said["tries"]]

    assert told(again) == told(first)
    assert len(told(first)) == 2
    assert again["model"] == OFFLINE_MODEL
    assert min(path.name for path in folder.iterdir()) == "archive-1.md"
    assert "Archive the mail about the lift." in (folder / "archive-1.md").read_text()

    recording.write_text("".join(recording.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(CommandError, match=r"no answer for archive#2: .* Record it anew"):
        evaluate("--replay", str(recording), "--repeat", "2")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--suite", "none"], "There is no suite “none”"),
        (["--suite", str(SUITE), "--task", "none"], "has no task none"),
        (["--suite", str(SUITE), "--replay", "/nowhere"], "/nowhere is no recording"),
    ],
)
def test_what_cannot_be_played_is_said(arguments: list[str], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        call_command("evaluate", *arguments)


@pytest.mark.usefixtures("blank")
def test_prompts_stay_lean() -> None:
    """Prompt tokens as the endpoint counts them, of the tasks that the goals are about."""
    suite = tasks.load("office")
    story, reply, talk = map(suite.task, ("story-two-johns", "reply-to-one-mail", "fifteen-turns"))
    with runner.running(suite, model=OFFLINE_MODEL) as playing:
        in_story, in_reply, in_talk = (playing.play(one) for one in (story, reply, talk))
        heads = {
            json.dumps([one.request["tools"], one.request["messages"][0]])
            for one in playing.endpoint.exchanges
            if "orchestrator" in one.agent
        }

    assert (in_story.use.calls, in_reply.use.calls) == (5, 3)
    assert in_story.use.prompt_tokens <= 12_000
    assert in_reply.use.prompt_tokens <= 8_000
    assert in_talk.prompts[14] < 10_000
    assert len(heads) == 1  # all prompts of the conversation begin with the same bytes
