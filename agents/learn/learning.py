"""What Remit learns from decisions: proposals from repetition, and corrections that no webhook
told of. Runs once a day for each mailbox."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from uuid import UUID

from agents.learn import precedents
from agents.learn.patterns import ACTION_TYPES
from audit.contracts import Recorded
from audit.ledger.chain import canonical
from guardrails.actions import registry
from guardrails.contracts import Pattern, PatternProposal
from guardrails.learn import patterns, precision, proposals
from guardrails.learn.precision import OWN_INITIATIVE, object_of
from guardrails.policies.changes import Author
from integrations.contracts import AccountRef
from integrations.network import strict_json
from knowledge.contracts import StoredMail
from knowledge.search import mails

AUTHOR = Author(name="repetition", door="schedule")
LOOK_BACK = timedelta(days=7)
HITS = 100  # looked at again for one account in one run
Steps = tuple[tuple[str, str], ...]  # (action type, canonical arguments without the item)


def propose_repeated(account: AccountRef, *, now: datetime) -> int:
    """Propose what a person decided alike for enough mails of one sender, and never otherwise.
    Returns how many proposals are new."""
    rows = precedents.actions(account)
    decided = decisions(rows)
    heads = mails.by_ids(account.id, decided)
    new = 0
    for pattern, example in repeated(decided, heads):
        found = precedents.find(account, pattern)
        sides = [one.side for one in found if one.by_person]
        if sides.count("supporting") < proposals.ENOUGH or "contradicting" in {
            one.side for one in found
        }:
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
    whoever made it."""
    for pattern in patterns.of_account(account):
        proposals.gather(pattern.id, precedents.find(account, pattern))


def look_again(account: AccountRef, *, now: datetime) -> int:
    """Look at what patterns did in the last days, for corrections that no webhook told of.
    Returns how many there were. Raises ProviderError."""
    found = precision.open_hits(account.id, since=now - LOOK_BACK, limit=HITS)
    return sum(precision.look(account, item_id, now=now) for item_id in found)


def decisions(rows: Iterable[Recorded]) -> dict[str, Steps]:
    """What people had done with each mail, where patterns could do it. Pure."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for row in rows:
        by_person = row.trigger not in OWN_INITIATIVE or row.approved_by
        if row.status == "succeeded" and by_person and row.action_type in ACTION_TYPES:
            arguments = dict(row.payload.get("arguments", {}))
            arguments.pop(registry.BY_NAME[row.action_type].object_field or "", None)
            if item_id := object_of(row):
                # Rows come newest first: a later decision on the same mail counts.
                found[item_id].setdefault(row.action_type, canonical(arguments))
    return {item_id: tuple(sorted(steps.items())) for item_id, steps in found.items()}


def repeated(
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
