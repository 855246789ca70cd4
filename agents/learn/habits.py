"""What people do with like mail again and again: on cards, and with their own hands in whatever
client they use. Once a day it becomes proposals of patterns; stored mail and the ledger are all
the evidence.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from agents.learn import precedents
from agents.learn.matching import ACTION_TYPES
from agents.learn.precedents import Past, Step
from audit.contracts import Recorded
from audit.ledger.chain import canonical
from guardrails.contracts.learning import Pattern, PatternProposal
from guardrails.decide.snapshot import PERMITTING, PolicySnapshot
from guardrails.facts.public_domains import PUBLIC_DOMAINS
from guardrails.facts.subjects import generalised
from guardrails.facts.targets import domain_of
from guardrails.gather.policy_rows import policy_snapshot
from guardrails.learn import evidence, patterns, precision, proposals
from guardrails.learn.precision import object_of
from guardrails.policies.changes import Author
from integrations.contracts import AccountRef
from integrations.network import strict_json
from knowledge.contracts import StoredMail
from knowledge.search import mails

AUTHOR = Author(name="repetition", door="schedule")
MOST = 50  # candidates of one day
LOOK_BACK = timedelta(days=7)
HITS = 100  # looked at again for one account in one run
SENDERS = 3  # different ones of a domain, before it stands for all of them
Steps = tuple[Step, ...]
NONE_SEEN: Mapping[str, Set[Step]] = {}
Anchor = tuple[str, str, str]  # list, sender or domain; its value; the subject, or none


@dataclass(frozen=True, kw_only=True)
class Learnable:
    """What the policy lets a pattern do: set these labels, move into these folders, archive. States
    of a thread follow from who wrote last, so no habit makes one."""

    labels: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    archives: bool = False


def propose_repeated(account: AccountRef, *, now: datetime) -> int:
    """Propose what people made a habit of with mail of one kind, and never otherwise. Returns how
    many proposals are new."""
    rows = precedents.list_actions(account)
    past = precedents.load_past(account, rows)
    learnable = find_learnable(policy_snapshot(account), account.source)
    decided = find_by_hand(past, learnable=learnable) | find_decisions(rows)
    seen = find_seen(past, learnable=learnable, now=now)
    older = mails.load_by_ids(account.id, decided.keys() - past.mails.keys())
    past = replace(past, mails={**past.mails, **older})
    new, proposed = 0, 0
    own = domain_of(account.address) if "@" in account.address else ""
    for pattern, example in find_repeated(decided, past.mails, seen=seen, own_domain=own):
        tried = precedents.try_pattern(pattern, past, now=now)
        if evidence.find_lack(tried.precedents):
            continue
        result = proposals.propose(
            PatternProposal(
                account=account,
                pattern=pattern,
                proposed_by="repetition",
                example_id=example.source_id,
                tried=tried,
            ),
            author=AUTHOR,
            now=now,
        )
        new += result.status == "new"
        proposed += 1
        if proposed == MOST:
            break
    return new


def try_again(account: AccountRef, *, now: datetime) -> None:
    """Try each pattern of the account on past mail as it lies now."""
    _try(account, patterns.of_account(account), now=now)


def try_untried(account: AccountRef, *, now: datetime) -> None:
    """Try those that were made or changed by hand, so that a person can approve them."""
    _try(account, patterns.list_untried(account.id), now=now)


def _try(account: AccountRef, found: Sequence[Pattern], *, now: datetime) -> None:
    if not found:
        return
    past = precedents.load_past(account)
    for pattern in found:
        proposals.gather(pattern.id, precedents.try_pattern(pattern, past, now=now), now=now)


def look_again(account: AccountRef, *, now: datetime) -> int:
    """Look at what patterns did in the last days, for corrections that no webhook reported.
    Returns how many there were. Raises ProviderError."""
    found = precision.open_hits(account.id, since=now - LOOK_BACK, limit=HITS)
    return sum(precision.look(account, item_id, now=now) for item_id in found)


def find_learnable(policy: PolicySnapshot, source: str) -> Learnable:
    """Pure."""
    listed = [one for one in policy.listed_targets if one.source == source and not one.single]
    permitted = {
        one.action_type for one in policy.allowed_actions if one.enabled and one.mode in PERMITTING
    }

    def targets(action_type: str, kind: str) -> frozenset[str]:
        if action_type not in permitted:
            return frozenset()
        fitting = (one for one in listed if one.action_type == action_type and one.kind == kind)
        return frozenset(one.external_id for one in fitting)

    return Learnable(
        labels=targets("classify", "label"),
        folders=targets("move_email", "folder"),
        archives="archive" in permitted,
    )


def find_by_hand(past: Past, *, learnable: Learnable) -> dict[str, Steps]:
    """What people did themselves with each mail, as far as a pattern could do it. A mail about
    which it is not known what the agent did is left out. Pure."""
    found = {}
    for mail in past.mails.values():
        own = past.list_own_steps(mail)
        if own is not None:
            steps = tuple(sorted(set(_steps(mail, learnable)) - own))
            if steps:
                found[mail.source_id] = steps
    return found


def find_seen(past: Past, *, learnable: Learnable, now: datetime) -> dict[str, frozenset[Step]]:
    """What the agent did unasked with each mail that the user has read since and left so, as far
    as a pattern could do it. Pure."""
    found = {}
    for mail in past.mails.values():
        own = past.list_own_steps(mail)
        if own and precedents.is_seen(mail, own, now=now):
            as_it_lies = set(_steps(replace(mail, labels=(*mail.labels, "UNREAD")), learnable))
            found[mail.source_id] = frozenset(as_it_lies & own)
    return found


def _steps(mail: StoredMail, learnable: Learnable) -> Iterator[Step]:
    """As the mail lies now. Archived counts where nobody had read it: else it only says that
    somebody was done with it."""
    labels = set(mail.labels)
    for label in labels & learnable.labels:
        yield "classify", canonical({"label_id": label})
    folders = labels & learnable.folders
    if folders:
        yield "move_email", canonical({"folder_id": min(folders)})
    elif learnable.archives and "UNREAD" in labels and "INBOX" not in labels:
        yield "archive", canonical({})


def find_decisions(rows: Iterable[Recorded]) -> dict[str, Steps]:
    """What people confirmed for each mail, where patterns could do it. A wish in a chat that
    nobody confirmed may be that of a mail the model read. Pure."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for row in rows:
        is_word = row.status == "succeeded" and row.approved_by
        if is_word and row.action_type in ACTION_TYPES and (item_id := object_of(row)):
            # Rows come newest first: a later decision on the same mail counts.
            found[item_id].setdefault(row.action_type, precedents.without_object(row))
    return {item_id: tuple(sorted(steps.items())) for item_id, steps in found.items()}


def find_repeated(
    decided: Mapping[str, Steps],
    heads: Mapping[str, StoredMail],
    *,
    seen: Mapping[str, Set[Step]] = NONE_SEEN,
    own_domain: str = "",
) -> Iterator[tuple[Pattern, StoredMail]]:
    """A pattern, with a mail as its example, for each list or proved sender whose mail was treated
    alike often enough; where it was not, for each of its subjects; and for a domain of several
    senders none of whom wrote often enough. What was done with one thread is done once, so that to
    put a thread away is no word about all who wrote in it; and no domain stands for colleagues.
    What was only `seen` adds to what people did, and never makes a pattern alone. Pure."""
    groups: dict[Anchor, list[tuple[Steps, StoredMail]]] = defaultdict(list)
    for item_id, steps in decided.items():
        mail = heads.get(item_id)
        for anchor in _anchors(mail) if mail else ():
            groups[anchor].append((steps, heads[item_id]))
    left: dict[Anchor, list[tuple[Set[Step], str]]] = defaultdict(list)
    for item_id in seen.keys() - decided.keys() if groups else ():
        mail = heads[item_id]
        for anchor in _anchors(mail):
            left[anchor].append((seen[item_id], mail.thread_id or item_id))
    yielded: set[tuple[str, str]] = set()
    for (kind, value, subject), alike in sorted(groups.items(), key=lambda one: one[0]):
        found = [mail for _, mail in alike]
        treated = {steps for steps, _ in alike}
        if len(treated) > 1 or (kind, value) in yielded:
            continue
        threads = {mail.thread_id or mail.source_id for mail in found}
        like = {
            thread
            for steps, thread in left[kind, value, subject]
            if steps >= set(alike[0][0]) and thread not in threads
        }
        if evidence.weigh(len(threads), len(like)) < evidence.ENOUGH:
            continue
        if kind == "domain" and (value == own_domain or not _stands_for_all(found)):
            continue
        if not subject:
            yielded.add((kind, value))
        yield _pattern((kind, value, subject), treated.pop()), found[0]


def _anchors(mail: StoredMail) -> Iterator[Anchor]:
    subject = generalised(mail.subject)
    found = []
    if mail.list_id:
        found.append(("list", mail.list_id))
    elif mail.sender and mail.authenticated:
        found.append(("sender", mail.sender))
        domain = domain_of(mail.sender)
        if domain and domain not in PUBLIC_DOMAINS:
            found.append(("domain", domain))
    for kind, value in found:
        yield kind, value, ""
        if subject and kind != "domain":
            yield kind, value, subject


def _stands_for_all(found: Sequence[StoredMail]) -> bool:
    """Of a sender who writes often enough there is a pattern of their own."""
    counts = Counter(mail.sender for mail in found)
    return len(counts) >= SENDERS and max(counts.values()) < evidence.ENOUGH


def _pattern(anchor: Anchor, steps: Steps) -> Pattern:
    kind, value, subject = anchor
    return Pattern(
        id=UUID(int=0),
        name=(f"{value} · {subject}" if subject else value)[:200],
        sender_address=value if kind == "sender" else "",
        sender_domain=value if kind == "domain" else "",
        list_id=value if kind == "list" else "",
        subject=subject,
        content_type="email",
        actions=tuple((name, strict_json.load_object(arguments)) for name, arguments in steps),
    )
