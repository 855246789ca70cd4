"""Several approvals decided at once, each for itself."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from guardrails.approve.approval_rows import ApprovalConflict, ApprovalNotFound
from guardrails.approve.approvals import confirm, reject
from guardrails.contracts import ActionResult
from guardrails.facts.phrases import phrase

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Item:
    """One approval of a batch, with the word on it and the digest that was shown."""

    approval_id: UUID
    digest: str
    word: Literal["confirm", "reject"]
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What became of one item: a result, or why there is none: a code, and a phrase."""

    approval_id: UUID
    result: ActionResult | None = None
    error: str = ""
    sentence: str = ""


def decide_all(
    items: Sequence[Item],
    *,
    organisation_id: UUID,
    decided_by: str,
    external_user_id: str | None = None,
) -> tuple[Answer, ...]:
    """Each item for itself, in order: one that cannot be decided neither stops nor carries
    the others."""
    return tuple(_answer(item, organisation_id, decided_by, external_user_id) for item in items)


def _answer(item: Item, organisation_id: UUID, by: str, external_user_id: str | None) -> Answer:
    given: dict[str, Any] = {
        "organisation_id": organisation_id,
        "approval_id": item.approval_id,
        "decided_by": by,
        "external_user_id": external_user_id,
        "digest": item.digest,
    }
    try:
        yes = item.word == "confirm"
        result = confirm(**given) if yes else reject(**given, reason=item.reason)
    except ApprovalNotFound as error:
        return Answer(
            approval_id=item.approval_id, error="unknown_approval", sentence=error.args[0]
        )
    except ApprovalConflict as error:
        return Answer(approval_id=item.approval_id, error="conflict", sentence=error.args[0])
    except Exception:  # whatever broke for one item, the others are decided
        log.exception("guardrails.batch_item_failed approval=%s", item.approval_id)
        return Answer(
            approval_id=item.approval_id,
            error="not_decided",
            sentence=phrase("This could not be decided now. Look at it again."),
        )
    return Answer(approval_id=item.approval_id, result=result)
