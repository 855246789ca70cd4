"""What was done with past mail that a pattern would have matched: the evidence of a proposal.

It comes from stored mail and the ledger. Nothing a model says is in it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from agents.learn import patterns
from audit.contracts import Filters, Recorded
from audit.ledger import selectors as ledger
from guardrails.actions import registry
from guardrails.contracts import Pattern, Precedent
from guardrails.facts.facts import Facts
from guardrails.learn.precision import OWN_INITIATIVE, object_of
from integrations.contracts import AccountRef, Email, Folder
from knowledge.contracts import StoredMail
from knowledge.search import mails

LEDGER_ROWS = 500
UNTOUCHED = frozenset({"INBOX", "UNREAD"})
Done = Mapping[str, Sequence[Recorded]]  # what the agent did, by mail


def find(account: AccountRef, pattern: Pattern) -> tuple[Precedent, ...]:
    """The newest stored mails that the pattern would have matched. Two queries."""
    found = mails.from_sender(
        account.id,
        address=pattern.sender_address,
        domain=pattern.sender_domain,
        list_id=pattern.list_id,
    )
    return weigh(pattern, found, done=by_mail(actions(account)))


def actions(account: AccountRef) -> tuple[Recorded, ...]:
    """The account's last actions, newest first."""
    filters = Filters(tenant_id=account.organisation_id, account_id=account.id)
    return ledger.actions(filters=filters, limit=LEDGER_ROWS).rows


def by_mail(rows: Iterable[Recorded]) -> Done:
    found: dict[str, list[Recorded]] = defaultdict(list)
    for row in rows:
        if item_id := object_of(row):
            found[item_id].append(row)
    return found


def weigh(pattern: Pattern, found: Iterable[StoredMail], *, done: Done) -> tuple[Precedent, ...]:
    """Each mail that fits the pattern, and whether it was treated as the pattern would. Pure."""
    return tuple(
        _weighed(pattern, mail, done.get(mail.source_id, ()))
        for mail in found
        if patterns.fits(pattern, mail)
    )


def _weighed(pattern: Pattern, mail: StoredMail, done: Sequence[Recorded]) -> Precedent:
    so = [(name, _is_so(name, arguments, mail)) for name, arguments in pattern.actions]
    names = {name for name, _ in so}
    last = {row.action_type: row for row in reversed(done) if row.status == "succeeded"}
    denied = names & {row.action_type for row in done if row.status == "denied"}
    by_agent = any(_by_agent(last[name]) for name in names & last.keys())
    side: Literal["supporting", "contradicting", "undecided"] = "undecided"
    if all(is_so for _, is_so in so) and not denied:
        side = "supporting"
    elif any(is_so for _, is_so in so) or denied or last or not set(mail.labels) >= UNTOUCHED:
        side = "contradicting"
    told = [
        f"{registry.BY_NAME[name].title}: {_who(last.get(name)) if is_so else 'no'}"
        + (" (a person rejected it)" if name in denied else "")
        for name, is_so in so
    ]
    return Precedent(
        item_id=mail.source_id,
        thread_id=mail.thread_id,
        subject=mail.subject,
        occurred_at=mail.occurred_at,
        side=side,
        by_person=side != "undecided" and not by_agent,
        told="; ".join(told) + ".",
    )


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


def _by_agent(row: Recorded) -> bool:
    return row.trigger in OWN_INITIATIVE and not row.approved_by


def _who(row: Recorded | None) -> str:
    if row is None:
        return "yes, in the mailbox"
    if row.approved_by:
        return f"yes, by the agent, confirmed by {row.approved_by}"
    if row.trigger in OWN_INITIATIVE:
        return "yes, by the agent, asked by nobody"
    return "yes, by the agent, asked by a person"
