"""What agents suggested to people, as it stands in the journal of their turns."""

from collections.abc import Iterable, Mapping
from uuid import UUID

from agents.models import ToolCall

ANSWER, TRIAGE = "suggest_answer", "suggest_triage"  # the tools (`agents.tools.suggest`)
SUGGESTED = "suggested"  # the sentences in a result


def load_suggested(turn_ids: Iterable[UUID]) -> Mapping[UUID, tuple[str, ...]]:
    """The sentences of each turn that suggested anything; of several suggestions the last. One
    query."""
    calls = ToolCall.objects.filter(
        turn_id__in=[*turn_ids], name__in=(ANSWER, TRIAGE), result__success=True
    ).order_by("step_id", "position")
    return {
        turn_id: tuple(map(str, result["data"].get(SUGGESTED, ())))
        for turn_id, result in calls.values_list("turn_id", "result")
        if result
    }
