"""Reviews as values: what the records prove binds, whatever a model thinks of the work."""

import json
import uuid
from typing import Any

import pytest
from pydantic import ValidationError

from agents.answer import gaps, records, review
from agents.answer.gaps import Gaps, Work
from agents.answer.review import MATERIAL_BYTES, Review
from agents.contracts import CallRecord, StepRecord
from agents.journal.leases import Lease
from agents.models import Turn
from agents.plans import plans
from guardrails.facts.reasons import SENTENCES
from integrations.llm.completions import Payer

FINE = Review(quality_score=0.9, completeness=1, relevance=0.8, recommendation="proceed")
ITEM = {"n": 1, "id": "a", "source": "gmail", "title": "A"}


def call(name: str, result: dict[str, Any] | None = None, arguments: str = "{}") -> CallRecord:
    return CallRecord(
        id=uuid.uuid4(),
        name=name,
        arguments=arguments,
        action_id=uuid.uuid4(),
        result=result or {"success": True, "data": {}},
    )


def failed(name: str, code: str) -> CallRecord:
    return call(name, {"success": False, "error": {"code": code, "message": "x"}})


def steps(*calls: CallRecord, finish: str = "stop") -> list[StepRecord]:
    made = [
        StepRecord(number=n, text="", finish_reason="tool_calls", calls=(one,))
        for n, one in enumerate(calls, 1)
    ]
    return [*made, StepRecord(number=99, text="", finish_reason=finish, calls=())]


def work(**fields: Any) -> Work:
    return Work(
        **{
            "payer": Payer(organisation_id=uuid.uuid4(), external_user_id="maya"),
            "request": "What about Q4?",
            "steps": [],
            "plan": None,
            "actions": [],
            "done_types": (),
            "items": {1: ITEM},
            "answer": "Q4 is fine [1].",
            **fields,
        }
    )


def plan(*, done: bool = False) -> plans.Plan:
    steps = [plans.NewStep(id=id, description=f"Do {id}") for id in ("s1", "s2")]
    made = plans.create(
        None, request="", goals=[plans.NewGoal(id="g", description="G", steps=steps)]
    )
    assert isinstance(made, plans.Plan)
    finished = plans.complete(made, ["s1", "s2"] if done else ["s1"], result="")
    assert isinstance(finished, plans.Plan)
    return finished


REFUSED = {"type": "send_email", "status": "refused", "sentence": "Nobody may.", "description": "S"}
PENDING = REFUSED | {"status": "pending"}
FOUND = call("retrieve_context", {"success": True, "data": {"items": [ITEM]}})


@pytest.mark.parametrize(
    ("fields", "binding", "noted"),
    [
        ({}, [], []),
        ({"answer": " "}, ["The answer is empty."], []),
        (
            {"steps": steps(finish="length")},
            ["The answer was cut off at the token limit."],
            [],
        ),
        (
            {"answer": "I sent the mail."},
            ["The answer claims an action that the ledger lacks."],
            [],
        ),
        ({"answer": "I sent the mail.", "done_types": {"send_email"}}, [], []),
        (
            {"answer": "Nothing was done.", "actions": [REFUSED | {"status": "succeeded"}]},
            ["The answer says that nothing was done, and something was."],
            [],
        ),
        (
            {"actions": [REFUSED]},
            [],
            [gaps.IN_OTHER_WORDS],
        ),
        ({"actions": [REFUSED], "answer": "Nobody may."}, [], []),
        (
            {"answer": "Fine [4][1]."},
            ["The answer cites numbers that stand for nothing: 4."],
            [],
        ),
        ({"plan": plan()}, ["The plan's step s2 is not completed: Do s2"], []),
        ({"plan": plan(), "actions": [PENDING]}, [], []),
        ({"plan": plan(done=True)}, [], []),
        (
            {"steps": steps(failed("retrieve_context", "TIMEOUT"))},
            [],
            ["The tool retrieve_context failed and nothing made up for it."],
        ),
        ({"steps": steps(failed("retrieve_context", "TIMEOUT"), FOUND)}, [], []),
        ({"steps": steps(failed("execute_action", "PERMISSION_DENIED"))}, [], []),
        (
            {"steps": steps(FOUND), "answer": "Fine."},
            [],
            ["Items were found, and the answer cites none of them."],
        ),
        ({"answer": None, "plan": plan(), "actions": [REFUSED]}, [], []),
    ],
)
def test_gaps_that_the_records_prove(
    fields: dict[str, Any], binding: list[str], noted: list[str]
) -> None:
    work_left = any("plan's step" in gap for gap in binding)
    assert gaps.find_gaps(work(**fields)) == Gaps(
        binding=tuple(binding), noted=tuple(noted), work_left=work_left
    )


def test_a_binding_gap_overrules_a_model_that_would_proceed() -> None:
    made = review.bind_review(FINE, Gaps(binding=("The answer is empty.",), noted=("n",)))

    assert (made.recommendation, made.completeness, made.quality_score) == ("revise", 0.5, 0.5)
    assert made.gaps == ["The answer is empty."]
    assert review.bind_review(FINE, Gaps(noted=("n",))) == FINE


def test_a_models_own_way_on_is_kept_and_without_a_model_the_records_decide() -> None:
    asked = FINE.model_copy(update={"recommendation": "clarify_query", "gaps": ["Which Alex?"]})

    made = review.bind_review(asked, Gaps(binding=("B",)))
    assert (made.recommendation, made.gaps) == ("clarify_query", ["B", "Which Alex?"])
    alone = review.bind_review(None, Gaps(noted=("n",)))
    assert (alone.recommendation, alone.gaps) == ("proceed", ["n"])
    # FINDINGS A5: where nobody rated the work, 1.0 was shown.
    assert {alone.render()[name] for name in review.SCORES} == {None}
    assert FINE.render()["quality_score"] == 0.9
    assert review.bind_review(None, Gaps(binding=("B",))).recommendation == "revise"
    left = Gaps(binding=("A step is open.",), work_left=True)
    assert review.bind_review(FINE, left).recommendation == "replan"


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"quality_score": 1.2},
        {"completeness": -0.1},
        {"relevance": "high"},
        {"recommendation": "send_all_mail"},
        {"gaps": "none"},
        {"gaps": [""]},
        {"gaps": ["x" * 301]},
    ],
)
def test_anything_but_a_review_is_refused(answer: dict[str, Any]) -> None:
    whole = FINE.model_dump() | answer if answer else {}
    with pytest.raises(ValidationError):
        Review.model_validate(whole)


def test_a_review_is_due_after_work_of_some_length_or_by_a_plan() -> None:
    short, long = steps(call("retrieve_context")), steps(*[call("retrieve_context")] * 4)

    assert not review.is_due_at_end(short, None, min_calls=4)
    assert review.is_due_at_end(long, None, min_calls=4)
    assert not review.is_due_at_end(long, plan(), min_calls=0)
    assert review.is_due_at_end(short, plan(), min_calls=4)
    assert not review.is_due_at_end(short, plan(done=True), min_calls=4)
    assert review.is_due_at_end(steps(call("toDoWrite")), plan(done=True), min_calls=4)
    assert not review.is_due_at_end(steps(), plan(), min_calls=4)


@pytest.mark.parametrize(
    ("fields", "is_reviewed"),
    [
        ({"steps": steps(*[FOUND] * 9)}, False),
        ({"actions": [REFUSED], "answer": "Nobody may."}, False),
        ({"actions": [PENDING]}, False),
        ({"actions": [PENDING], "plan": plan()}, False),
        ({"actions": [PENDING], "answer": "I sent the mail."}, True),
        ({"actions": [PENDING, REFUSED | {"status": "succeeded"}]}, True),
        ({"actions": [REFUSED | {"status": "failed"}]}, True),
        ({"answer": "I sent the mail.", "done_types": {"send_email"}}, True),
        ({"plan": plan()}, False),
        ({"plan": plan(done=True)}, False),
        ({"answer": " "}, True),
    ],
)
def test_only_where_something_was_done_or_claimed_is_there_anything_to_review(
    fields: dict[str, Any], is_reviewed: bool
) -> None:
    assert review.has_matter(work(**fields)) is is_reviewed


@pytest.mark.parametrize(
    ("calls", "every", "reviewed", "due"),
    [(3, 4, 0, False), (4, 4, 0, True), (7, 4, 1, False), (8, 4, 1, True), (8, 0, 0, False)],
)
def test_long_work_is_looked_at_every_so_many_calls(
    calls: int, every: int, reviewed: int, due: bool
) -> None:
    made = steps(*[call("retrieve_context")] * calls, call(review.REVIEW_RESULTS))

    assert review.is_due_midway(made, every=every, reviewed=reviewed) is due


def test_the_material_is_bounded_and_keeps_the_newest_calls() -> None:
    many = [call(f"tool_{n}", {"success": True, "data": "ü" * 5000}, "{}") for n in range(60)]
    text = review.render_material(work(steps=steps(*many)), Gaps())

    assert len(text.encode()) <= MATERIAL_BYTES + 100
    shown = json.loads(text)
    assert shown["calls"][-1]["tool"] == "tool_59"
    assert shown["earlier_calls"] == "left out"


def test_of_each_result_the_reviewer_sees_so_much_that_it_can_judge() -> None:
    """FINDINGS A5: it saw 1,200 characters."""
    long = call("open_item", {"success": True, "data": {"text": "z" * 20_000}})
    material = json.loads(review.render_material(work(steps=steps(long)), Gaps()))

    assert len(material["calls"][0]["result"]) == 6_000


def test_a_refusal_may_be_said_in_the_users_language() -> None:
    wordings = {"Nobody may.": "Niemand darf das."}
    for known, answer, complains in (
        (wordings, "Niemand darf das.", False),
        (wordings, "Nobody may.", False),
        ({}, "Niemand darf das.", True),
        (wordings, "Das ging nicht.", True),
    ):
        found = gaps.find_gaps(work(actions=[REFUSED], answer=answer, wordings=known))
        assert not found.binding
        assert (gaps.IN_OTHER_WORDS in found.noted) is complains, (known, answer)


@pytest.mark.django_db
def test_the_words_of_refusals_are_those_of_the_users_language(turn: Turn) -> None:
    sentence = SENTENCES["not_permitted"]
    refused = REFUSED | {"sentence": sentence, "reason": "not_permitted"}
    Turn.objects.filter(id=turn.id).update(language="de", actions=[refused])
    lease = Lease(turn_id=turn.id, owner=uuid.uuid4())

    found = review.gather_work(lease, request="", steps=[], earlier=[], answer="")

    german = records.say(sentence, language="de")
    assert german.startswith("Kein Betreiber")
    assert found.wordings == {sentence: german}


def test_the_reviewer_gets_the_user_the_time_and_what_was_asked_for() -> None:
    long = json.dumps({"body": "y" * 1500})
    about = {"name": "Maya", "now": "[now] Wednesday"}
    proved = Gaps(binding=("B",), noted=("n",))
    material = json.loads(
        review.render_material(
            work(about=about, steps=steps(call("draft", arguments=long))), proved
        )
    )
    assert (material["user"], material["request"]) == (about, "What about Q4?")
    assert (material["proved_gaps"], material["answer"]) == (["B", "n"], "Q4 is fine [1].")
    assert material["calls"][0]["arguments"] == long
