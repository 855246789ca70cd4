"""`manage.py evaluate`: written tasks, played by a model through a running Remit, with a report."""

import json
import signal
from argparse import ArgumentParser
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from agents.evaluation import report, runner
from agents.evaluation.database import NoDatabase
from agents.evaluation.endpoint import OFFLINE_MODEL, REFERENCE
from agents.evaluation.programs import DidNotStart
from agents.evaluation.recordings import Misfit, Recorder, Recording
from agents.evaluation.report import Try
from agents.evaluation.runner import Runner
from agents.evaluation.tasks import InvalidSuite, Suite, Task, load
from integrations.network import http


class Command(BaseCommand):
    help = (
        "Plays the tasks of a suite in an office of its own and reports how well a model did. "
        "Nothing of Remit's own database or of any organisation is touched. docs/evaluation.md "
        "says how to write a task and what each figure means."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--suite", default="office", help="Its name, or a folder (office).")
        parser.add_argument(
            "--model",
            help=f"CHAT_MODEL, if not given; {OFFLINE_MODEL} is the stand-in, and {REFERENCE} "
            "plays what each task has written down.",
        )
        parser.add_argument("--repeat", type=int, default=1, help="Tries of each task (1).")
        parser.add_argument("--task", action="append", help="Only this one; may be repeated.")
        parser.add_argument("--json", action="store_true", help="The report as one line of JSON.")
        parser.add_argument("--transcripts", type=Path, help="Write what was said to this folder.")
        answers = parser.add_mutually_exclusive_group()
        answers.add_argument("--record", type=Path, help="Keep the model's answers in this file.")
        answers.add_argument("--replay", type=Path, help="Take the answers from this file instead.")

    def handle(self, *args: Any, **options: Any) -> None:
        # What it made is taken away when it is stopped, too.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            self.evaluate(**options)
        except (InvalidSuite, Misfit, NoDatabase, DidNotStart) as error:
            raise CommandError(str(error)) from error

    def evaluate(self, **options: Any) -> None:
        suite = load(options["suite"])
        recording = Recording(options["replay"]) if options["replay"] else None
        model = options["model"] or (recording.model if recording else settings.CHAT_MODEL)
        tasks = self.chosen(suite, options["task"], recording)
        tries: list[Try] = []
        with ExitStack() as stack:
            recorder = None
            if path := options["record"]:
                recorder = Recorder(path, suite=suite.name, model=model)
                stack.enter_context(closing(recorder))
            playing = stack.enter_context(
                runner.running(
                    suite,
                    model=OFFLINE_MODEL if model == REFERENCE else model,
                    upstream=self.upstream(model),
                    recorder=recorder,
                    recording=recording,
                )
            )
            for task in tasks:
                for number in range(1, options["repeat"] + 1):
                    tries.append(self.play(playing, task, number, model))
                    self.say(tries[-1], len(report.by_task(tries)), len(tasks))
                    self.keep(options["transcripts"], tries[-1], playing)
        if options["json"]:
            self.stdout.write(json.dumps(report.as_json(suite.name, model, tries)))
        else:
            for line in report.table(tries, model=model):
                self.stdout.write(line)

    def chosen(
        self, suite: Suite, ids: list[str] | None, recording: Recording | None
    ) -> list[Task]:
        """The tasks that are played: those named, else those recorded, else all."""
        if recording and not ids:
            recorded = {name.partition("#")[0] for name in recording.tasks()}
            return [task for task in suite.tasks if task.id in recorded]
        if not ids:
            return suite.tasks
        unknown = sorted(set(ids) - {task.id for task in suite.tasks})
        if unknown:
            raise CommandError(f"The suite “{suite.name}” has no task {', '.join(unknown)}.")
        return [task for task in suite.tasks if task.id in ids]

    def upstream(self, model: str) -> http.Upstream | None:
        """The endpoint of the model that is tried; None where the stand-in answers."""
        if model in (OFFLINE_MODEL, REFERENCE):
            return None
        base = settings.OPENAI_BASE_URL or "https://api.openai.com/v1"
        return http.client(base, settings.OPENAI_API_KEY)

    def play(self, playing: Runner, task: Task, number: int, model: str) -> Try:
        steps = task.play if model == REFERENCE else None
        return playing.judge(task, playing.play(task, number=number, steps=steps), number=number)

    def say(self, one: Try, done: int, all_of: int) -> None:
        state = "right" if one.success else "wrong"
        self.stderr.write(f"{done}/{all_of} {one.task.id}: {state}", style_func=str)

    def keep(self, folder: Path | None, one: Try, playing: Runner) -> None:
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
            text = report.transcript(one, playing.endpoint.exchanges)
            (folder / f"{one.task.id}-{one.number}.md").write_text(text, encoding="utf-8")
