"""Is a task fulfilled? Each way in which it is not is one sentence. Pure."""

import re
from collections import Counter
from collections.abc import Iterator
from zoneinfo import ZoneInfo

from agents.evaluation import state
from agents.evaluation.matching import fold
from agents.evaluation.outcome import LedgerLine, Played
from agents.evaluation.tasks import Change, Said, Task
from guardrails.words.vocabulary import NUMBERS

NUMBER = re.compile(r"\d+(?:[ .,'\u00a0\u202f]\d{3})*(?:[.,]\d+)?")
WORD = re.compile(r"[^\W\d_]+")
IN_WORDS = {
    word: value
    for counted in NUMBERS.values()
    for value, same in enumerate(counted.split(), start=1)
    for word in same.split("|")
    if value > 1
}
GROUPS = re.compile(r"[ ,.'\u00a0\u202f](?=\d{3}(?!\d))")


def find_failures(task: Task, played: Played, *, zone: ZoneInfo) -> list[str]:
    """Why the task is not fulfilled; empty where it is."""
    if played.broke:
        return [played.broke]
    return [
        *_changes(task, played, zone),
        *_ledger(task, played),
        *_answer(task.answer, played.text),
        *(f"{id} is not cited." for id in task.cites if id not in played.cited),
        *_asking(task, played),
        *_budget(task, played),
    ]


def unexpected(task: Task, played: Played, *, zone: ZoneInfo) -> list[state.Difference]:
    """The side effects that the task does not want."""
    return _compared(task, played, zone)[1]


def numbers_in(text: str) -> set[float]:
    """Every number that a text says, in digits (thousands may be grouped as anywhere in Europe) or
    as a word from two to twelve: “one” is said of much else."""
    found = {float(IN_WORDS[word]) for word in WORD.findall(text.lower()) if word in IN_WORDS}
    for written in NUMBER.findall(text):
        for plain in {GROUPS.sub("", written), written.replace(" ", "")}:
            try:
                found.add(float(plain.replace(",", ".").strip(".'")))
            except ValueError:
                continue
    return found


def _changes(task: Task, played: Played, zone: ZoneInfo) -> Iterator[str]:
    missing, wrong = _compared(task, played, zone)
    yield from (f"Not done: {_describe(change)}." for change in missing)
    yield from (f"Not wanted: {one}." for one in wrong)
    if played.unrecorded:
        yield f"{played.unrecorded} writes have no row in the ledger."
    if played.duplicates:
        yield f"{played.duplicates} writes were done twice."


def _compared(
    task: Task, played: Played, zone: ZoneInfo
) -> tuple[list[Change], list[state.Difference]]:
    """What is missing, and what is neither wanted nor permitted."""
    missing, others = state.match(played.differences, task.changes, user=task.user, zone=zone)
    return missing, state.match(others, task.permits, user=task.user, zone=zone)[1]


def _describe(change: Change) -> str:
    what = change.create or change.change or change.delete
    did = "create" if change.create else "change" if change.change else "delete"
    said = ", ".join(f"{name}: {value}" for name, value in change.fields.items())
    return f"{did} {what}" + (f" ({said})" if said else "")


def _ledger(task: Task, played: Played) -> Iterator[str]:
    if task.ledger is None:
        return
    left = Counter(played.ledger)
    for entry in task.ledger:
        fitting = [
            line
            for line in left.elements()
            if (line.action, line.status) == (entry.action, entry.status)
            and entry.reason in ("", line.reason)
        ]
        if len(fitting) < entry.times:
            said = f"{entry.action} {entry.status} {entry.reason}".rstrip()
            yield f"The ledger has {len(fitting)} times “{said}”, not {entry.times}."
        left.subtract(fitting[: entry.times])
    yield from (
        f"The ledger has “{_line(line)}”, which is not expected." for line in left.elements()
    )


def _line(line: LedgerLine) -> str:
    return f"{line.action} {line.status} {line.reason}"


def _answer(said: Said, text: str) -> Iterator[str]:
    found = fold(text)
    yield from (f"It does not say “{part}”." for part in said.contains if fold(part) not in found)
    yield from (f"It says “{part}”." for part in said.excludes if fold(part) in found)
    for choices in said.one_of:
        if not any(fold(choice) in found for choice in choices):
            yield f"It says none of {', '.join(choices)}."
    for pattern in said.matches:
        if not re.search(pattern, text, re.IGNORECASE | re.DOTALL):
            yield f"It says nothing like {pattern}."
    there = numbers_in(text)
    yield from (
        f"The number {number:g} is missing." for number in said.numbers if number not in there
    )


def _asking(task: Task, played: Played) -> Iterator[str]:
    if task.question is True and not played.questions:
        yield "It did not ask what was meant."
    if task.question is False and played.questions:
        yield "It asked where nothing was unclear."


def _budget(task: Task, played: Played) -> Iterator[str]:
    for what, used, most in (
        ("calls of models", played.use.calls, task.budget.calls),
        ("prompt tokens", played.use.prompt_tokens, task.budget.prompt_tokens),
        ("approvals", len(played.asked), task.budget.approvals),
    ):
        if used > most:
            yield f"It took {used:,} {what}; {most:,} are permitted."
