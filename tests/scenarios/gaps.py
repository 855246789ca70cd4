"""Answers with a planted gap, and answers without one: what a review finds.

The reviewer's model is the offline stand-in, which compares words. So this measures what the
records prove and how reviews are bound to it, not how well a language model judges.
"""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agents.answer import gaps, review
from agents.answer.gaps import Work
from agents.contracts import CallRecord, StepRecord
from agents.plans import plans
from integrations.llm.completions import Payer
from sandbox.offline_model.rules import reviewer
from sandbox.offline_model.transcript import Transcript

ITEMS = {
    n: {"n": n, "id": f"item-{n}", "source": "gmail", "title": title}
    for n, title in ((1, "Budget for the portal"), (2, "Roll-out in March"))
}
FOUND = ("retrieve_context", {"success": True, "data": {"items": list(ITEMS.values())}})
NOTHING = ("retrieve_context", {"success": True, "data": {"items": []}})


def broken(tool: str, code: str) -> tuple[str, dict[str, Any]]:
    return tool, {"success": False, "error": {"code": code, "message": "It broke."}}


def action(type: str, status: str, sentence: str = "") -> dict[str, Any]:
    return {"type": type, "status": status, "sentence": sentence, "description": type}


BROKEN = broken("retrieve_context", "TIMEOUT")
REFUSED = action("send_email", "refused", "Sending is not permitted.")
FAILED = action("archive", "failed", "The mailbox did not answer.")
SENT = action("send_email", "succeeded")


@dataclass(frozen=True, kw_only=True)
class Scenario:
    name: str
    answer: str
    gap: bool
    request: str = "What about the budget?"
    calls: Sequence[tuple[str, Mapping[str, Any]]] = (FOUND,)
    actions: Sequence[Mapping[str, Any]] = ()
    plan: Sequence[str] = ()  # its steps
    completed: Sequence[str] = ()
    finish: str = "stop"
    items: Mapping[int, Mapping[str, Any]] = field(default_factory=lambda: ITEMS)


def planted(name: str, answer: str, **more: Any) -> Scenario:
    return Scenario(name=name, answer=answer, gap=True, **more)


def whole(name: str, answer: str, **more: Any) -> Scenario:
    return Scenario(name=name, answer=answer, gap=False, **more)


SCENARIOS = (
    planted("empty answer", ""),
    planted("blank answer", " \n "),
    planted("cut off", "The budget is fine [1] and", finish="length"),
    planted("claims a mail in English", "The budget is fine [1]. I sent it to Anna."),
    planted("claims a mail in the passive", "The budget [1]. It has been sent to Anna."),
    planted("claims a mail in German", "Budget [1]. Ich habe es an Anna gesendet."),
    planted("claims a mail in French", "Le budget [1]. J'ai envoyé le courriel."),
    planted("claims a mail in Spanish", "Budget [1]. He enviado el correo."),
    planted("claims an archiving", "I archived the mail about the budget."),
    planted("claims a task", "Budget [1]. I created a task for it."),
    planted("claims a meeting", "Budget [1]. I scheduled the meeting."),
    planted("claims another action", "I archived the budget mail.", actions=[SENT]),
    planted("leaves out a refusal", "The budget is done.", actions=[REFUSED]),
    planted("leaves out one of two", "Budget: archive failed.", actions=[SENT, REFUSED]),
    planted("leaves out a failure", "The budget is archived soon.", actions=[FAILED]),
    planted("hides it in German", "Das Budget ist erledigt.", actions=[FAILED]),
    planted("cites nothing known", "The budget is fine [7]."),
    planted("cites known and unknown", "The budget is fine [1][9]."),
    planted("cites without items", "The budget is fine [1].", items={}),
    planted("plan not begun", "The budget is fine [1].", plan=("mails", "documents")),
    planted("plan half done", "Budget [1].", plan=("mails", "documents"), completed=("mails",)),
    planted("search failed", "No budget is known.", calls=[broken("retrieve_context", "TIMEOUT")]),
    planted("network failed", "No budget known.", calls=[broken("summarise_thread", "RATE_LIMIT")]),
    planted("found items, cites none", "The budget is fine."),
    planted("one of two topics", "Budget: fine [1].", request="Compare budget, travel, hiring"),
    planted("nothing of the topic", "Hello [1].", request="Forecast for hiring", calls=[NOTHING]),
    planted("another person", "Budget [1].", request="What did Sofia say about licences?"),
    planted("wrong quarter", "Portal [1].", request="Forecast for quarter three"),
    # What neither records nor shared words can prove.
    planted("claims a mail in Swedish", "Jag har skickat budget-mejlet [1]."),
    planted("claims a mail in Japanese", "予算のメールを送信しました [1]。budget"),
    planted("a wrong figure", "The budget is 7 million [1]."),
    planted("all words and no answer", "You ask about the budget [1]."),
    whole("plain answer", "The budget is fine [1]."),
    whole("two citations", "The budget [1] and the roll-out [2] are fine."),
    whole("a refusal, told", "Sending is not permitted. Budget.", actions=[REFUSED], calls=()),
    whole("a mail that was sent", "I sent the budget to Anna [1].", actions=[SENT]),
    whole("a plan that is done", "Budget [1].", plan=("mails",), completed=("mails",)),
    whole("nothing found", "Nothing is known of a budget.", calls=[NOTHING]),
    whole("a failure made up for", "Budget [1].", calls=[BROKEN, FOUND]),
    whole("what others sent", "Anna sent the budget on Monday [1]."),
)  # fmt: skip


def found(scenario: Scenario) -> bool:
    """Whether the review of this answer names a gap."""
    work = _work(scenario)
    proved = gaps.find_gaps(work)
    transcript = Transcript(
        system="",
        request=review.render_material(work, proved),
        results=(),
        decisions=(),
        offers=(),
    )
    judged = review.Review.model_validate(json.loads(reviewer.review(transcript).text))
    return bool(review.bind_review(judged, proved).gaps)


def _work(scenario: Scenario) -> Work:
    steps = [
        StepRecord(
            number=number,
            text="",
            finish_reason="tool_calls",
            calls=(
                CallRecord(
                    id=uuid.uuid4(),
                    name=name,
                    arguments="{}",
                    action_id=uuid.uuid4(),
                    result=result,
                ),
            ),
        )
        for number, (name, result) in enumerate(scenario.calls, 1)
    ]
    last = StepRecord(number=99, text=scenario.answer, finish_reason=scenario.finish, calls=())
    return Work(
        payer=Payer(organisation_id=uuid.uuid4(), external_user_id="maya"),
        request=scenario.request,
        steps=[*steps, last],
        plan=_plan(scenario),
        actions=scenario.actions,
        done_types={one["type"] for one in scenario.actions if one["status"] == "succeeded"},
        items=scenario.items,
        answer=scenario.answer,
    )


def _plan(scenario: Scenario) -> plans.Plan | None:
    if not scenario.plan:
        return None
    steps = [plans.NewStep(id=id, description=f"Look at {id}") for id in scenario.plan]
    made = plans.create(
        None, request="", goals=[plans.NewGoal(id="all", description="All of it", steps=steps)]
    )
    if isinstance(made, plans.Plan) and scenario.completed:
        made = plans.complete(made, scenario.completed, result="Done")
    assert isinstance(made, plans.Plan)
    return made
