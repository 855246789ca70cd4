"""What is said after a person confirmed or rejected actions: each one, as it turned out."""

import re
from collections.abc import Sequence

from sandbox.offline_model.language import counted, quoted
from sandbox.offline_model.transcript import Json, as_object, as_text

_TASK = re.compile(r"Create a (?:task|bug|story|epic) in \S+: “(.*)”", re.DOTALL)


def describe_decisions(decisions: Sequence[Json]) -> str:
    """“Done!” only when every action was confirmed and happened."""
    done = [d for d in decisions if _happened(d)]
    tasks = all(as_text(d.get("type")) == "create_jira_task" for d in decisions)
    if len(done) == len(decisions):
        head = f"Done! Created {counted(len(done), 'task')} in Jira:" if tasks else "Done!"
    elif not done and any(d.get("status") == "pending" for d in decisions):
        head = "Changed:"
    elif not done:
        head = "Nothing was done:"
    elif tasks:
        head = f"Created {len(done)} of {counted(len(decisions), 'task')} in Jira:"
    else:
        head = f"{len(done)} of {counted(len(decisions), 'action')} done:"
    return "\n".join([head, *(f"- {_line(d)}" for d in decisions)])


def _happened(decision: Json) -> bool:
    return decision.get("decision") == "confirmed" and decision.get("status") in (
        "succeeded",
        "noop",
    )


def _line(decision: Json) -> str:
    description = as_text(decision.get("description"))
    what = quoted(_TASK.sub(r"\1", description) or as_text(decision.get("type")))
    if decision.get("decision") == "rejected":
        return f"{what}: you rejected it."
    if decision.get("status") == "pending":
        return f"{what}: it waits for your confirmation as you changed it."
    if _happened(decision):
        key = quoted(as_text(as_object(decision.get("result")).get("task_key")))
        so_already = " (it was already like that)" if decision.get("status") == "noop" else ""
        return f"{key}: {what}{so_already}" if key else f"{what}{so_already}"
    outcome = {"refused": "refused", "failed": "failed"}.get(
        as_text(decision.get("status")), "not known whether it happened"
    )
    sentence = quoted(as_text(decision.get("sentence")), limit=400)
    return f"{what}: {outcome}. {sentence}".rstrip()
