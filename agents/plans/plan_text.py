"""A plan as models, people and the API are shown it. Pure."""

from typing import Any

from agents.context import results
from agents.plans.plans import Plan, ready

SHOWN_BYTES = 8_000  # of a plan in a prompt


def progress(plan: Plan) -> str:
    steps = list(plan.steps)
    done = sum(step.status == "completed" for step in steps)
    return f"{done} of {len(steps)} steps completed"


def shown(plan: Plan) -> dict[str, Any]:
    """The plan as people and models are shown it."""
    return {
        "request": plan.request,
        "progress": progress(plan),
        "finished": plan.finished,
        "ready": ready(plan),
        "goals": [{"status": goal.status} | goal.model_dump(mode="json") for goal in plan.goals],
    }


def line(plan: Plan) -> str:
    """The plan as JSON for a prompt, at most SHOWN_BYTES long: what is finished is cut first."""
    goals = [goal.model_dump(mode="json", exclude_defaults=True) for goal in plan.goals]
    for goal, value in zip(plan.goals, goals, strict=True):
        value["status"] = goal.status
    head: dict[str, Any] = {
        "request": plan.request,
        "progress": progress(plan),
        "ready": ready(plan),
    }
    text = results.text(head | {"goals": goals})
    if len(text.encode()) <= SHOWN_BYTES:
        return text
    for value in goals:
        value["steps"] = [
            {"id": step["id"], "status": step.get("status", "pending")}
            if step.get("status") == "completed"
            else step | {"result": step.get("result", "")[:60]}
            for step in value["steps"]
        ]
    text = results.text(head | {"goals": goals})
    if len(text.encode()) <= SHOWN_BYTES:
        return text
    described = {step.id: step.description for step in plan.steps}
    listed: dict[str, str] = {}
    head["note"] = "The rest was left out, because it is too long."
    for id in ready(plan):
        longer = listed | {id: described[id]}
        if len(results.text(head | {"ready_steps": longer}).encode()) > SHOWN_BYTES:
            break
        listed = longer
    return results.text(head | {"ready_steps": listed})
