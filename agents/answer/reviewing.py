"""Reviews of a turn's work: by a model, bound by what the records prove, kept in the decision
log. Where the model fails, the records alone decide."""

import logging
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from pydantic import ValidationError

from agents.answer import citations, claims, gaps
from agents.answer.gaps import Work
from agents.answer.review import PROMPT, Review, bound, directive, due_midway, material
from agents.contracts import StepRecord
from agents.journal import journal
from agents.journal.leases import Lease
from agents.models import Turn, TurnEvent
from agents.plans import planning
from integrations.llm import llm
from integrations.llm.completions import ModelError, Payer

log = logging.getLogger(__name__)
ANSWER_TOKENS = 1500


def midway(
    lease: Lease, *, request: str, steps: Sequence[StepRecord], earlier: Sequence[StepRecord]
) -> str:
    """What the last review in the middle of this turn said, for the state part; one is made
    first where REVIEW_EVERY_CALLS more calls were made. Empty where there is none."""
    every = settings.REVIEW_EVERY_CALLS
    if not due_midway(steps, every=every, reviewed=0):
        return ""
    events = TurnEvent.objects.filter(turn_id=lease.turn_id, type="decision", data__of="work")
    made = list(events.order_by("sequence").values_list("data", flat=True))
    if due_midway(steps, every=every, reviewed=len(made)):
        work = work_of(lease, request=request, steps=steps, earlier=earlier, answer=None)
        made.append(decision(look(lease, work, of="work"), of="work"))
    last = made[-1]
    said = "; ".join([*last["gaps"], *last["suggested_actions"]])
    return f"{last['recommendation']}. {last['next']} {said}".strip()


def work_of(
    lease: Lease,
    *,
    request: str,
    steps: Sequence[StepRecord],
    earlier: Sequence[StepRecord],
    answer: str | None,
) -> Work:
    """The work of a turn so far, as its rows have it."""
    turn = Turn.objects.only(
        "organisation_id", "external_user_id", "conversation_id", "actions"
    ).get(id=lease.turn_id)
    before = Turn.objects.filter(conversation__turns=turn.id).exclude(id=turn.id)
    done = claims.done_types(turn.actions)
    for actions in before.exclude(actions=[]).values_list("actions", flat=True)[:20]:
        # What waited then may be done by now; the closing asks the ledger.
        done |= {action["type"] for action in actions if action["status"] != "refused"}
    shown = citations.shown_in([*earlier, *steps])
    return Work(
        payer=Payer(
            organisation_id=turn.organisation_id,
            external_user_id=turn.external_user_id,
            run_id=turn.id,
        ),
        request=request,
        steps=steps,
        plan=planning.of_conversation(turn.conversation_id),
        actions=turn.actions,
        done_types=done,
        items=citations.known(journal.context_of(turn.id), shown),
        answer=answer,
    )


def look(lease: Lease, work: Work, *, of: str) -> Review:
    """Review the work with a model, bound by what the records prove, and write it into the
    decision log. Where the model fails, the records alone decide."""
    proved = gaps.found(work)
    review: Review | None = None
    try:
        answer = llm.complete_json(
            system=PROMPT,
            user=material(work, proved),
            payer=work.payer,
            purpose="review",
            model=settings.REVIEW_MODEL,
            max_tokens=ANSWER_TOKENS,
        )
        review = Review.model_validate(answer)
    except (ModelError, ValidationError) as error:
        log.warning(
            "review.failed", extra={"turn": str(lease.turn_id), "error": type(error).__name__}
        )
    made = bound(review, proved)
    journal.emit(
        lease, "decision", decision(made, of=of) | {"by": "model" if review else "records"}
    )
    return made


def decision(review: Review, *, of: str) -> dict[str, Any]:
    return {"decision": "review", "of": of, "next": directive(review), **review.shown()}


def told(review: Review) -> dict[str, Any]:
    """The result that a model is shown."""
    return {"success": True, "data": review.shown() | {"next": directive(review)}}


def last_of_answer(turn_id: Any) -> dict[str, Any] | None:
    """The last review of a turn's answer, as the decision log has it."""
    events = TurnEvent.objects.filter(turn_id=turn_id, type="decision", data__of="answer")
    return events.order_by("-sequence").values_list("data", flat=True).first()
