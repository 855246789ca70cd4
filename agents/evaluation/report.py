"""What a run came to, for people and for programs. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agents.evaluation.outcome import Played, Use
from agents.evaluation.tasks import Task


@dataclass(frozen=True, kw_only=True)
class Try:
    """One task, played once and judged."""

    task: Task
    number: int
    played: Played
    failures: Sequence[str]
    side_effects: int  # that nobody wanted

    @property
    def success(self) -> bool:
        return not self.failures

    def as_json(self) -> dict[str, Any]:
        return {"task": self.task.id, "try": self.number, "success": self.success} | {
            "failures": list(self.failures),
            **_figures([self]),
        }


def as_json(suite: str, model: str, tries: Sequence[Try]) -> dict[str, Any]:
    """The whole report. `pass_k` is the share of tasks that succeeded in every try."""
    return {
        "suite": suite,
        "model": model,
        **summary(tries),
        "groups": [
            {"group": name, "tasks": len(by_task(group)), **summary(group)}
            for name, group in _groups(tries)
        ],
        "tries": [one.as_json() for one in tries],
    }


def summary(tries: Sequence[Try]) -> dict[str, Any]:
    """The figures of several tries together."""
    tasks = by_task(tries)
    repeat = max((len(each) for each in tasks.values()), default=0)
    return {
        "tasks": len(tasks),
        "repeat": repeat,
        "success": _share(sum(one.success for one in tries), len(tries)),
        "pass_k": _share(
            sum(all(one.success for one in each) for each in tasks.values()), len(tasks)
        ),
        **_figures(tries),
    }


def by_task(tries: Iterable[Try]) -> dict[str, list[Try]]:
    found: dict[str, list[Try]] = {}
    for one in tries:
        found.setdefault(one.task.id, []).append(one)
    return found


def table(tries: Sequence[Try], *, model: str) -> Iterator[str]:
    """The report in plain words."""
    all_of = summary(tries)
    yield f"{model}: {all_of['tasks']} tasks, each played {_times(all_of['repeat'])}"
    yield ""
    yield f"{'':24}  tasks  right  always  unwanted  calls   tokens"
    for name, group in [*_groups(tries), ("all", tries)]:
        said = summary(group)
        yield (
            f"{name:24} {said['tasks']:6} {said['success']:6.0%} {said['pass_k']:7.0%} "
            f"{said['wrong_side_effects']:9} {said['calls'] / len(group):6.1f} "
            f"{said['prompt_tokens'] / len(group):8,.0f}"
        )
    yield ""
    yield (
        f"Changes that nobody wanted: {all_of['wrong_side_effects']}. "
        f"Done twice: {all_of['duplicates']}."
    )
    yield (
        f"Asked the user to approve {all_of['approvals_asked']} times; the tasks need "
        f"{all_of['approvals_needed']}."
    )
    yield (
        f"Refused because policy forbids it: {all_of['refused_by_policy']}. "
        f"Calls in a wrong form: {all_of['refused_by_form']}."
    )
    yield (
        f"Models: {all_of['calls']:,} calls, {all_of['prompt_tokens']:,} tokens asked (of them "
        f"{all_of['cached_tokens']:,} cached), {all_of['answer_tokens']:,} answered, "
        f"{all_of['seconds']:,.0f} s."
    )
    failed = [one for one in tries if not one.success]
    if failed:
        yield ""
        yield "What went wrong:"
    for one in failed:
        yield f"  {one.task.id}, try {one.number}: {' '.join(one.failures)}"


def transcript(one: Try, exchanges: Sequence[Any]) -> str:
    """What was said and what came of it, as Markdown."""
    lines = [f"# {one.task.id}, try {one.number}", "", one.task.about, ""]
    lines += ["Success." if one.success else "Failed:", ""]
    lines += [f"- {failure}" for failure in one.failures]
    for response in one.played.responses:
        lines += ["", f"## {response['ending'] or response['status']}", "", response["response"]]
    lines += ["", "## Changes", "", *(f"- {each}" for each in one.played.differences)]
    lines += ["", "## Ledger", ""]
    lines += [f"- {line.action}: {line.status} ({line.reason})" for line in one.played.ledger]
    for number, exchange in enumerate(exchanges, start=1):
        lines += ["", f"## Call {number}: {exchange.agent}", ""]
        for message in exchange.request["messages"]:
            said = message.get("content") or message.get("tool_calls")
            lines += [f"**{message['role']}** {said}", ""]
        lines += [f"**answer** {_answered(exchange.answer)}"]
    return "\n".join(lines) + "\n"


def _answered(answer: Any) -> Any:
    choices = answer.get("choices") or [{}]
    message = choices[0].get("message") or answer
    return message.get("tool_calls") or message.get("content") or message


def _groups(tries: Sequence[Try]) -> list[tuple[str, list[Try]]]:
    """By kind of task, by language and by trap, each by name."""
    found: dict[str, list[Try]] = {}
    for one in tries:
        task = one.task
        names = [f"1{task.kind}", f"2in {task.language}"]
        names += [f"3trap: {task.trap.replace('_', ' ')}"] if task.trap else []
        for name in names:
            found.setdefault(name, []).append(one)
    return [(name[1:], found[name]) for name in sorted(found)]


def _figures(tries: Sequence[Try]) -> dict[str, Any]:
    played = [one.played for one in tries]
    use = sum((one.use for one in played), Use())
    return {
        "wrong_side_effects": sum(one.side_effects for one in tries),
        "duplicates": sum(one.duplicates for one in played),
        "refused_by_policy": sum(one.refused for one in played),
        "refused_by_form": sum(one.malformed for one in played),
        "approvals_asked": sum(len(one.asked) for one in played),
        "approvals_needed": sum(one.task.needed for one in tries),
        "calls": use.calls,
        "prompt_tokens": use.prompt_tokens,
        "cached_tokens": use.cached_tokens,
        "answer_tokens": use.answer_tokens,
        "seconds": round(sum(one.seconds for one in played), 1),
    }


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")
