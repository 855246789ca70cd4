"""A plan as a value: goals and steps with what they wait for, and the changes it can take.

Every change gives a whole valid plan, or a `Refused` that says what is wrong. The server
never advances a plan by itself: a step is completed by a call that says so.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from agents.context.schemas import QUIET

MAX_GOALS = 10
MAX_STEPS = 40  # of all goals together
RESULT_CHARS = 300

NodeId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,40}$")]
Text = Annotated[str, Field(min_length=1, max_length=200)]
Ids = Annotated[list[NodeId], Field(max_length=20)]
StepStatus = Literal["pending", "in_progress", "completed", "failed"]
GoalStatus = Literal["pending", "in_progress", "completed", "blocked"]
Priority = Literal["high", "medium", "low"]
Complexity = Literal["simple", "moderate", "complex"]


class Value(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NewStep(Value):
    """A step as a model proposes it: never done already."""

    id: NodeId
    description: Text
    tools_required: list[Annotated[str, Field(max_length=100)]] = Field(
        default_factory=list, max_length=10, json_schema_extra=QUIET
    )
    execution_strategy: Literal["parallel", "sequential"] = Field(
        default="sequential", json_schema_extra=QUIET
    )
    depends_on: Ids = Field(default_factory=list, description="Ids of steps or goals before it.")


class NewGoal(Value):
    id: NodeId
    description: Text
    priority: Priority = Field(default="medium", json_schema_extra=QUIET)
    estimated_complexity: Complexity = Field(default="moderate", json_schema_extra=QUIET)
    depends_on: Ids = Field(
        default_factory=list,
        description="Ids of goals or steps before it.",
        json_schema_extra=QUIET,
    )
    steps: list[NewStep] = Field(min_length=1, max_length=MAX_STEPS)


class Step(NewStep):
    status: StepStatus = "pending"
    result: str = Field(default="", max_length=RESULT_CHARS)


class Goal(NewGoal):
    steps: list[Step]  # type: ignore[assignment]  # of the same fields and more

    @property
    def status(self) -> GoalStatus:
        """What its steps say: a goal is never done before they are."""
        statuses = {step.status for step in self.steps}
        if "failed" in statuses:
            return "blocked"
        if statuses == {"completed"}:
            return "completed"
        return "pending" if statuses == {"pending"} else "in_progress"


class Plan(Value):
    request: str = Field(default="", max_length=500)
    goals: list[Goal]

    @property
    def steps(self) -> Iterator[Step]:
        return (step for goal in self.goals for step in goal.steps)

    @property
    def finished(self) -> bool:
        return all(step.status == "completed" for step in self.steps)


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A change that the plan cannot take, and what to do instead."""

    message: str
    suggestion: str = ""


def create(old: Plan | None, *, request: str, goals: Sequence[NewGoal]) -> Plan | Refused:
    """A new plan in the place of the old one. A step that was completed and keeps its id
    stays completed."""
    done = {step.id: step for step in old.steps if step.status == "completed"} if old else {}
    return _checked(Plan(request=request, goals=[_goal(goal, done) for goal in goals]))


def update(plan: Plan, id: str, changes: Mapping[str, Any]) -> Plan | Refused:
    """Other values for a goal or a step. A status is a step's alone, and a step starts only
    when nothing it waits for is open."""
    step = _step(plan, id)
    if step is None and not _goal_of(plan, id):
        return _unknown(plan, id)
    known = set(Step.model_fields if step else Goal.model_fields) - {"id", "steps"}
    if strange := sorted(set(changes) - known):
        kind = "step" if step else "goal"
        return Refused(message=f"A {kind} has no {', '.join(strange)} of its own.")
    if not changes:
        return Refused(message="Say what is to change.")
    if step and changes.get("status") == "completed":
        return Refused(message="A step is completed with the action complete.")
    if changes.get("status") == "in_progress" and (waits := list_blockers(plan, id)):
        return _too_early(id, waits)
    return _checked(_with(plan, id, changes))


def complete(plan: Plan, ids: Sequence[str], *, result: str) -> Plan | Refused:
    """Steps completed in this order, all or none. Refused while something they wait for is
    open."""
    for id in ids:
        step = _step(plan, id)
        if step is None:
            if _goal_of(plan, id):
                return Refused(message=f"The goal {id} is completed by completing its steps.")
            return _unknown(plan, id)
        if waits := list_blockers(plan, id):
            return _too_early(id, waits)
        plan = _with(plan, id, {"status": "completed", "result": result[:RESULT_CHARS]})
    return plan if ids else Refused(message="Name the steps that are completed.")


def add(plan: Plan, *, goal: NewGoal | None, step: NewStep | None, to_goal: str) -> Plan | Refused:
    """One more goal, or one more step of a goal."""
    if goal is not None and step is None:
        return _checked(plan.model_copy(update={"goals": [*plan.goals, _goal(goal, {})]}))
    if step is None or goal is not None:
        return Refused(
            message="Add either a goal, with its steps, or a step of a goal.",
            suggestion='Give "goal", or "step" with "goal_id".',
        )
    if not _goal_of(plan, to_goal):
        return _unknown(plan, to_goal or "(no goal_id)")
    goals = [
        one.model_copy(update={"steps": [*one.steps, Step(**step.model_dump())]})
        if one.id == to_goal
        else one
        for one in plan.goals
    ]
    return _checked(plan.model_copy(update={"goals": goals}))


def remove(plan: Plan, id: str) -> Plan | Refused | None:
    """The plan without a goal or step; None when nothing is left. Refused while others wait
    for it: take their dependency away first."""
    nodes = _nodes(plan)
    if id not in nodes:
        return _unknown(plan, id)
    gone = {id}
    for goal in plan.goals:  # a goal goes with its steps, and with the last of them
        steps = {step.id for step in goal.steps}
        if goal.id == id or steps == {id}:
            gone |= {goal.id} | steps
    waiting = sorted(one for one, before in nodes.items() if one not in gone and gone & before)
    if waiting:
        return Refused(
            message=f"{id} cannot be removed: {', '.join(waiting)} depend on it.",
            suggestion="Update their depends_on first.",
        )
    goals = [
        one.model_copy(update={"steps": [step for step in one.steps if step.id != id]})
        for one in plan.goals
        if one.id not in gone
    ]
    return plan.model_copy(update={"goals": goals}) if goals else None


def list_blockers(plan: Plan, id: str) -> list[str]:
    """What is still open of everything that a step comes after, its goal's included."""
    done = {step.id for step in plan.steps if step.status == "completed"}
    done |= {goal.id for goal in plan.goals if goal.status == "completed"}
    return [
        before
        for goal in plan.goals
        for step in goal.steps
        if step.id == id
        for before in dict.fromkeys([*goal.depends_on, *step.depends_on])
        if before not in done
    ]


def list_ready(plan: Plan) -> list[str]:
    """Steps that can be worked on now."""
    return [
        step.id
        for step in plan.steps
        if step.status in ("pending", "in_progress") and not list_blockers(plan, step.id)
    ]


def _goal(goal: NewGoal, done: Mapping[str, Step]) -> Goal:
    steps = [
        Step(**step.model_dump(), status=earlier.status, result=earlier.result)
        if (earlier := done.get(step.id))
        else Step(**step.model_dump())
        for step in goal.steps
    ]
    return Goal(**goal.model_dump(exclude={"steps"}), steps=steps)


def _checked(plan: Plan) -> Plan | Refused:
    ids = [id for goal in plan.goals for id in (goal.id, *(step.id for step in goal.steps))]
    twice = sorted({id for id in ids if ids.count(id) > 1})
    if twice:
        return Refused(message=f"Ids must be unique: {', '.join(twice)}.")
    if len(plan.goals) > MAX_GOALS or len(list(plan.steps)) > MAX_STEPS:
        return Refused(
            message=f"A plan has at most {MAX_GOALS} goals and {MAX_STEPS} steps.",
            suggestion="Make the steps larger: one for a piece of work, not for a tool call.",
        )
    nodes = _nodes(plan)
    unknown = sorted({before for all in nodes.values() for before in all} - set(ids))
    if unknown:
        return Refused(message=f"depends_on names unknown ids: {', '.join(unknown)}.")
    # A goal ends after its steps, and a step begins after what its goal waits for.
    graph = {id: set(before) for id, before in nodes.items()}
    for goal in plan.goals:
        graph[goal.id] |= {step.id for step in goal.steps}
        for step in goal.steps:
            graph[step.id] |= set(goal.depends_on)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = " → ".join(reversed(error.args[1]))
        return Refused(message=f"The dependencies go in a circle: {circle}.")
    return plan


def _nodes(plan: Plan) -> dict[str, set[str]]:
    """What each goal and step names as coming before it."""
    goals = {goal.id: set(goal.depends_on) for goal in plan.goals}
    return goals | {step.id: set(step.depends_on) for step in plan.steps}


def _step(plan: Plan, id: str) -> Step | None:
    return next((step for step in plan.steps if step.id == id), None)


def _goal_of(plan: Plan, id: str) -> Goal | None:
    return next((goal for goal in plan.goals if goal.id == id), None)


def _with(plan: Plan, id: str, changes: Mapping[str, Any]) -> Plan:
    return plan.model_copy(
        update={
            "goals": [
                goal.model_copy(update=dict(changes))
                if goal.id == id
                else goal.model_copy(
                    update={
                        "steps": [
                            step.model_copy(update=dict(changes)) if step.id == id else step
                            for step in goal.steps
                        ]
                    }
                )
                for goal in plan.goals
            ]
        }
    )


def _unknown(plan: Plan, id: str) -> Refused:
    return Refused(
        message=f"The plan has no {id}.", suggestion=f"Its ids: {', '.join(_nodes(plan))}."
    )


def _too_early(id: str, waits: Sequence[str]) -> Refused:
    return Refused(
        message=f"{id} comes after {', '.join(waits)}, which is not completed.",
        suggestion="Complete that first, or update depends_on if the order was wrong.",
    )
