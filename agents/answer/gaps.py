"""What an answer leaves open, found without a model: nothing here is a matter of opinion."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agents.answer import citations, claims
from agents.contracts import StepRecord
from agents.plans import plans
from integrations.llm.completions import Payer

LISTED = 10
SEARCH = "retrieve_context"
# An honest answer has words of its own for it, and the closing adds those of the records.
IN_OTHER_WORDS = "The answer does not say in the records' words what was refused or failed."
FAULTS = frozenset({"EXECUTION_FAILED", "TIMEOUT", "RATE_LIMIT", "NETWORK_ERROR", "INTERRUPTED"})


@dataclass(frozen=True, kw_only=True)
class Work:
    """What a review looks at. `answer` is None in the middle of the work."""

    payer: Payer
    request: str
    steps: Sequence[StepRecord]
    plan: plans.Plan | None
    actions: Sequence[Mapping[str, Any]]
    done_types: Collection[str]  # of action types, this turn's and earlier ones'
    items: Mapping[int, Mapping[str, Any]]  # that may be cited
    answer: str | None
    wordings: Mapping[str, str] = field(default_factory=dict)  # of sentences, for the user
    about: Mapping[str, str] = field(default_factory=dict)  # the user: name, zone, local time

    def in_users_language(self, action: Mapping[str, Any]) -> str:
        """Why an action came out as it did, in the words that the user reads."""
        return self.wordings.get(str(action.get("sentence")), "")


@dataclass(frozen=True, kw_only=True)
class Gaps:
    """`binding` ones must be corrected or reported: with them no answer is complete. `noted` ones
    are for the reviewer to weigh: a source may simply be away. `work_left` says that a binding one
    is of the work itself, not of the words about it."""

    binding: tuple[str, ...] = ()
    noted: tuple[str, ...] = ()
    work_left: bool = False


def find_gaps(work: Work) -> Gaps:
    """Gaps that the records prove, the gravest first."""
    noted = [
        f"The tool {name} failed and nothing made up for it."
        for name in find_failed_tools(work.steps)
    ]
    if work.answer is None:
        return Gaps(noted=tuple(noted[:LISTED]))
    bound = citations.bind_citations(work.answer, work.items)
    if _found_items(work.steps) and work.answer.strip() and not bound.citations:
        noted.append("Items were found, and the answer cites none of them.")
    if claims.omits_refusals(work.answer, work.actions, why=work.in_users_language):
        noted.append(IN_OTHER_WORDS)
    of_plan = _of_plan(work)
    binding = [*_of_answer(work, work.answer, bound), *of_plan]
    return Gaps(
        binding=tuple(binding[:LISTED]), noted=tuple(noted[:LISTED]), work_left=bool(of_plan)
    )


def _of_answer(work: Work, answer: str, bound: citations.Bound) -> Sequence[str]:
    gaps = []
    if not answer.strip():
        gaps.append("The answer is empty.")
    elif is_broken_off(work, answer):
        gaps.append("The answer was cut off at the token limit.")
    if claims.has_unsupported(answer, work.done_types):
        gaps.append("The answer claims an action that the ledger lacks.")
    if claims.denies(answer, work.actions):
        gaps.append("The answer says that nothing was done, and something was.")
    if bound.removed:
        numbers = ", ".join(map(str, bound.removed))
        gaps.append(f"The answer cites numbers that stand for nothing: {numbers}.")
    return gaps


def is_broken_off(work: Work, answer: str) -> bool:
    """Whether the answer is none, or ends where the model had no more tokens."""
    is_cut = bool(work.steps) and work.steps[-1].finish_reason == "length"
    return is_cut or not answer.strip()


def _of_plan(work: Work) -> Sequence[str]:
    """Steps that could be worked on now. Where actions wait for a person, so does the plan."""
    if work.plan is None or any(action["status"] == "pending" for action in work.actions):
        return ()
    ready = set(plans.list_ready(work.plan))
    return [
        f"The plan's step {step.id} is not completed: {step.description}"
        for step in work.plan.steps
        if step.id in ready
    ]


def find_failed_tools(steps: Sequence[StepRecord]) -> list[str]:
    """Tools whose last call of this turn broke. A refusal is an answer, not a fault."""
    last: dict[str, Any] = {}
    for step in steps:
        last |= {call.name: call.result for call in step.calls if call.result is not None}
    return [
        name
        for name, result in last.items()
        if not result.get("success") and (result.get("error") or {}).get("code") in FAULTS
    ]


def _found_items(steps: Sequence[StepRecord]) -> bool:
    return any(
        call.name == SEARCH and call.result and (call.result.get("data") or {}).get("items")
        for step in steps
        for call in step.calls
    )
