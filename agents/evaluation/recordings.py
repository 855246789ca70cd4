"""Answers of a model, kept in a file to be given again without it.

An answer is found by its task, its try and a digest of its request. Ids that are new in each run
count by the order in which the request first names them, so the digest depends on none of them, nor
on a port; times are the task's own. A recorded answer names such ids by that order too.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

VERSION = 1
# Remit's own ids, those of the sandbox for what is new, and where a server of this run listens.
FRESH = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|(?<=_)[0-9a-f]{32}|(?<=_)[0-9a-f]{16}(?![0-9a-f])|127\.0\.0\.1:\d+"
)
MARK = re.compile(r"⟨id (\d+)⟩")


class Misfit(Exception):
    """The recording has no answer to this request. The message says what to do."""


def canonical(request: Mapping[str, Any]) -> tuple[str, list[str]]:
    """A request as text in which fresh ids are numbered, and these ids by their number."""
    ids: list[str] = []

    def number(found: re.Match[str]) -> str:
        if found[0] not in ids:
            ids.append(found[0])
        return f"⟨id {ids.index(found[0])}⟩"

    written = json.dumps(request, ensure_ascii=False, sort_keys=True)
    return FRESH.sub(number, written), ids


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class Recorder:
    """Writes each answer to a new file, as it comes."""

    def __init__(self, path: Path, *, suite: str, model: str) -> None:
        self._file = path.open("w", encoding="utf-8")
        self._write({"version": VERSION, "suite": suite, "model": model})

    def keep(self, task: str, request: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        text, ids = canonical(request)
        said = json.dumps(answer, ensure_ascii=False)
        for number, id in enumerate(ids):
            said = said.replace(id, f"⟨id {number}⟩")
        self._write({"task": task, "request": digest(text), "answer": json.loads(said)})

    def close(self) -> None:
        self._file.close()

    def _write(self, line: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._file.flush()


class Recording:
    """Answers from a file, each given once, in the order they were recorded in."""

    def __init__(self, path: Path) -> None:
        """Raises Misfit for a file that is no recording of this version."""
        try:
            lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        except (OSError, ValueError) as error:
            raise Misfit(f"{path} is no recording: {error}.") from error
        if not lines or not isinstance(lines[0], dict) or lines[0].get("version") != VERSION:
            raise Misfit(f"{path} is no recording of version {VERSION}. Record it anew.")
        self.suite, self.model = str(lines[0]["suite"]), str(lines[0]["model"])
        self._answers: dict[tuple[str, str], list[Any]] = {}
        for line in lines[1:]:
            self._answers.setdefault((line["task"], line["request"]), []).append(line["answer"])

    def tasks(self) -> set[str]:
        return {task for task, _ in self._answers}

    def take(self, task: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to this request. Raises Misfit."""
        text, ids = canonical(request)
        answers = self._answers.get((task, digest(text)))
        if not answers:
            raise Misfit(
                f"The recording has no answer for {task}: prompts, tools, the office or the task "
                "have changed since it was made. Record it anew with --record."
            )
        said = json.dumps(answers.pop(0), ensure_ascii=False)
        answer: dict[str, Any] = json.loads(MARK.sub(lambda found: ids[int(found[1])], said))
        return answer
