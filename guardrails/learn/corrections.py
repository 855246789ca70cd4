"""What people say about labels with their own hands, in whatever client: taken off again, or put
on. It is a fact of later decisions (`guardrails.decide.checks.scope`) and grants nothing.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from audit.contracts import Recorded
from audit.ledger import ids, selectors as ledger
from guardrails.actions.mail.classify import Classify
from guardrails.decide.snapshot import ListedTarget, PolicySnapshot, rivals
from guardrails.facts.corrections import COUNTS_FOR
from guardrails.gather import own_mail
from guardrails.gather.corrections import find_sender, like
from guardrails.gather.policy_rows import policy_snapshot
from guardrails.learn.precision import WINDOW, object_of
from guardrails.models import LabelCorrection
from guardrails.policies.thread_states import find_thread_states
from integrations.contracts import AccountRef, Email

BY_PEOPLE = frozenset({"chat", "operator"})
# Where a mail lies and whether it was read: no label that anybody lists.
PLACES = frozenset({"INBOX", "UNREAD", "STARRED", "IMPORTANT", "SENT", "DRAFT"})
GONE = frozenset({"TRASH", "SPAM"})  # to delete a mail takes nothing back


def note(account: AccountRef, email: Email, *, before: Collection[str], now: datetime) -> None:
    """Somebody changed this mail, which had the labels `before`. What they took off, and the agent
    had put on unasked, is a correction; what they put on lifts one. No query where no label but
    that of a place changed, and one where none that is listed did."""
    present = set(email.labels)
    lost, got = set(before) - present, present - set(before)
    if not (lost | got) - PLACES or not GONE.isdisjoint(present):
        return
    listed = find_listed(policy_snapshot(account), account.source)
    lost, got = lost & listed.keys(), got & listed.keys()
    if not (lost or got):
        return
    own = list_own(account, email.id, now=now)
    put = {label_of(row): row.recorded_at for row in own if object_of(row) == email.id}
    said: dict[str, datetime] = {}
    here: dict[str, datetime] = {}
    for row in LabelCorrection.objects.filter(like(account, email)):
        word = max(row.at, row.lifted_at or row.at)
        said[row.label_id] = max(word, said.get(row.label_id, word))
        if row.item_id == email.id:
            here[row.label_id] = word
    by_hand = {one for one in got if one not in put or (one in here and here[one] > put[one])}
    replaced = {
        rival.external_id
        for one in by_hand
        for rival in rivals(listed.values(), listed[one])
        if rival.external_id in present
    }
    last = {one: max(filter(None, (put.get(one), said.get(one)))) for one in put | said}
    off = {
        one
        for one in lost | replaced
        if one in last and not went_on(own, listed, listed[one], since=last[one])
    }
    _store(account, email, off=off, now=now)
    if by_hand:
        rows = LabelCorrection.objects.filter(like(account, email), lifted_at=None)
        rows.filter(label_id__in=by_hand).update(lifted_at=now)


def forget_old(account: AccountRef, *, now: datetime) -> int:
    """Forget what counts no more; how many corrections those were. One statement."""
    rows = LabelCorrection.objects.filter(account_id=account.id, at__lte=now - COUNTS_FOR)
    return rows.delete()[0]


def find_listed(policy: PolicySnapshot, source: str) -> Mapping[str, ListedTarget]:
    """The labels that something can be said of, by id. The states of a thread follow from who wrote
    last, so to change one corrects nothing. Pure."""
    states = find_thread_states(policy)
    return {
        one.external_id: one
        for one in policy.listed_targets
        if (one.action_type, one.kind, one.source) == (Classify.name, "label", source)
        and not (states and one.external_id in states.labels)
    }


def list_own(account: AccountRef, item_id: str, *, now: datetime) -> list[Recorded]:
    """How the agent labelled this mail and its thread without anybody's word while a change of that
    is a correction, oldest first."""
    since = ids.floor(now - WINDOW)
    filings = sorted(one for one in own_mail.filings_of(account, item_id) if one >= since)
    last = [rows[-1] for one in filings if (rows := ledger.recorded(one))]
    return [
        row
        for row in last
        if (row.tenant_id, row.account_id) == (account.organisation_id, account.id)
        and row.action_type == Classify.name
        and row.status == "succeeded"
        and row.payload
        and row.trigger not in BY_PEOPLE
    ]


def went_on(
    own: Iterable[Recorded],
    listed: Mapping[str, ListedTarget],
    label: ListedTarget,
    *,
    since: datetime,
) -> bool:
    """Whether the agent itself replaced a label since then by another one of its group. Pure."""
    group = {one.external_id for one in rivals(listed.values(), label)}
    return any(row.recorded_at > since and label_of(row) in group for row in own)


def label_of(row: Recorded) -> str:
    return str(row.payload["arguments"]["label_id"])


def _store(account: AccountRef, email: Email, *, off: Iterable[str], now: datetime) -> None:
    LabelCorrection.objects.bulk_create(
        [
            LabelCorrection(
                account_id=account.id,
                item_id=email.id,
                label_id=one,
                sender=find_sender(email),
                list_id=email.list_id or "",
                at=now,
            )
            for one in sorted(off)
        ],
        update_conflicts=True,
        unique_fields=["account", "item_id", "label_id"],
        update_fields=["sender", "list_id", "at", "lifted_at"],
    )
