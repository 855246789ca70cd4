"""What was done with past mail that a pattern would have matched: the evidence of a proposal.

It comes from stored mail and the ledger. Nothing a model says is in it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from agents.learn import matching
from audit.contracts import Filters, Recorded
from audit.ledger import selectors as ledger
from audit.ledger.chain import canonical
from guardrails.actions import registry
from guardrails.contracts.learning import Pattern, Precedent, Tried
from guardrails.facts.facts import Facts
from guardrails.gather import own_mail
from guardrails.learn.precision import object_of
from integrations.contracts import AccountRef, Email, Folder
from knowledge.contracts import StoredMail
from knowledge.search import mails

NEWEST = 2_000  # mails, and rows of the ledger, that are looked at
TO_PUT_RIGHT = timedelta(days=2)  # for the user, from when the mail came
NO_ARGUMENTS = canonical({})
SEEN = ". The user read it and left it so."
UNTOUCHED = frozenset({"INBOX", "UNREAD"})
Done = Mapping[str, Sequence[Recorded]]  # what the agent did, by mail
Filings = Mapping[str, Set[UUID]]  # its actions without a person's word, by mail
Step = tuple[str, str]  # action type, canonical arguments without the item
NO_FILINGS: Filings = {}
NOTHING: Set[UUID] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Past:
    """What is known of an account's newest mail from others: the mails, by id, and what the agent
    did with each."""

    mails: Mapping[str, StoredMail]
    done: Done
    filings: Filings

    def list_own_steps(self, mail: StoredMail) -> frozenset[Step] | None:
        """As the function below says it of one mail."""
        rows = self.done.get(mail.source_id, ())
        return list_own_steps(rows, self.filings.get(mail.source_id, NOTHING))


def load_past(account: AccountRef, rows: Sequence[Recorded] | None = None) -> Past:
    """Four queries. `rows`: the account's last actions, where they were read already."""
    received = mails.list_received(account.id, own_address=account.address, limit=NEWEST)
    heads = {one.source_id: one for one in received}
    return Past(
        mails=heads,
        done=group_by_mail(list_actions(account) if rows is None else rows),
        filings=own_mail.list_filings(account, heads),
    )


def try_pattern(pattern: Pattern, past: Past, *, now: datetime) -> Tried:
    """How often the pattern would have fired on past mail, and how often that agrees with what was
    done. Pure."""
    moments = [one.occurred_at for one in past.mails.values()]
    return Tried(
        precedents=weigh(
            pattern, past.mails.values(), done=past.done, filings=past.filings, now=now
        ),
        mails=len(moments),
        since=min(moments, default=None),
    )


def list_actions(account: AccountRef) -> tuple[Recorded, ...]:
    """The account's last actions, newest first."""
    filters = Filters(tenant_id=account.organisation_id, account_id=account.id)
    return ledger.actions(filters=filters, limit=NEWEST).rows


def group_by_mail(rows: Iterable[Recorded]) -> Done:
    found: dict[str, list[Recorded]] = defaultdict(list)
    for row in rows:
        if item_id := object_of(row):
            found[item_id].append(row)
    return found


def weigh(
    pattern: Pattern,
    found: Iterable[StoredMail],
    *,
    done: Done,
    now: datetime,
    filings: Filings = NO_FILINGS,
) -> tuple[Precedent, ...]:
    """Each mail that fits the pattern, and whether it was treated as the pattern would. `filings`
    are what the agent filed of them without a person's word. Pure."""
    return tuple(
        _weighed(
            pattern,
            mail,
            done.get(mail.source_id, ()),
            filings.get(mail.source_id, NOTHING),
            now=now,
        )
        for mail in found
        if matching.fits(pattern, mail)
    )


def list_own_steps(done: Sequence[Recorded], filings: Set[UUID]) -> frozenset[Step] | None:
    """All that the agent did with a mail without a person's word; None where not all of that is
    known any more. Pure."""
    own = [row for row in done if row.status == "succeeded" and not row.approved_by]
    if not filings <= {row.action_id for row in own}:
        return None
    return frozenset((row.action_type, without_object(row)) for row in own)


def without_object(row: Recorded) -> str:
    """The canonical arguments of what was done, without the mail."""
    arguments = dict(row.payload.get("arguments", {}))
    action = registry.BY_NAME.get(row.action_type)
    arguments.pop((action and action.object_field) or "", None)
    return canonical(arguments)


def is_seen(mail: StoredMail, own: Set[Step], *, now: datetime) -> bool:
    """Whether the user read the mail after the agent was done with it, and has had the time to put
    it right. Who lists mail without opening it has seen nothing. Pure."""
    was_read = "UNREAD" not in mail.labels and ("mark_read", NO_ARGUMENTS) not in own
    return was_read and not mail.left_by_agent and mail.occurred_at <= now - TO_PUT_RIGHT


def _weighed(
    pattern: Pattern,
    mail: StoredMail,
    done: Sequence[Recorded],
    filings: Set[UUID],
    *,
    now: datetime,
) -> Precedent:
    steps = frozenset((name, canonical(arguments)) for name, arguments in pattern.actions)
    own = list_own_steps(done, filings)
    # Where all that it did is known, and none of this is: somebody corrected it by hand.
    filed_by_agent = bool(filings) and (own is None or not steps.isdisjoint(own))
    so = [(name, _is_so(name, arguments, mail)) for name, arguments in pattern.actions]
    names = {name for name, _ in so}
    last = {row.action_type: row for row in reversed(done) if row.status == "succeeded"}
    denied = names & {row.action_type for row in done if row.status == "denied"}
    counted = [
        last[name] for name, given in sorted(steps) if name in last and _is_row(last[name], given)
    ]
    by_agent = filed_by_agent or not all(row.approved_by for row in counted)
    side: Literal["supporting", "contradicting", "undecided"] = "undecided"
    if all(is_so for _, is_so in so) and not denied:
        side = "supporting"
    elif any(is_so for _, is_so in so) or denied or last or not set(mail.labels) >= UNTOUCHED:
        side = "contradicting"
    by_person = side != "undecided" and not by_agent
    is_left = side == "supporting" and not by_person and own is not None
    seen = is_left and is_seen(mail, own or frozenset(), now=now)
    by_name = {row.action_type: row for row in counted}
    findings = [
        f"{registry.BY_NAME[name].title}: "
        + (_who(by_name.get(name), filed_by_agent) if is_so else "no")
        + (" (a person rejected it)" if name in denied else "")
        for name, is_so in so
    ]
    return Precedent(
        item_id=mail.source_id,
        thread_id=mail.thread_id,
        subject=mail.subject,
        occurred_at=mail.occurred_at,
        side=side,
        by_person=by_person,
        sentence="; ".join(findings) + (SEEN if seen else "."),
        # Each mail has a run of its own, and a user may look at a day's mail at once.
        occasion=counted[0].run_id if counted and not seen else f"{mail.occurred_at:%Y-%m-%d}",
        seen=seen,
    )


def _is_row(row: Recorded, arguments: str) -> bool:
    """Whether this row is what made it so. Of one whose contents are erased nobody knows."""
    return not row.payload or without_object(row) == arguments


def _is_so(action_type: str, arguments: Mapping[str, Any], mail: StoredMail) -> bool:
    """Whether the mail is as the action would leave it."""
    action = registry.BY_NAME[action_type]
    parsed = action.parse(
        registry.pattern_arguments(action_type, arguments, item_id=mail.source_id)
    )
    seen = Email.model_validate(
        {"id": mail.source_id, "date": mail.occurred_at, "labels": mail.labels}
    )
    # Only the destination counts as a folder: the provider is not asked for the others.
    folders = [
        Folder(id=target.value, name=target.value, kind="mail")
        for target in action.targets(parsed)
        if target.catalogue == "mail_folders"
    ]
    return action.already_so(parsed, Facts(email=seen, folders=tuple(folders)), ())


def _who(row: Recorded | None, filed_by_agent: bool) -> str:
    if row is not None and row.approved_by:
        return f"yes, by the agent, confirmed by {row.approved_by}"
    if row is not None or filed_by_agent:
        return "yes, by the agent, confirmed by nobody"
    return "yes, in the mailbox"
