"""Where two people have to say yes: the first yes is kept, and the action waits for the second.

The second comes from another person: neither from whom the first came from, nor from whose account
it is, nor from who asked for it. A refusal by anybody ends it for both.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from django.db.models import Q
from django.utils.translation import gettext

from guardrails.approve.approval_rows import (
    CLAIMED,
    ApprovalConflict,
    State,
    record_first_yes,
)
from guardrails.approve.cards import count_yeses, zone_of
from guardrails.contracts import ActionResult
from guardrails.contracts.cards import ApprovalCard
from guardrails.decide.two_people import doubt_second
from guardrails.execute import approval_requests
from guardrails.execute.held_sends import request_of
from guardrails.gather import persons
from guardrails.models import Approval

FIRST_YES = ["first_yes_at", "first_yes_by", "first_yes_as", "first_yes_in", "first_yes_names"]
UNKNOWN = "Two people have to say yes, and this does not say who you are."
SAID_ALREADY = "Your yes is recorded; one more person has to agree."
NOT_THE_SECOND = (
    "Another person has to say the second yes: it is your account, or you asked for it."
)


class NotTheSecond(ApprovalConflict):
    """The yes of this person is not the one that is missing. The approval waits on."""


def is_missing(
    row: Approval,
    by: str,
    external_user_id: str | None,
    *,
    condition: Q,
    now: datetime,
    said_in: str,
) -> bool:
    """Whether a second yes is still missing after this one, which is kept where it is the first.
    Where it is the second, the caller claims the approval. The same person's yes again changes
    nothing. Raises NotTheSecond, audit.contracts.LedgerError."""
    names = persons.find_names(by, external_user_id or "", row.organisation_id)
    if not names:
        raise NotTheSecond(gettext(UNKNOWN))
    rows = Approval.objects.filter(condition, id=row.id, state=State.PENDING, first_yes_at=None)
    if external_user_id is not None:
        rows = rows.filter(delegated_to=row.delegated_to)
    rows.update(
        first_yes_at=now,
        first_yes_by=by,
        first_yes_as=external_user_id or "",
        first_yes_in=said_in,
        first_yes_names=sorted(names),
    )
    row.refresh_from_db(fields=[*FIRST_YES, *CLAIMED])
    if row.state != State.PENDING or row.first_yes_at is None:
        return False  # decided, overdue or delegated meanwhile: the claim finds out
    record_first_yes(row)
    match doubt_second(
        names, first=frozenset(row.first_yes_names or ()), requesters=persons.find_requesters(row)
    ):
        case "":
            return False
        case "same":
            return True
    raise NotTheSecond(gettext(NOT_THE_SECOND))


def seen_by(
    cards: Sequence[ApprovalCard], by: str, external_user_id: str
) -> tuple[ApprovalCard, ...]:
    """The cards as this person sees them: each that waits for a yes which is not theirs says why.
    No query where none waits for a second yes; `find_names` says who `by` is."""
    ids = [one.id for one in cards if one.state == "pending" and one.yeses]
    rows = Approval.objects.in_bulk(ids) if ids else {}
    said = {id: why_not(row, by, external_user_id) for id, row in rows.items()}
    return tuple(replace(one, not_yours=said.get(one.id, "")) for one in cards)


def why_not(row: Approval, by: str, external_user_id: str = "") -> str:
    """Why this person's yes would not be the one that is missing, in words; empty: it would."""
    if row.people_needed < 2 or row.first_yes_at is None:
        return ""
    doubt = doubt_second(
        persons.find_names(by, external_user_id, row.organisation_id),
        first=frozenset(row.first_yes_names or ()),
        requesters=persons.find_requesters(row),
    )
    words = {"": "", "unknown": UNKNOWN, "same": SAID_ALREADY, "requester": NOT_THE_SECOND}[doubt]
    return gettext(words) if words else ""


def waiting(row: Approval) -> ActionResult:
    """The action, which waits for a second yes."""
    result = approval_requests.result(request_of(row))
    return replace(result, reason="first_yes", sentence=f"{count_yeses(row, zone=zone_of(row))}.")
