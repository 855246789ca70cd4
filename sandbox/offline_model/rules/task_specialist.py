"""“You are Remit's task specialist.”: prepare the tasks in the given context."""

import html
import re

from sandbox.offline_model.language import counted, quoted
from sandbox.offline_model.rules.extractor import tasks_in
from sandbox.offline_model.rules.issues import first_project
from sandbox.offline_model.transcript import (
    Call,
    Json,
    Reply,
    Result,
    Transcript,
    as_objects,
    as_text,
)

_BLOCK = re.compile(r"<untrusted\b[^>]*>\n?(.*?)</untrusted>", re.DOTALL)
_PROJECT = re.compile(r"\bproject\s+([A-Z][A-Z0-9]{1,9})\b")


def next_reply(transcript: Transcript) -> Reply:
    prepared = transcript.results_of("prepare_task_creation")
    if prepared:
        return Reply(text=_outcome(prepared[-1]))
    project = _project(transcript)
    text = context_text(transcript.request)
    if not text:
        return Reply(text="I was given no text to extract tasks from.")
    tasks = tasks_in(text)
    if not tasks:
        return Reply(text="I found no tasks in the text.")
    arguments: Json = {"tasks": tasks, "project_key": project}
    return Reply(calls=(Call(name="prepare_task_creation", arguments=arguments),))


def context_text(request: str) -> str:
    """What the items say, as it was written: their content without the fence's escaping."""
    texts = []
    for block in _BLOCK.findall(request):
        content = re.split(r"^Content:[ \n]?", block, maxsplit=1, flags=re.MULTILINE)[-1]
        texts.append(html.unescape(content).strip())
    return "\n\n".join(filter(None, texts))


def _project(transcript: Transcript) -> str:
    """The project that the task names; else the first that the policy knows; else PROJ."""
    task = transcript.request.partition("\n\nAvailable context:")[0]
    named = _PROJECT.search(task)
    if named is not None:
        return named[1]
    return first_project(transcript)


def _outcome(result: Result) -> str:
    if not result.success:
        return f"I could not prepare the tasks. {quoted(result.refusal, limit=400)}"
    actions = as_objects(result.data.get("actions"))
    executed = sum(action.get("status") == "executed" for action in actions)
    number = result.data.get("prepared")
    waiting = (number if isinstance(number, int) else len(actions)) - executed
    parts = [f"Created {counted(executed, 'task')}."] if executed else []
    if waiting or not executed:
        parts.append(f"Prepared {counted(waiting, 'task')}.")
    refused = as_objects(result.data.get("refused"))
    if refused:
        reasons = {as_text(r.get("message")) or as_text(r.get("sentence")) for r in refused}
        reasons.discard("")
        parts.append(
            f"{counted(len(refused), 'task')} refused: "
            + (quoted(" ".join(sorted(reasons)), limit=400) or "no reason was given.")
        )
    return " ".join(parts)
