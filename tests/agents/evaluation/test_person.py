from typing import Any
from zoneinfo import ZoneInfo

from agents.evaluation.outcome import Asked
from agents.evaluation.person import UNFORESEEN, TaskUser
from agents.evaluation.tasks import Task


def user(**fields: Any) -> TaskUser:
    task = Task.model_validate({"id": "a", "kind": "mail", "say": "Hi", **fields})
    return TaskUser(task, ZoneInfo("Europe/Stockholm"))


def waits(id: str, revises: str | None = None, **params: Any) -> dict[str, Any]:
    return {"id": id, "digest": f"d{id}", "type": "archive", "params": params, "revises": revises}


def test_a_question_gets_the_first_answer_that_fits() -> None:
    answers = [{"when": "which john", "say": "Smith"}, {"when": "options: two", "say": "Two"}]
    asked = {
        "needs_clarification": True,
        "response": "Please say:",
        "clarification": {"question": "Which John?", "options": ["Smith"]},
    }

    assert user(answers=answers).reply(asked) == "Smith"
    assert user(answers=[{"say": "Any"}]).reply(asked) == "Any"
    assert user().reply(asked) == UNFORESEEN
    assert user(answers=answers).reply({"needs_clarification": False}) is None


def test_each_proposal_is_decided_as_written_and_else_rejected() -> None:
    decisions = [
        {"do": "approve", "action": "archive", "where": {"email_id": "m1"}},
        {"do": "change", "where": {"email_id": "m2"}, "params": {"email_id": "m3"}},
    ]
    proposed = [waits("1", email_id="m1"), waits("2", email_id="m2"), waits("3", email_id="m4")]

    words, asked = user(decisions=decisions).decide({"pending_actions": proposed})

    assert words == {
        "confirm_actions": ["1"],
        "reject_actions": ["3"],
        "edits": [{"id": "2", "params": {"email_id": "m3"}}],
        "digests": {"1": "d1", "2": "d2", "3": "d3"},
    }
    assert asked == [
        Asked(action="archive", did="approved", foreseen=True),
        Asked(action="archive", did="changed", foreseen=True),
        Asked(action="archive", did="rejected", foreseen=False),
    ]


def test_what_the_user_changed_is_approved_and_counts_once() -> None:
    words, asked = user().decide({"pending_actions": [waits("4", revises="2")]})

    assert words["confirm_actions"] == ["4"]
    assert asked == []
