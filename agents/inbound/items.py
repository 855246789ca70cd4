"""What one delivery brings: the item is read in, and an own turn looks at it where it is new.

Running one twice changes nothing: its turn is the same turn.
"""

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Literal, NamedTuple
from uuid import UUID

from django.conf import settings
from django.utils import timezone
from pydantic import ValidationError

from agents.inbound import (
    again,
    beginnings,
    claims,
    documents,
    drafts,
    events,
    inbound,
    intake,
    issues,
    label_changes,
    thread_status,
    thread_turns,
    triage,
)
from agents.inbound.beginnings import Beginning
from agents.inbound.claims import Claimed, Finished
from agents.inbound.endings import End, Left
from agents.inbound.thread_status import Cause
from agents.inbound.triage import Arrival, Brief
from agents.journal import leases
from agents.journal.leases import Lease
from agents.models import Turn
from guardrails.decide.snapshot import PolicySnapshot
from guardrails.gather import own_writes
from guardrails.gather.policy_rows import policy_snapshot
from integrations.accounts.reads import mail_reader, reader
from integrations.contracts import AccountRef, AnyItem, Document, Email, Event, Issue
from integrations.contracts.events import ItemEvent
from integrations.exceptions import NotFound
from integrations.llm.deadline import Deadline
from integrations.models import Delivery
from integrations.ports.registry import BY_SOURCE
from knowledge.contracts import IngestOutcome
from knowledge.ingest import ingest, metadata

log = logging.getLogger(__name__)
# A task begins nothing after a fifth of its time, so that what starts ends in it.
BEGUN_WITHIN = 5
DUPLICATE = Finished(Delivery.State.SKIPPED, "duplicate_item")
OWN = Finished(Delivery.State.SKIPPED, intake.OWN_ACTION)
BRIEFS: Mapping[type[AnyItem], Callable[[Arrival, Any], Brief | None]] = {
    Document: documents.brief,
    Event: events.brief,
    Issue: issues.brief,
}
"""What an agent is asked about an item that is no mail; None where nothing is."""


class InWork(Exception):
    """The delivery's turn is being worked on by another process: look again later."""


def work(delivery: Claimed) -> Finished:
    """How the delivery ends. Raises InWork, ProviderError, ModelError, and what
    `integrations.child` and the database raise: then it has not ended.
    """
    event = ItemEvent.model_validate(delivery.body)
    # All of it ends in the time of the task, in which it began a little late.
    deadline = Deadline.after(settings.TASK_TIMEOUT_SECONDS * (1 - 2 / BEGUN_WITHIN))
    account = delivery.account
    if account is None:
        return Finished(Delivery.State.SKIPPED, "unknown_account")
    if event.kind == "deleted":
        return _forget(account, event)
    try:
        item = parse_item(event)
    except ValidationError as error:
        fields = sorted({str(problem["loc"][0]) for problem in error.errors() if problem["loc"]})
        log.info("delivery.malformed", extra={"delivery": str(delivery.id), "fields": fields})
        return Finished(Delivery.State.DEAD, "malformed_item")
    if item.id != event.source_id:
        return Finished(Delivery.State.DEAD, "source_id_mismatch")
    starts_turns = BY_SOURCE[event.source].starts_turns
    mail = item if isinstance(item, Email) and starts_turns else None
    change = mail if event.kind == "updated" else None
    if change and metadata.is_own(account, change):
        return OWN  # stored after this was taken in
    # What was stored before tells what is new, so these come first.
    is_own = change is not None and thread_status.is_own(account, change, now=timezone.now())
    left = _follow(delivery, account, change) if change and not is_own else []
    beginning = Beginning(delivery, account, mail) if event.kind == "created" and mail else None
    outcome = ingest.ingest(
        account=account,
        source_id=event.source_id,
        item=item,
        now=timezone.now(),
        deadline=deadline,
        start=delivery.start,
        beside=beginning.beside if beginning else None,
    )
    thread_turns.store_left(account, left)
    again.note(account, item)
    if beginning:
        return _react_to_mail(beginning, outcome, deadline)
    if starts_turns and type(item) in BRIEFS:
        return _react(delivery, account, item, outcome, event.kind, deadline)
    if mail:
        label_changes.look(account, mail, before=outcome.labels_before, now=timezone.now())
    return OWN if is_own else _accounted(outcome)


def _follow(delivery: Claimed, account: AccountRef, mail: Email) -> list[Mapping[str, Any]]:
    """What somebody's change of a mail says about its thread; the provider's answers."""
    left: list[Mapping[str, Any]] = []
    with thread_turns.because_of(delivery, account, mail.id, left=left) as cause:
        thread_status.follow(cause, account, mail)
    return left


def _forget(account: AccountRef, event: ItemEvent) -> Finished:
    outcome = ingest.forget(account=account, source_id=event.source_id, at=event.timestamp)
    again.note_deleted(
        account, event.source_id, is_event=BY_SOURCE[event.source].item_type is Event
    )
    return _accounted(outcome)


def _react_to_mail(beginning: Beginning, outcome: IngestOutcome, deadline: Deadline) -> Finished:
    """Every mail is reacted to once, by its first delivery, whatever was stored before: a
    crash, the first sync or an update that came earlier may have stored it already."""
    delivery, account, email = beginning.delivery, beginning.account, beginning.email
    policy, why_not = beginning.policy, beginning.why_not
    if why_not == beginnings.OWN_MAIL:
        _Thread(delivery, account, email, policy).keep()
        read = _accounted(outcome)
        return Finished(read.state, read.reason or why_not)
    if why_not:
        return Finished(Delivery.State.SKIPPED, why_not)
    if outcome.state == "stale":
        try:
            email = mail_reader(account).email(email.id)
        except NotFound:
            return Finished(Delivery.State.SKIPPED, "deleted")
    turn_id, lease = beginning.turn(outcome)
    if turn_id is None:
        return DUPLICATE
    thread = _Thread(delivery, account, email, policy, turn_id)
    run = partial(inbound.run, email=email, policy=policy, known=beginning.known, deadline=deadline)
    at_end = partial(End, settle=thread.keep_status, is_untidy=thread.is_untidy, tidy=thread.tidy)
    finished = _run_turn(delivery, account, turn_id, lease, run, at_end)
    if finished.state == Delivery.State.PROCESSED and not finished.is_stored:
        thread.keep()
    return finished


class _Thread(NamedTuple):
    """The thread of a mail that came, to be kept in order; in this turn, if there is one."""

    delivery: Claimed
    account: AccountRef
    email: Email
    policy: PolicySnapshot
    turn_id: UUID | None = None

    def keep(self) -> None:
        self.keep_status()
        self.tidy()

    def keep_status(self, left: Left | None = None) -> None:
        with self._because(left) as cause:
            thread_status.keep(cause, self.account, self.email, policy=self.policy)

    def is_untidy(self) -> bool:
        return drafts.are_waiting(self.account, self.email)

    def tidy(self, left: Left | None = None) -> None:
        with self._because(left) as cause:
            drafts.tidy(cause, self.account, self.email)

    def _because(self, left: Left | None) -> AbstractContextManager[Cause]:
        return thread_turns.because_of(
            self.delivery, self.account, self.email.id, turn_id=self.turn_id, left=left
        )


def _react(
    delivery: Claimed,
    account: AccountRef,
    item: AnyItem,
    outcome: IngestOutcome,
    kind: Literal["created", "updated"],
    deadline: Deadline,
) -> Finished:
    """As with a mail, where the policy has anything to say about it; else it was only read."""
    policy = policy_snapshot(account)
    if outcome.state == "stale" and kind == "created":
        try:
            item = reader(account).item(item.id)
        except NotFound:
            return Finished(Delivery.State.SKIPPED, "deleted")
    arrival = Arrival(account=account, policy=policy, kind=kind, now=timezone.now())
    is_kept = outcome.state not in ("left_out", "absent")
    brief = BRIEFS[type(item)](arrival, item) if is_kept else None
    if brief is None:
        return _accounted(outcome)
    match own_writes.find_author(account, brief.ids, now=arrival.now):
        case "own":
            return OWN
        case "open":
            raise InWork
    if policy.stops_all(account.source):
        return Finished(Delivery.State.SKIPPED, Delivery.STOPPED)
    turn_id, lease = beginnings.find_turn(delivery, account, item.id)
    if turn_id is None and kind == "updated" and _is_due_again(arrival, brief):
        turn_id, lease = beginnings.find_turn_again(delivery, account, item.id)
    if turn_id is None:
        # Another change of what an agent had looked at before is read in, and no more.
        return _accounted(outcome) if kind == "updated" else DUPLICATE
    run = partial(triage.run, arrival=arrival, brief=brief, deadline=deadline)
    note = partial(again.note_turn, account, item)
    at_end = partial(End, settle=lambda left: note())
    finished = _run_turn(delivery, account, turn_id, lease, run, at_end)
    if not finished.is_stored:
        note()
    return finished


def _accounted(outcome: IngestOutcome) -> Finished:
    if outcome.state in ("unchanged", "stale", "absent", "left_out"):
        return Finished(Delivery.State.SKIPPED, outcome.state)
    return Finished(Delivery.State.PROCESSED, "")


def parse_item(event: ItemEvent) -> AnyItem:
    """The provider object in an event. Raises pydantic's ValidationError."""
    return BY_SOURCE[event.source].item_type.model_validate(event.data)


def _is_due_again(arrival: Arrival, brief: Brief) -> bool:
    """An invitation at another time, or in the way of something else."""
    return bool(brief.basis) and again.is_due(
        arrival.account, brief.item_id, brief.basis, now=arrival.now
    )


def _run_turn(
    delivery: Claimed,
    account: AccountRef,
    turn_id: UUID,
    lease: Lease | None,
    run: Callable[[End], str | None],
    at_end: Callable[..., End],
) -> Finished:
    """The delivery ends with its turn, and all is settled. It is not yet where the turn fails or
    had ended, or the provider cannot be asked: then it ends after it."""
    processed = Finished(Delivery.State.PROCESSED, "")
    lease = lease or leases.claim(turn_id)
    code = None
    if lease:
        close = partial(claims.finish, delivery, processed)
        end = at_end(lease=lease, account=account, close=close)
        code = run(end)
        processed = processed._replace(is_stored=end.is_closed)
    if code is None:
        turn = Turn.objects.only("state", "error_code").get(id=turn_id)
        if turn.state not in (Turn.State.FINISHED, Turn.State.FAILED):
            raise InWork
        code = turn.error_code
    return Finished(Delivery.State.DEAD, code) if code else processed
