"""News of approvals: each recipient hears once of what waits, in their turn.

What is to be said is a row first. A row is claimed by a conditional update and sent outside of any
transaction. What the other side refused is tried again for a day; where nobody knows whether it
arrived, the row says so and nothing is sent twice.
"""

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from guardrails.approve import card_mail
from guardrails.approve.cards import list_cards
from guardrails.approve.news import devices, push, recipients, slack, teams
from guardrails.approve.news.quiet import held_until, language_of
from guardrails.approve.questions import group
from guardrails.contracts.cards import QuestionCard
from guardrails.models import Approval, ApprovalNotice, ApprovalRecipient
from integrations.exceptions import NotFound, NotPermitted, ProviderError
from integrations.network import certificates
from integrations.web.languages import speaking

log = logging.getLogger(__name__)
State = ApprovalNotice.State
Kind = ApprovalRecipient.Kind
ANNOUNCED_FOR = timedelta(days=1)  # nobody hears of what has waited longer
ANNOUNCED_AT_ONCE = 100
LEASE = timedelta(minutes=5)  # longer than sending takes
PUSH_SERVICE = "system:push service"
WAITS = tuple(timedelta(minutes=minutes) for minutes in (1, 2, 5, 15, 60))
# Each kind of recipient: one file, and one line here. Raises ProviderError.
CHANNELS = {
    Kind.MAIL: card_mail.send,
    Kind.SLACK: slack.send,
    Kind.TEAMS: teams.send,
    Kind.PUSH: push.send,
}


def announce(*, now: datetime) -> None:
    """Say to each recipient what waits that they have not heard of, like actions as one question.
    Runs every minute, and sends nothing of what was decided meanwhile."""
    _close_abandoned(now)
    active = ApprovalRecipient.objects.select_related("person").filter(stopped_at=None)
    for recipient in active.order_by("organisation_id", "after_minutes", "id"):
        _note_due(recipient, now)
        _send_due(recipient, now)


def _close_abandoned(now: datetime) -> None:
    """Whose process died while it sent, and what waited for too long."""
    dead = ApprovalNotice.objects.filter(state=State.SENDING, changed_at__lte=now - LEASE)
    dead.update(state=State.UNCERTAIN, error_code="interrupted", changed_at=now)
    waiting = ApprovalNotice.objects.filter(state=State.WAITING)
    waiting.exclude(approval__state=Approval.State.PENDING).update(
        state=State.CALLED_OFF, changed_at=now
    )
    waiting.filter(approval__created_at__lt=now - ANNOUNCED_FOR).update(
        state=State.FAILED, changed_at=now
    )


def _pending(recipient: ApprovalRecipient, now: datetime) -> "QuerySet[Approval]":
    rows = devices.heard_by(recipient).filter(
        Q(expires_at=None) | Q(expires_at__gt=now),
        state=Approval.State.PENDING,
        created_at__gte=now - ANNOUNCED_FOR,
        created_at__lte=now - timedelta(minutes=recipient.after_minutes),
    )
    return rows.filter(account_id=recipient.account_id) if recipient.account_id else rows


def _note_due(recipient: ApprovalRecipient, now: datetime) -> None:
    """A row for each approval whose turn has come, once."""
    known = ApprovalNotice.objects.filter(recipient=recipient, approval=OuterRef("id"))
    rows = _pending(recipient, now).filter(~Exists(known)).order_by("created_at", "id")
    due = [
        ApprovalNotice(recipient=recipient, approval_id=id, next_at=now, changed_at=now)
        for id in rows.values_list("id", flat=True)[:ANNOUNCED_AT_ONCE]
    ]
    ApprovalNotice.objects.bulk_create(due, ignore_conflicts=True)


def _send_due(recipient: ApprovalRecipient, now: datetime) -> None:
    due = ApprovalNotice.objects.filter(recipient=recipient, state=State.WAITING, next_at__lte=now)
    if recipient.person_id:  # who may decide about less by now hears of less
        due = due.filter(approval__in=_pending(recipient, now))
    if not due.exists():
        return
    ends = held_until(recipient, now)
    if ends is not None:
        # Else nobody would have a say: it would expire, or be too old, before anybody heard of it.
        due = due.filter(
            Q(approval__expires_at__lte=ends) | Q(approval__created_at__lt=ends - ANNOUNCED_FOR)
        )
    ids = list(due.order_by("id").values_list("approval_id", flat=True)[:ANNOUNCED_AT_ONCE])
    with speaking(language_of(recipient)):
        cards = list_cards(organisation_id=recipient.organisation_id, ids=ids) if ids else ()
        for question in group(card for card in reversed(cards) if card.state == "pending"):
            if not _send(recipient, question, now=now):
                return  # the others would wait as long for the same server


def _send(recipient: ApprovalRecipient, question: QuestionCard, *, now: datetime) -> bool:
    """One message. False where the other side is away."""
    ids = [card.id for card in question.cards]
    rows = ApprovalNotice.objects.filter(recipient=recipient, approval_id__in=ids)
    if not _claim(rows, number=len(ids), now=now):
        return True
    try:
        CHANNELS[Kind(recipient.kind)](recipients.target(recipient), question)
    except ProviderError as error:
        return _note_failure(recipient, rows, error, now=now)
    sent_at = timezone.now()
    _settle(rows, state=State.SENT)
    ApprovalRecipient.objects.filter(id=recipient.id).update(sent_at=sent_at, problem="")
    Approval.objects.filter(id__in=ids, announced_at=None).update(announced_at=sent_at)
    return True


def _claim(rows: "QuerySet[ApprovalNotice]", *, number: int, now: datetime) -> bool:
    """Takes all or none: where another process has some, or some were decided meanwhile, the
    next sweep sees what is left."""
    waiting = rows.filter(
        state=State.WAITING, next_at__lte=now, approval__state=Approval.State.PENDING
    )
    with transaction.atomic():
        ids = list(waiting.select_for_update(of=("self",)).values_list("id", flat=True))
        if len(ids) != number:
            return False
        ApprovalNotice.objects.filter(id__in=ids).update(
            state=State.SENDING, tries=F("tries") + 1, changed_at=timezone.now()
        )
    return True


def _note_failure(
    recipient: ApprovalRecipient,
    rows: "QuerySet[ApprovalNotice]",
    error: ProviderError,
    *,
    now: datetime,
) -> bool:
    asked = {"recipient": str(recipient.id), "code": error.code}
    log.warning("approval.not_announced", extra=asked)
    is_gone = recipient.is_sealed and isinstance(error, (NotFound, NotPermitted))
    ApprovalRecipient.objects.filter(id=recipient.id).update(
        problem=why(error, is_gone=is_gone), stopped_at=now if is_gone else None
    )
    if error.outcome_unknown:
        _settle(rows, state=State.UNCERTAIN, error_code=error.code)
    elif error.retryable:
        tries = rows.values_list("tries", flat=True).first() or 1
        pause = max(WAITS[min(tries, len(WAITS)) - 1], timedelta(seconds=error.retry_after or 0.0))
        _settle(rows, state=State.WAITING, error_code=error.code, next_at=now + pause)
        return False
    else:
        _settle(rows, state=State.FAILED, error_code=error.code)
    if recipient.person_id and isinstance(error, NotFound):
        recipients.remove(recipient, by=PUSH_SERVICE)  # the browser is subscribed no more
    return not is_gone


def _settle(rows: "QuerySet[ApprovalNotice]", **values: object) -> None:
    rows.filter(state=State.SENDING).update(changed_at=timezone.now(), **values)


def why(error: ProviderError, *, is_gone: bool) -> str:
    """A sentence for the recipient's page, without anything that the other side said."""
    if is_gone and (refused := certificates.find(error)):
        return certificates.explain(
            "this address",
            refused,
            nothing="Nothing is sent there until somebody types in an address again.",
        )
    if is_gone:
        return (
            "The address takes no messages any more, or does not take ours. Nothing is sent "
            "there until somebody types in an address again."
        )
    if error.outcome_unknown:
        return "The other side did not answer. What it may have got is not sent again."
    return SENTENCES.get(error.code, "The other side did not take the last message.")


SENTENCES: Mapping[str, str] = {
    "address_forbidden": "The address leads to where nothing is sent: it is not public.",
    "not_permitted": "The address does not open here: somebody has to type it in again.",
    "rate_limited": "The other side asked Remit to wait. It is tried again.",
    "unavailable": "The other side is away. It is tried again.",
}


def try_out(recipient_id: UUID, *, now: datetime) -> None:
    """Send one message that asks nothing. The row says whether it arrived."""
    row = ApprovalRecipient.objects.filter(id=recipient_id, stopped_at=None).first()
    if row is None:
        return
    try:
        with speaking(language_of(row)):
            CHANNELS[Kind(row.kind)](recipients.target(row), None)
    except ProviderError as error:
        _note_failure(row, ApprovalNotice.objects.none(), error, now=now)
        return
    ApprovalRecipient.objects.filter(id=row.id).update(sent_at=timezone.now(), problem="")
