"""toDoWrite: the plan of the conversation. It orders work; it grants nothing."""

from typing import Any, Literal

from pydantic import Field

from agents.context.schemas import QUIET, TAUGHT
from agents.contracts import ToolResult, failure
from agents.plans import plans, rendering, store
from agents.plans.plans import (
    Complexity,
    Ids,
    NewGoal,
    NewStep,
    Plan,
    Priority,
    Refused,
    StepStatus,
)
from agents.tools.base import Arguments, Tool, ToolContext


class ToDoWrite(Arguments):
    action: Literal["create", "update", "complete", "add", "remove", "resume"]
    request: str = Field(default="", max_length=500, json_schema_extra=QUIET)
    goals: list[NewGoal] = Field(default_factory=list)
    id: str = Field(default="", max_length=40)
    ids: Ids = Field(default_factory=list, description="Of steps.")
    result: str | None = Field(
        default=None, max_length=plans.RESULT_CHARS, description="complete, update: what came out."
    )
    description: str | None = Field(
        default=None, min_length=1, max_length=200, json_schema_extra=QUIET
    )
    status: StepStatus | None = Field(default=None, json_schema_extra=TAUGHT)
    priority: Priority | None = Field(default=None, json_schema_extra=QUIET)
    estimated_complexity: Complexity | None = Field(default=None, json_schema_extra=QUIET)
    depends_on: Ids | None = Field(default=None, json_schema_extra=QUIET)
    goal_id: str = Field(default="", max_length=40, json_schema_extra=QUIET)
    goal: NewGoal | None = Field(default=None, json_schema_extra=QUIET)
    step: NewStep | None = Field(default=None, json_schema_extra=QUIET)
    plan_id: int | None = Field(default=None, ge=1, le=2**63 - 1, json_schema_extra=QUIET)


CHANGED = ("description", "status", "result", "priority", "estimated_complexity", "depends_on")


def run(context: ToolContext, arguments: ToDoWrite) -> ToolResult:
    if arguments.action == "resume":
        if arguments.plan_id is None:
            return ToolResult(success=True, data={"plans": store.list_unfinished(context.lease)})
        return _to_result(store.take_over_plan(context.lease, arguments.plan_id))
    return _to_result(store.change_plan(context.lease, lambda plan: change_plan(plan, arguments)))


def change_plan(plan: Plan | None, arguments: ToDoWrite) -> Plan | Refused | None:
    """The plan as the call makes it."""
    if arguments.action == "create":
        if not arguments.goals:
            return Refused(message="A plan needs at least one goal with a step.")
        return plans.create(plan, request=arguments.request, goals=arguments.goals)
    if plan is None:
        return Refused(message="There is no plan yet.", suggestion="Create one.")
    match arguments.action:
        case "update":
            changes = {
                name: value for name in CHANGED if (value := getattr(arguments, name)) is not None
            }
            return plans.update(plan, arguments.id, changes)
        case "complete":
            ids = arguments.ids or ([arguments.id] if arguments.id else [])
            return plans.complete(plan, ids, result=arguments.result or "")
        case "add":
            return plans.add(
                plan, goal=arguments.goal, step=arguments.step, to_goal=arguments.goal_id
            )
    return plans.remove(plan, arguments.id)


def _to_result(changed: Plan | Refused | None) -> ToolResult:
    """The plan itself stands in the state part of the next prompt."""
    if isinstance(changed, Refused):
        return failure(
            "INVALID_INPUT", changed.message, recoverable=True, suggested_action=changed.suggestion
        )
    if changed is None:
        return ToolResult(success=True, data={"progress": "The plan is empty and was removed."})
    data: dict[str, Any] = {
        "progress": rendering.render_progress(changed),
        "ready": plans.list_ready(changed),
    }
    return ToolResult(success=True, data=data)


TOOL = Tool(
    name="toDoWrite",
    description="Keep the plan of work in several steps: create (goals with steps), update (id and "
    "new values), complete (ids of steps whose result is there), add (goal, or step with "
    "goal_id), remove (id), resume (list or take over unfinished plans of other sessions).",
    arguments=ToDoWrite,
    run=run,
    repeats=True,
)
