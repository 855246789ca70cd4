"""Answers under review: what an agent would say is accepted, or goes back to it."""

from collections.abc import Sequence

from django.conf import settings

from agents.answer import review
from agents.answer.review import REVIEW_RESULTS, is_due_at_end
from agents.contracts import StepRecord
from agents.journal import journal
from agents.journal.steps import Ending, Reply, Stop
from agents.models import Turn
from agents.plans import store
from agents.turns.loop import Run, run_agent
from integrations.llm.completions import ModelError

OF_ANSWER = '{"of":"answer"}'  # arguments of the server's own call


def run_reviewed(run: Run, *, request: str, earlier: Sequence[StepRecord]) -> Ending:
    """`run_agent`, whose reply is accepted by a review where one is due. `earlier` are the steps
    of earlier turns that the model is shown.

    A limit or a model that fails while the answer is being mended ends with the answer that
    was there before.
    """
    while True:
        draft = _draft(run.steps)
        try:
            ending = run_agent(run)
        except ModelError:
            if draft is None:
                raise
            return Reply(text=draft)
        if ending == Stop(limit="stopped"):
            return ending
        if draft is not None and (isinstance(ending, Stop) or _is_empty(ending)):
            return Reply(text=draft)
        if not isinstance(ending, Reply) or not _is_due(run):
            return ending
        work = review.gather_work(
            run.lease, request=request, steps=run.steps, earlier=earlier, answer=ending.text
        )
        if not review.has_matter(work):
            return ending
        reviewed = review.review_work(run.lease, work, of="answer", deadline=run.deadline)
        if reviewed.recommendation == "proceed" or _rounds(run.steps) >= settings.REVIEW_MAX_ROUNDS:
            return ending
        run.steps[-1] = journal.add_server_call(
            run.lease,
            run.steps[-1],
            parent_call=run.parent_call,
            name=REVIEW_RESULTS,
            arguments=OF_ANSWER,
            result=review.to_result(reviewed),
        )


def _is_due(run: Run) -> bool:
    if not settings.REVIEW_MIN_CALLS or not any(step.calls for step in run.steps):
        return False
    plan = store.load_plan(
        Turn.objects.values_list("conversation_id", flat=True).get(id=run.lease.turn_id)
    )
    return is_due_at_end(run.steps, plan, min_calls=settings.REVIEW_MIN_CALLS)


def _is_empty(ending: Ending) -> bool:
    return isinstance(ending, Reply) and not ending.text.strip()


def _draft(steps: Sequence[StepRecord]) -> str | None:
    """The last answer that a review sent back."""
    return next((step.text for step in reversed(steps) if _sent_back(step)), None)


def _rounds(steps: Sequence[StepRecord]) -> int:
    return sum(_sent_back(step) for step in steps)


def _sent_back(step: StepRecord) -> bool:
    return any(call.name == REVIEW_RESULTS and call.arguments == OF_ANSWER for call in step.calls)
