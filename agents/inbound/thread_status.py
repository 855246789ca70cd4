"""Keeps the status of a mail thread true, no matter who wrote last and in which client. No model is
asked.

Where an operator listed the states of a thread as a single choice, the user's own answer turns
To Reply into Awaiting Reply, an answer to that turns it back where nobody said more, and a state
that the user sets by hand is the whole thread's. Each of these is an action like any other: decided
by the guardrails, written to the ledger.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from audit.ledger import ids, selectors
from guardrails.contracts import ActionRequest, ActionResult, Origin
from guardrails.decide.snapshot import PolicySnapshot
from guardrails.execute import executor
from guardrails.facts.threads import SENT
from guardrails.gather import own_mail, own_writes
from guardrails.gather.policy_rows import policy_snapshot
from guardrails.policies.thread_states import ThreadStates, find_thread_states
from integrations.accounts.reads import mail_reader
from integrations.contracts import AccountRef, Email
from knowledge.search import mails

AGENT = "thread_status"
NO_MAIL = frozenset({"DRAFT", "TRASH", "SPAM"})


class Cause(NamedTuple):
    """What brings a thread up: a delivery, a mail of a run over past mail, or a day. `use_turn`
    gives the id of the turn in which something is done about it; `left` takes in the provider's
    answers to that."""

    id: UUID
    at: datetime
    use_turn: Callable[[], str]
    left: list[Mapping[str, Any]]


class Status(NamedTuple):
    """The label that a thread is to have, and its mail that is to carry it."""

    email_id: str
    label_id: str


def follow(
    cause: Cause, account: AccountRef, email: Email, *, before: Collection[str] | None = None
) -> None:
    """A mail was changed by somebody: if it has a status now that is not among its labels `before`
    (as it was stored, without any), its thread has it. Raises ProviderError."""
    policy = policy_snapshot(account)
    states = find_thread_states(policy)
    if states is None or states.labels.isdisjoint(email.labels):
        return
    if policy.stops_all(account.source):
        return  # each would be a blocked action in the ledger
    if before is None:
        stored = mails.load_by_ids(account.id, [email.id]).get(email.id)
        before = stored.labels if stored else ()
    chosen = states.labels.intersection(email.labels).difference(before)
    if chosen:
        _keep(cause, account, email, states=states, chosen=chosen)


def keep(cause: Cause, account: AccountRef, email: Email, *, policy: PolicySnapshot) -> None:
    """A mail came or was sent: its thread gets the status that follows from its mails, where it
    has one at all. `policy` is the account's as it was read for this mail: the executor decides
    by the present one. Raises ProviderError."""
    states = find_thread_states(policy)
    if states is not None:
        _keep(cause, account, email, states=states)


def _keep(
    cause: Cause,
    account: AccountRef,
    email: Email,
    *,
    states: ThreadStates,
    chosen: Iterable[str] = (),
) -> None:
    if not email.thread_id:
        return
    thread = mail_reader(account).thread(email.thread_id)
    status = find_status(thread, states, chosen=[Status(email.id, one) for one in chosen])
    if status is not None:
        change(cause, account, status, thread_id=email.thread_id, called=email.subject)


def change(
    cause: Cause,
    account: AccountRef,
    status: Status,
    *,
    thread_id: str,
    called: str,
    agent: str = AGENT,
) -> ActionResult:
    """Have a thread, which is `called` so, changed to this status, once for a cause."""
    result = executor.execute(
        ActionRequest(
            action_id=_action_id(cause, status),
            account=account,
            action_type="classify",
            arguments={"email_id": status.email_id, "label_id": status.label_id},
            origin=Origin(
                trigger="webhook",
                turn_id=cause.use_turn(),
                agent=agent,
                actor="webhook",
                item_source_id=status.email_id,
                thread_id=thread_id,
            ),
            called=called,
        )
    )
    if result.left:
        cause.left.append(result.left)
    return result


def is_own(account: AccountRef, email: Email, *, now: datetime) -> bool:
    """Whether a mail was changed, since it was stored, by no more than what Remit has just done: it
    got its thread's status, or gave it up to another mail of the thread."""
    stored = mails.load_by_ids(account.id, [email.id]).get(email.id)
    before, present = set(stored.labels if stored else email.labels), set(email.labels)
    since = ids.floor(now - own_writes.RECENT)
    filings = own_mail.filings_of(account, email.id) if before != present else ()
    recent = [one for one in filings if one >= since]
    states = find_thread_states(policy_snapshot(account)) if recent else None
    if states is None or not before ^ present <= states.labels:
        return False
    put = {
        str(said["label_id"])
        for one in recent
        for phase in selectors.recorded(one)[:1]
        if (said := phase.payload.get("arguments", {})).get("email_id") == email.id
    }
    return present - before <= put


def find_status(
    thread: Sequence[Email], states: ThreadStates, *, chosen: Sequence[Status] = ()
) -> Status | None:
    """What the thread is to be changed to; None where it is right, or where nobody can know. Pure.

    Somebody's choice counts first, if it is one and the mail still has it. Then what the newest
    mail carries. A newest mail without a status takes over the thread's last one, turned where the
    user now waits or has to answer; any other status stays where it is.
    """
    written = sorted(
        (one for one in thread if NO_MAIL.isdisjoint(one.labels)), key=lambda one: one.date
    )
    carriers = [one for one in written if not states.labels.isdisjoint(one.labels)]
    if not carriers:
        return None
    last = carriers[-1]
    chosen = [one for one in chosen if one.label_id in _labels(written, one.email_id)]
    if len(chosen) == 1:
        [status] = chosen
    else:
        carried = sorted(states.labels.intersection(last.labels))
        if len(carried) > 1:
            return None
        status = Status(last.id, carried[0])
        newest = written[-1]
        if newest is not last:
            turned = _turned(status.label_id, newest, states)
            status = Status(newest.id, turned) if turned else status
    others = {label for one in carriers for label in one.labels} & states.labels
    is_so = status.label_id in _labels(written, status.email_id) and others == {status.label_id}
    return None if is_so else status


def _turned(label_id: str, newest: Email, states: ThreadStates) -> str | None:
    """What a status becomes by a newer mail; None: it stays."""
    mine = SENT in newest.labels
    if label_id in (states.to_reply, states.follow_up) and mine:
        return states.awaiting_reply
    if label_id in (states.awaiting_reply, states.follow_up) and not mine:
        return states.to_reply
    return None


def _labels(thread: Iterable[Email], email_id: str) -> Sequence[str]:
    return next((one.labels for one in thread if one.id == email_id), ())


def _action_id(cause: Cause, status: Status) -> UUID:
    """The same whenever it is worked on again, so that nothing is done twice."""
    return derive_id(cause.at, f"{cause.id} {status.email_id} {status.label_id}")


def derive_id(at: datetime, said: str) -> UUID:
    """An id in order of time that is always the same for the same words. Pure."""
    random = int.from_bytes(hashlib.sha256(said.encode()).digest()) >> (256 - ids.RANDOM_BITS)
    return ids.assemble((at - ids.EPOCH) // timedelta(milliseconds=1), random)
