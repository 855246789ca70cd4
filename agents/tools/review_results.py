"""review_results: have the work so far judged. The server also does so by itself."""

from pydantic import Field

from agents.answer import review
from agents.answer.review import REVIEW_RESULTS
from agents.contracts import ToolResult
from agents.journal import history, journal
from agents.models import Turn
from agents.tools.base import Arguments, Tool, ToolContext


class ReviewResults(Arguments):
    concern: str = Field(default="", max_length=500, description="What you are unsure of.")


def run(context: ToolContext, arguments: ReviewResults) -> ToolResult:
    turn_id = context.lease.turn_id
    asked = history.load_user_words(Turn.objects.get(id=turn_id)).request
    request = f"{asked}\n\nThe assistant is unsure of: {arguments.concern}"
    work = review.gather_work(
        context.lease,
        request=request if arguments.concern else asked,
        steps=journal.load_steps([turn_id]).get((turn_id, None), []),
        earlier=(),
        answer=None,
    )
    reviewed = review.review_work(context.lease, work, of="request", deadline=context.deadline)
    return ToolResult(success=True, data=review.to_result(reviewed)["data"], untrusted=True)


TOOL = Tool(
    name=REVIEW_RESULTS,
    description="Have the results so far reviewed before you answer something large: what is "
    "missing, and how to go on.",
    arguments=ReviewResults,
    run=run,
    note=": before a large answer",
)
