"""What was done with past mail that a pattern would have matched: the evidence of a proposal,
and the proposals that repetition makes once a day for each mailbox.

It comes from stored mail and the ledger. Nothing a model says is in it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from agents.learn import matching
from agents.learn.matching import ACTION_TYPES
from audit.contracts import Filters, Recorded
from audit.ledger import selectors as ledger
from audit.ledger.chain import canonical
from guardrails.actions import registry
from guardrails.contracts.learning import Pattern, PatternProposal, Precedent
from guardrails.facts.facts import Facts
from guardrails.gather import own_mail
from guardrails.learn import patterns, precision, proposals
from guardrails.learn.precision import object_of
from guardrails.policies.changes import Author
from integrations.contracts import AccountRef, Email, Folder
from integrations.network import strict_json
from knowledge.contracts import StoredMail
from knowledge.search import mails

LEDGER_ROWS = 500
UNTOUCHED = frozenset({"INBOX", "UNREAD"})
Done = Mapping[str, Sequence[Recorded]]  # what the agent did, by mail


def find_precedents(account: AccountRef, pattern: Pattern) -> tuple[Precedent, ...]:
    """The newest stored mails that the pattern would have matched. Three queries."""
    found = mails.list_from_sender(
        account.id,
        address=pattern.sender_address,
        domain=pattern.sender_domain,
        list_id=pattern.list_id,
    )
    return weigh(
        pattern,
        found,
        done=group_by_mail(list_actions(account)),
        by_agent=own_mail.filed(account, (mail.source_id for mail in found)),
    )


def list_actions(account: AccountRef) -> tuple[Recorded, ...]:
    """The account's last actions, newest first."""
    filters = Filters(tenant_id=account.organisation_id, account_id=account.id)
    return ledger.actions(filters=filters, limit=LEDGER_ROWS).rows


def group_by_mail(rows: Iterable[Recorded]) -> Done:
    found: dict[str, list[Recorded]] = defaultdict(list)
    for row in rows:
        if item_id := object_of(row):
            found[item_id].append(row)
    return found


def weigh(
    pattern: Pattern, found: Iterable[StoredMail], *, done: Done, by_agent: Set[str] = frozenset()
) -> tuple[Precedent, ...]:
    """Each mail that fits the pattern, and whether it was treated as the pattern would. Of those
    in `by_agent` the agent filed something without a person's word. Pure."""
    return tuple(
        _weighed(pattern, mail, done.get(mail.source_id, ()), mail.source_id in by_agent)
        for mail in found
        if matching.fits(pattern, mail)
    )


def _weighed(
    pattern: Pattern, mail: StoredMail, done: Sequence[Recorded], filed_by_agent: bool
) -> Precedent:
    so = [(name, _is_so(name, arguments, mail)) for name, arguments in pattern.actions]
    names = {name for name, _ in so}
    last = {row.action_type: row for row in reversed(done) if row.status == "succeeded"}
    denied = names & {row.action_type for row in done if row.status == "denied"}
    counted = [last[name] for name in sorted(names & last.keys())]
    by_agent = filed_by_agent or not all(row.approved_by for row in counted)
    side: Literal["supporting", "contradicting", "undecided"] = "undecided"
    if all(is_so for _, is_so in so) and not denied:
        side = "supporting"
    elif any(is_so for _, is_so in so) or denied or last or not set(mail.labels) >= UNTOUCHED:
        side = "contradicting"
    findings = [
        f"{registry.BY_NAME[name].title}: "
        + (_who(last.get(name), filed_by_agent) if is_so else "no")
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
        sentence="; ".join(findings) + ".",
        occasion=counted[0].run_id if counted else f"{mail.occurred_at:%Y-%m-%d}",
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


def _who(row: Recorded | None, filed_by_agent: bool) -> str:
    if row is not None and row.approved_by:
        return f"yes, by the agent, confirmed by {row.approved_by}"
    if row is not None or filed_by_agent:
        return "yes, by the agent, confirmed by nobody"
    return "yes, in the mailbox"


AUTHOR = Author(name="repetition", door="schedule")
LOOK_BACK = timedelta(days=7)
HITS = 100  # looked at again for one account in one run
Steps = tuple[tuple[str, str], ...]  # (action type, canonical arguments without the item)


def propose_repeated(account: AccountRef, *, now: datetime) -> int:
    """Propose what people made a habit of with the mail of one sender, and never otherwise.
    Returns how many proposals are new."""
    rows = list_actions(account)
    decided = find_decisions(rows)
    heads = mails.load_by_ids(account.id, decided)
    new = 0
    for pattern, example in find_repeated(decided, heads):
        found = find_precedents(account, pattern)
        if not proposals.is_habit(found):
            continue
        proposed = proposals.propose(
            PatternProposal(
                account=account,
                pattern=pattern,
                proposed_by="repetition",
                example_id=example.source_id,
                precedents=found,
            ),
            author=AUTHOR,
            now=now,
        )
        new += proposed.status == "new"
    return new


def gather_evidence(account: AccountRef) -> None:
    """Bring up to date what stored mail says for and against each pattern of the account,
    its author aside."""
    for pattern in patterns.of_account(account):
        proposals.gather(pattern.id, find_precedents(account, pattern))


def look_again(account: AccountRef, *, now: datetime) -> int:
    """Look at what patterns did in the last days, for corrections that no webhook reported.
    Returns how many there were. Raises ProviderError."""
    found = precision.open_hits(account.id, since=now - LOOK_BACK, limit=HITS)
    return sum(precision.look(account, item_id, now=now) for item_id in found)


def find_decisions(rows: Iterable[Recorded]) -> dict[str, Steps]:
    """What people confirmed for each mail, where patterns could do it. A wish in a chat that
    nobody confirmed may be that of a mail the model read. Pure."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for row in rows:
        if row.status == "succeeded" and row.approved_by and row.action_type in ACTION_TYPES:
            arguments = dict(row.payload.get("arguments", {}))
            arguments.pop(registry.BY_NAME[row.action_type].object_field or "", None)
            if item_id := object_of(row):
                # Rows come newest first: a later decision on the same mail counts.
                found[item_id].setdefault(row.action_type, canonical(arguments))
    return {item_id: tuple(sorted(steps.items())) for item_id, steps in found.items()}


def find_repeated(
    decided: Mapping[str, Steps], heads: Mapping[str, StoredMail]
) -> Iterator[tuple[Pattern, StoredMail]]:
    """A pattern, with a mail as its example, for each proved sender or list whose mail was
    treated alike often enough. Pure."""
    groups: dict[tuple[str, str, Steps], list[StoredMail]] = defaultdict(list)
    for item_id, steps in decided.items():
        mail = heads.get(item_id)
        if mail is not None and mail.list_id:
            groups["list", mail.list_id, steps].append(mail)
        elif mail is not None and mail.sender and mail.authenticated:
            groups["sender", mail.sender, steps].append(mail)
    for (kind, anchor, steps), alike in sorted(groups.items()):
        if len(alike) >= proposals.ENOUGH:
            yield _pattern(kind, anchor, steps), alike[0]


def _pattern(kind: str, anchor: str, steps: Steps) -> Pattern:
    return Pattern(
        id=UUID(int=0),
        name=anchor[:200],
        sender_address=anchor if kind == "sender" else "",
        sender_domain="",
        list_id=anchor if kind == "list" else "",
        subject="",
        content_type="email",
        actions=tuple((name, strict_json.load_object(arguments)) for name, arguments in steps),
    )
