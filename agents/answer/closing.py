"""From a model's last word to the answer a user is given: citations bound, claims held
against the records. It binds: the model has no say in it."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from agents.answer import citations, claims, links, records, review
from agents.contracts import StepRecord
from agents.journal import journal
from agents.models import Turn
from audit.ledger import selectors
from guardrails.policies import known_hosts
from guardrails.words.own import own_words
from integrations.web.languages import speaking

log = logging.getLogger(__name__)
EMPTY_SENTENCE = "The model gave no answer. Please ask again, or in other words."
CUT_SENTENCE = "The answer was cut off here, at the longest that the model may give."
EARLIER_TURNS = 20  # of the conversation: what an answer may still speak of


@dataclass(frozen=True, kw_only=True)
class Answer:
    """`metadata` is kept with the message: citations, and what was corrected."""

    text: str
    metadata: dict[str, Any] = field(default_factory=dict)


def close_answer(turn_id: UUID, text: str, *, steps: Sequence[StepRecord]) -> Answer:
    """The answer for this last word of the turn's own agent, whose model was shown `steps`
    (of this turn and of earlier ones). What Remit adds is in the turn's language. Four queries at
    most; one more for each earlier turn where something is claimed that this turn did not do."""
    turn = Turn.objects.only(
        "organisation_id", "conversation_id", "actions", "decisions", "language"
    ).get(id=turn_id)
    context = journal.load_context(turn_id) if citations.has_citations(text) else ()
    bound = citations.bind_citations(
        text, citations.list_citable(context, citations.list_results(steps))
    )
    contradicts = _contradicts(turn, bound.text) or claims.denies(bound.text, turn.actions)
    cut = bool(steps) and steps[-1].finish_reason == "length" and steps[-1].text == text
    # What came too late is listed as such.
    late = {one["id"] for one in turn.decisions if one.get("late")}
    actions = [one for one in turn.actions if one["id"] not in late]
    with speaking(turn.language):
        omits = claims.omits_refusals(bound.text, actions, why=records.sentence_of)
        added = [
            gettext(CUT_SENTENCE) if cut else "",
            records.render_late(turn.decisions),
            records.render_correction(turn.actions, contradicts=contradicts)
            if contradicts or omits
            else "",
        ]
        own = bound.text.strip() or gettext(EMPTY_SENTENCE)
    said = "\n\n".join([own, *filter(None, added)])
    if contradicts or bound.removed:
        log.warning(
            "answer.corrected",
            extra={
                "turn": str(turn_id),
                "claims": contradicts,
                "unknown_citations": len(bound.removed),
            },
        )
    metadata: dict[str, Any] = {"citations": links.deaden_all(bound.citations)}
    if bound.removed:
        metadata["unknown_citations"] = list(bound.removed)
    if contradicts:
        metadata["contradicted"] = True
    worked = any(step.calls for step in steps)  # else nothing was reviewed
    if worked and (last := review.load_last_review(turn_id)):
        metadata["review"] = links.deaden_all(last)
    return Answer(text=said, metadata=metadata)


def list_trusted(turn: Turn, words: str) -> Collection[str]:
    """The hosts that an answer of this turn may lead to: the user typed them, an operator listed
    them, or a provider says that something done in this turn is there."""
    known = known_hosts.list_known_hosts(
        organisation_id=turn.organisation_id, external_user_id=turn.external_user_id
    )
    done = Turn.objects.values_list("actions", flat=True).get(id=turn.id)
    return known | links.hosts_of(own_words(words)) | links.hosts_in_results(done)


def _contradicts(turn: Turn, text: str) -> bool:
    """Whether the text claims what neither this turn nor an earlier one of the conversation
    did. Earlier ones are asked of the ledger: a person may have confirmed in between."""
    done = claims.list_done_types(turn.actions)
    if not claims.has_unsupported(text, done):
        return False
    earlier = Turn.objects.filter(conversation__turns=turn.id).exclude(actions=[])
    for id in earlier.order_by("-created_at").values_list("id", flat=True)[:EARLIER_TURNS]:
        rows = selectors.actions_of_run(tenant_id=turn.organisation_id, run_id=str(id))
        done |= {row.action_type for row in rows if row.status in claims.DONE}
        if not claims.has_unsupported(text, done):
            return False
    return True
