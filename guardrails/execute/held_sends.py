"""Permitted actions that are held for a while, and recalled by the first who asks for it.

A held send leaves its state `held` by one conditional update: a release or a recall, never both.
So after a recall is acknowledged no provider call begins.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Q, QuerySet
from django.utils import timezone

from audit.contracts import ActorType
from audit.ledger import ledger
from audit.ledger.selectors import recorded
from guardrails.actions.base import Difference
from guardrails.contracts import ActionRequest, ActionResult, Decision, Origin
from guardrails.contracts.cards import HeldSendCard
from guardrails.decide.checks.stopping import why_stopped
from guardrails.execute import entries, outcomes
from guardrails.facts import seen
from guardrails.facts.facts import Facts
from guardrails.facts.reasons import sentence
from guardrails.facts.seen import Seen
from guardrails.gather import stops, usage
from guardrails.gather.judgement import Judgement
from guardrails.models import Approval, Errand, HeldSend
from integrations.models.preferences import find_zones

log = logging.getLogger(__name__)
State = HeldSend.State
MAX_CARDS = 200
SWITCH = "switch"


class HeldSendNotFound(Exception):
    """There is no such held send for this organisation and user."""


class TooLate(Exception):
    """The held send was released before. The message says when."""


def create(
    request: ActionRequest,
    judgement: Judgement,
    *,
    word: Mapping[str, str],
    is_recorded: bool,
) -> ActionResult:
    """Keeps a permitted action until its time has come, and says so in the ledger unless that
    `is_recorded`. `word` is what a person said to it, if they were asked. A switch that is
    thrown in this moment either finds the held send, or is found here."""
    now = timezone.now()
    until = now + timedelta(seconds=judgement.decision.hold_seconds)
    if not is_recorded:
        entry = entries.held(
            request,
            judgement,
            until=until,
            notice=until_when(until, now=now),
            approval_id=word.get("approval_id", ""),
            approved_by=word.get("decided_by", ""),
            now=now,
        )
        ledger.append(entry)
    row = keep(
        request,
        description=judgement.description,
        parts=seen.look(judgement.facts),
        until=until,
        word=word,
    )
    present = stops.read_stops(
        account_id=request.account.id,
        action_type=request.action_type,
        allowed_action_id=judgement.decision.rule_id,
        effects=judgement.decision.effects,
    )
    if why_stopped(present, undoes=False):
        recall_all(Q(id=row.id))
        row.refresh_from_db()
    return result(row) or outcomes.result(recorded(request.action_id)[-1])


def changes(row: HeldSend | None, facts: Facts | None) -> tuple[Difference, ...]:
    """What of the object is no longer as it was when the held action was decided. None where
    nothing is held, or it was not read now."""
    return seen.changes(row.seen, seen.look(facts)) if row and facts else ()


def find(action_id: UUID) -> HeldSend | None:
    return (
        HeldSend.objects.select_related("account__organisation").filter(action_id=action_id).first()
    )


def recall(
    *,
    organisation_id: UUID,
    held_send_id: UUID,
    by: str,
    external_user_id: str | None = None,
) -> HeldSendCard:
    """A person takes a held action back: it will not be carried out. Again is fine. With
    `external_user_id` only that user's held sends are found.

    Raises HeldSendNotFound; TooLate when it was released; audit.contracts.LedgerError, after which
    it is recalled all the same, and the sweep writes the row.
    """
    row = _rows(organisation_id, external_user_id).filter(id=held_send_id).first()
    if row is None:
        raise HeldSendNotFound("There is no such held action.")
    _recall(row, by)
    if row.state != State.RECALLED:
        assert row.decided_at is not None  # noqa: S101  # the table holds no other
        zone = _zone(row)
        at = row.decided_at.astimezone(ZoneInfo(zone))
        raise TooLate(f"It was released at {at:%Y-%m-%d %H:%M:%S} {zone}.")
    return card(row)


def recall_all(rows: Q) -> int:
    """Recall every held action that matches, because of a switch; how many those were."""
    held = HeldSend.objects.select_related("account__organisation").filter(rows, state=State.HELD)
    return sum(_recall(row, SWITCH) for row in held)


def finish_recalled(*, older_than: datetime, limit: int = 100) -> int:
    """Write the ledger rows of recalls whose process died before; how many those were."""
    rows = HeldSend.objects.select_related("account__organisation").filter(
        state=State.RECALLED, finished_at=None, decided_at__lte=older_than
    )
    found = list(rows.order_by("decided_at")[:limit])
    for row in found:
        _record(row)
    return len(found)


def result(row: HeldSend) -> ActionResult | None:
    """What to say of an action that is held or was recalled. None once it was released: then its
    ledger rows say it."""
    if row.state == State.HELD:
        until = until_when(row.until, now=timezone.now(), zone=_zone(row))
        return _result(row, status="held", reason="held", sentence=until)
    if row.state == State.RECALLED:
        return _result(row, status="refused", reason="recalled", sentence=sentence("recalled"))
    return None


def _zone(row: HeldSend) -> str:
    """The time zone of whose it is. One query."""
    user = row.external_user_id
    return find_zones(row.organisation_id, [user]).get(user, "UTC")


def postponed(request: ActionRequest, decision: Decision) -> ActionResult:
    """The answer for an action whose time has come while its provider could not be asked or the
    ledger is not sealed: it goes on being held."""
    row = HeldSend.objects.get(action_id=request.action_id)
    return _result(row, status="held", reason=decision.reason, sentence=decision.sentence)


def _result(
    row: HeldSend, *, status: Literal["held", "refused"], reason: str, sentence: str
) -> ActionResult:
    return ActionResult(
        status=status,
        action_id=row.action_id,
        action_type=row.action_type,
        description=row.description,
        arguments=row.arguments,
        reason=reason,
        sentence=sentence,
        held_send_id=row.id,
        held_until=row.until if status == "held" else None,
    )


def until_when(until: datetime, *, now: datetime, zone: str = "UTC") -> str:
    """“Held until 14:05 UTC; it can be recalled until then.”"""
    until, now = (at.astimezone(ZoneInfo(zone)) for at in (until, now))
    form = "%H:%M" if until.date() == now.date() else "%Y-%m-%d %H:%M"
    return f"Held until {until.strftime(form)} {zone}; it can be recalled until then."


def cards(
    *,
    organisation_id: UUID,
    external_user_id: str | None = None,
    state: str | None = None,
    action_ids: Iterable[UUID] | None = None,
    limit: int = MAX_CARDS,
) -> tuple[HeldSendCard, ...]:
    """The organisation's held sends that match, newest first. One query."""
    rows = _rows(organisation_id, external_user_id)
    if state is not None:
        rows = rows.filter(state=state)
    if action_ids is not None:
        rows = rows.filter(action_id__in=list(action_ids))
    return tuple(card(row) for row in rows.order_by("-held_at", "-id")[:limit])


def card(row: HeldSend) -> HeldSendCard:
    return HeldSendCard(**{name: getattr(row, name) for name in HeldSendCard.__dataclass_fields__})


def request_of(row: Approval | Errand | HeldSend) -> ActionRequest:
    """The request as it was asked for."""
    return ActionRequest(
        action_id=row.action_id,
        account=row.account.ref(),
        action_type=row.action_type,
        arguments=row.arguments,
        origin=Origin(**row.origin),
    )


def keep(
    request: ActionRequest,
    *,
    description: str,
    parts: Sequence[Seen],
    until: datetime,
    word: Mapping[str, str],
) -> HeldSend:
    """The action's held send, made if it is not there. `parts` are what it was decided on."""
    account, origin = request.account, request.origin
    held_send, _ = HeldSend.objects.get_or_create(
        action_id=request.action_id,
        defaults={
            "organisation_id": account.organisation_id,
            "account_id": account.id,
            "external_user_id": account.external_user_id,
            "turn_id": origin.turn_id,
            "action_type": request.action_type,
            "arguments": dict(request.arguments),
            "origin": asdict(origin),
            "confirmation": dict(word),
            "description": description,
            "seen": [list(one) for one in parts],
            "until": until,
        },
    )
    return held_send


def _rows(organisation_id: UUID, external_user_id: str | None) -> QuerySet[HeldSend]:
    rows = HeldSend.objects.select_related("account__organisation").filter(
        organisation_id=organisation_id
    )
    return rows if external_user_id is None else rows.filter(external_user_id=external_user_id)


def _recall(row: HeldSend, by: str) -> bool:
    """Takes the held send out of waiting, if it still waits; afterwards `row` is as stored."""
    claimed = HeldSend.objects.filter(id=row.id, state=State.HELD).update(
        state=State.RECALLED, decided_at=timezone.now(), decided_by=by
    )
    row.refresh_from_db(fields=["state", "decided_at", "decided_by", "finished_at"])
    if row.state == State.RECALLED and row.finished_at is None:
        _record(row)
    return claimed == 1


def _record(row: HeldSend) -> None:
    """The recall's row in the ledger, once, and the end of the held send."""
    if not any(phase.decision_reason == "recalled" for phase in recorded(row.action_id)):
        ledger.append(
            entries.decided(
                request_of(row),
                status="denied",
                reason="recalled",
                approval_id=row.confirmation.get("approval_id", ""),
                decided_by=row.decided_by,
                actor_type=_actor(row.decided_by),
                payload={"description": row.description},
                now=timezone.now(),
            )
        )
    usage.give_back(row.action_id)
    HeldSend.objects.filter(id=row.id).update(
        finished_at=timezone.now(), outcome=sentence("recalled")
    )
    row.refresh_from_db(fields=["finished_at", "outcome"])


def _actor(by: str) -> ActorType:
    if by == SWITCH:
        return "system"
    return "admin" if by.startswith("operator:") else "user"
