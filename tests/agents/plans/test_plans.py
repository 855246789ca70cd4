"""Plans as values: dependencies, order, bounds; properties over any sequence of changes."""

import json

import pytest
from hypothesis import given, strategies as st

from agents.plans import plans, rendering
from agents.plans.plans import MAX_GOALS, MAX_STEPS, NewGoal, NewStep, Plan, Refused
from agents.plans.rendering import PLAN_BYTES


def step(id: str, *after: str) -> NewStep:
    return NewStep(id=id, description=f"Do {id}", depends_on=list(after))


def goal(id: str, *steps: NewStep, after: tuple[str, ...] = ()) -> NewGoal:
    return NewGoal(id=id, description=f"Reach {id}", steps=list(steps), depends_on=list(after))


def plan(*goals: NewGoal) -> Plan:
    made = plans.create(None, request="Who is Alex?", goals=goals)
    assert isinstance(made, Plan), made
    return made


ALEX = (
    goal("goal_1", step("find")),
    goal("goal_2", step("mail"), step("drive"), step("sum", "mail", "drive"), after=("goal_1",)),
)


def statuses(made: Plan) -> dict[str, str]:
    goals: dict[str, str] = {goal.id: goal.status for goal in made.goals}
    return goals | {one.id: one.status for one in made.steps}


def completed(made: Plan, *ids: str, result: str = "") -> Plan:
    after = plans.complete(made, ids, result=result)
    assert isinstance(after, Plan), after
    return after


def test_what_waits_cannot_be_completed_before_what_it_waits_for() -> None:
    made = plan(*ALEX)

    assert plans.list_ready(made) == ["find"]
    assert plans.complete(made, ["mail"], result="") == Refused(
        message="mail comes after goal_1, which is not completed.",
        suggestion="Complete that first, or update depends_on if the order was wrong.",
    )
    after = completed(made, "find", result="Three people")
    assert plans.list_ready(after) == ["mail", "drive"]
    assert isinstance(plans.complete(after, ["sum", "mail", "drive"], result=""), Refused)
    assert completed(after, "mail", "drive", "sum").finished


def test_a_goal_is_as_far_as_its_steps() -> None:
    made = completed(plan(*ALEX), "find")
    begun = plans.update(made, "mail", {"status": "in_progress"})
    assert isinstance(begun, Plan)
    assert statuses(begun)["goal_1"] == "completed"
    assert statuses(begun)["goal_2"] == "in_progress"
    failed = plans.update(begun, "mail", {"status": "failed", "result": "Gmail is away"})
    assert isinstance(failed, Plan)
    assert statuses(failed)["goal_2"] == "blocked"
    assert rendering.render_progress(failed) == "1 of 4 steps completed"


@pytest.mark.parametrize(
    ("goals", "sentence"),
    [
        ((goal("a", step("s", "s")),), "The dependencies go in a circle: s → s."),
        (
            (goal("a", step("s"), after=("b",)), goal("b", step("t"), after=("a",))),
            "The dependencies go in a circle",
        ),
        ((goal("a", step("s", "a")),), "The dependencies go in a circle"),
        ((goal("a", step("s", "nobody")),), "depends_on names unknown ids: nobody."),
        ((goal("a", step("a")),), "Ids must be unique: a."),
        (
            tuple(goal(f"g{n}", step(f"s{n}")) for n in range(MAX_GOALS + 1)),
            f"A plan has at most {MAX_GOALS} goals and {MAX_STEPS} steps.",
        ),
        (
            (
                goal("a", *(step(f"s{n}") for n in range(MAX_STEPS))),
                goal("b", step("t")),
            ),
            f"A plan has at most {MAX_GOALS} goals and {MAX_STEPS} steps.",
        ),
    ],
)
def test_a_plan_that_cannot_be_worked_through_is_refused(
    goals: tuple[NewGoal, ...], sentence: str
) -> None:
    made = plans.create(None, request="", goals=goals)

    assert isinstance(made, Refused)
    assert made.message.startswith(sentence)


def test_a_later_change_cannot_bring_in_a_circle_or_an_unknown_id() -> None:
    made = plan(*ALEX)

    circle = plans.update(made, "find", {"depends_on": ["goal_2"]})
    unknown = plans.update(made, "find", {"depends_on": ["nobody"]})

    assert isinstance(circle, Refused)
    assert circle.message.startswith("The dependencies go in a circle")
    assert unknown == Refused(message="depends_on names unknown ids: nobody.")


@pytest.mark.parametrize(
    ("id", "changes", "sentence"),
    [
        ("nobody", {"description": "x"}, "The plan has no nobody."),
        ("goal_1", {"status": "in_progress"}, "A goal has no status of its own."),
        ("find", {"priority": "high"}, "A step has no priority of its own."),
        ("find", {"status": "completed"}, "A step is completed with the action complete."),
        ("mail", {"status": "in_progress"}, "mail comes after goal_1, which is not completed."),
        ("find", {}, "Say what is to change."),
    ],
)
def test_a_change_that_makes_no_sense_is_refused(
    id: str, changes: dict[str, object], sentence: str
) -> None:
    refused = plans.update(plan(*ALEX), id, changes)

    assert isinstance(refused, Refused)
    assert refused.message == sentence


def test_steps_and_goals_come_and_go_but_never_from_under_others() -> None:
    made = plan(*ALEX)

    more = plans.add(made, goal=None, step=step("slack", "find"), to_goal="goal_2")
    assert isinstance(more, Plan)
    assert [one.id for one in more.steps] == ["find", "mail", "drive", "sum", "slack"]
    kept = plans.remove(more, "mail")
    assert isinstance(kept, Refused)
    assert kept.message == "mail cannot be removed: sum depend on it."
    # The last step takes its goal along, which others wait for.
    assert isinstance(plans.remove(made, "find"), Refused)
    less = plans.remove(made, "goal_2")
    assert isinstance(less, Plan)
    assert [one.id for one in less.goals] == ["goal_1"]
    assert plans.remove(less, "find") is None
    assert isinstance(plans.add(made, goal=None, step=step("x"), to_goal="nobody"), Refused)
    assert isinstance(plans.add(made, goal=None, step=None, to_goal=""), Refused)


def test_a_new_plan_keeps_what_was_completed() -> None:
    made = completed(plan(*ALEX), "find", result="Alex Johnson")
    again = plans.create(made, request="", goals=[goal("g", step("find"), step("docs"))])

    assert isinstance(again, Plan)
    assert statuses(again) == {"g": "in_progress", "find": "completed", "docs": "pending"}
    assert next(again.steps).result == "Alex Johnson"


IDS = st.sampled_from(["a", "b", "c", "d", "e"])
STEPS = st.builds(lambda id, after: step(id, *after), IDS, st.lists(IDS, max_size=3, unique=True))
GOALS = st.builds(
    lambda id, steps, after: goal(id, *steps, after=tuple(after)),
    st.sampled_from(["a", "f", "g"]),
    st.lists(STEPS, min_size=1, max_size=4),
    st.lists(st.sampled_from(["a", "b", "f", "g"]), max_size=2, unique=True),
)
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("complete"), IDS),
        st.tuples(st.just("remove"), IDS),
        st.tuples(st.just("update"), IDS),
        st.tuples(st.just("add"), STEPS),
    ),
    max_size=8,
)


@given(st.lists(GOALS, min_size=1, max_size=3), CHANGES)
def test_after_any_changes_a_plan_can_still_be_worked_through(
    goals: list[NewGoal], changes: list[tuple[str, object]]
) -> None:
    made: Plan | Refused | None = plans.create(None, request="", goals=goals)
    for action, what in changes:
        if not isinstance(made, Plan):
            return
        match action:
            case "complete":
                tried: Plan | Refused | None = plans.complete(made, [str(what)], result="r")
            case "remove":
                tried = plans.remove(made, str(what))
            case "update":
                tried = plans.update(made, str(what), {"depends_on": ["b"]})
            case _:
                assert isinstance(what, NewStep)
                tried = plans.add(made, goal=None, step=what, to_goal="f")
        made = made if isinstance(tried, Refused) else tried
    if not isinstance(made, Plan):
        return
    assert Plan.model_validate(made.model_dump(mode="json")) == made
    for _ in range(MAX_STEPS):
        made = completed(made, *plans.list_ready(made)[:1]) if plans.list_ready(made) else made
    assert made.finished


def test_the_largest_plan_is_shown_within_its_bound() -> None:
    made = plan(
        *(
            NewGoal(
                id=f"goal_{g}",
                description="ü" * 200,
                steps=[
                    NewStep(id=f"step_{g}_{s}", description="ü" * 200, tools_required=["t" * 100])
                    for s in range(4)
                ],
            )
            for g in range(MAX_GOALS)
        )
    )
    assert len(rendering.render_plan(made).encode()) <= PLAN_BYTES
    made = completed(made, *[one.id for one in made.steps][:-1], result="ü" * 300)
    line = rendering.render_plan(made)
    assert len(line.encode()) <= PLAN_BYTES
    assert json.loads(line)["ready"] == ["step_9_3"]
