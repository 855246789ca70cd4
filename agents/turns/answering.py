"""From a request to an answer that a review accepts.

A review binds: until it says proceed, or REVIEW_MAX_ROUNDS are used up, the answer goes back
to the model with what is missing. One that fails loses nothing: the answer stands.
"""

from collections.abc import Sequence

from django.conf import settings

from agents.answer import reviewing
from agents.answer.review import REVIEW_RESULTS, due_at_end
from agents.contracts import StepRecord
from agents.journal import journal
from agents.journal.steps import Ending, Reply, Stop
from agents.models import Turn
from agents.plans import planning
from agents.turns import loop
from agents.turns.loop import Run
from integrations.llm.completions import ModelError

OF_ANSWER = '{"of":"answer"}'  # arguments of the server's own call


def run(run: Run, *, request: str, earlier: Sequence[StepRecord]) -> Ending:
    """`loop.run`, whose reply is accepted by a review where one is due. `earlier` are the steps
    of earlier turns that the model is shown.

    A limit or a model that fails while the answer is being mended ends with the answer that
    was there before.
    """
    while True:
        draft = _draft(run.steps)
        try:
            ending = loop.run(run)
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
        work = reviewing.work_of(
            run.lease, request=request, steps=run.steps, earlier=earlier, answer=ending.text
        )
        made = reviewing.look(run.lease, work, of="answer")
        if made.recommendation == "proceed" or _rounds(run.steps) >= settings.REVIEW_MAX_ROUNDS:
            return ending
        run.steps[-1] = journal.add_server_call(
            run.lease,
            run.steps[-1],
            parent_call=run.parent_call,
            name=REVIEW_RESULTS,
            arguments=OF_ANSWER,
            result=reviewing.told(made),
        )


def _is_due(run: Run) -> bool:
    if not settings.REVIEW_MIN_CALLS or not any(step.calls for step in run.steps):
        return False
    plan = planning.of_conversation(
        Turn.objects.values_list("conversation_id", flat=True).get(id=run.lease.turn_id)
    )
    return due_at_end(run.steps, plan, min_calls=settings.REVIEW_MIN_CALLS)


def _is_empty(ending: Ending) -> bool:
    return isinstance(ending, Reply) and not ending.text.strip()


def _draft(steps: Sequence[StepRecord]) -> str | None:
    """The last answer that a review sent back."""
    return next((step.text for step in reversed(steps) if _sent_back(step)), None)


def _rounds(steps: Sequence[StepRecord]) -> int:
    return sum(_sent_back(step) for step in steps)


def _sent_back(step: StepRecord) -> bool:
    return any(call.name == REVIEW_RESULTS and call.arguments == OF_ANSWER for call in step.calls)
