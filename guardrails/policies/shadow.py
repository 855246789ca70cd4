"""Policies in shadow (`guardrails.gather.shadow`): put there, looked at, adopted, discarded."""

from dataclasses import dataclass

from django.db import transaction

from audit.ledger import selectors as ledger
from guardrails.decide import evidence
from guardrails.decide.policy_file import PolicyFile
from guardrails.gather.shadow import UNCLEAR
from guardrails.models import ShadowPolicy
from guardrails.policies import (
    changes,
    files as policy_files,
    text as policy_text,
)
from guardrails.policies.changes import Author
from guardrails.policies.differences import Difference
from guardrails.policies.simulation import Replay, difference
from guardrails.policies.text import PolicyFileError
from integrations.models import Account

LAST = 1000  # how many decisions are looked through


@dataclass(frozen=True, kw_only=True)
class ShadowStatus:
    """What a shadow would have decided so far, of the account's last 1000 decisions, and what
    it would change if it were adopted now."""

    row: ShadowPolicy
    replay: Replay
    changes: tuple[Difference, ...]


def start(account: Account, wanted: PolicyFile, *, note: str, author: Author) -> ShadowPolicy:
    """Put a policy in shadow, instead of the one that is there. Raises PolicyFileError."""
    whole = policy_files.whole(account, wanted)
    row = ShadowPolicy(
        account=account,
        content=whole.model_dump(mode="json", exclude_none=True),
        by=author.name,
        note=note,
    )
    with transaction.atomic():
        Account.objects.select_for_update().get(pk=account.pk)
        discard(account, author=author)
        with changes.recording(ShadowPolicy, [row.pk], author=author):
            row.save(force_insert=True)
    return row


def discard(account: Account, *, author: Author) -> bool:
    """Take the account's shadow away; False when there is none."""
    rows = ShadowPolicy.objects.filter(account=account)
    ids = list(rows.values_list("pk", flat=True))
    with changes.recording(ShadowPolicy, ids, author=author):
        rows.filter(pk__in=ids).delete()
    return bool(ids)


def adopt(
    account: Account, *, author: Author, unasked: frozenset[str] | None = None
) -> tuple[Difference, ...]:
    """Make the shadow the account's policy, and take it away. With `unasked`, those actions alone
    are done without asking: all others that the shadow would do so ask. Raises PolicyFileError."""
    with transaction.atomic():
        row = ShadowPolicy.objects.select_for_update().filter(account=account).first()
        if row is None:
            raise PolicyFileError("Nothing is in shadow here.")
        wanted = policy_text.parsed(row.content)
        if unasked is not None:
            wanted = _asking(wanted, unasked)
        found = policy_files.apply(account, wanted, author=author)
        discard(account, author=author)
    return found


def _asking(wanted: PolicyFile, unasked: frozenset[str]) -> PolicyFile:
    allowed_actions = [
        one.model_copy(update={"mode": "ask", "patterns_unapproved": False})
        if one.mode == "auto" and one.action not in unasked
        else one
        for one in wanted.allowed_actions or ()
    ]
    return wanted.model_copy(update={"allowed_actions": allowed_actions})


def load_status(account: Account) -> ShadowStatus | None:
    """How the account's shadow stands. None when there is none."""
    row = ShadowPolicy.objects.filter(account=account).first()
    if row is None:
        return None
    wanted = policy_text.parsed(row.content)
    return ShadowStatus(
        row=row, replay=_replay(account, row), changes=policy_files.differences(account, wanted)
    )


def _replay(account: Account, row: ShadowPolicy) -> Replay:
    """What the rows of the ledger say of this very shadow."""
    differences, unclear, looked_at, mails = [], 0, 0, set()
    for recorded in ledger.decisions(
        tenant_id=account.organisation_id, account_id=account.pk, limit=LAST
    ):
        said, past = recorded.payload.get("shadow", {}), evidence.past(recorded)
        if said.get("id") != str(row.pk) or past is None:
            continue
        looked_at += 1
        mails.add(past.request.origin.item_source_id)
        if said["verdict"] == UNCLEAR:
            unclear += 1
        elif said["verdict"] != past.verdict:
            differences.append(
                difference(
                    past,
                    before=past.verdict,  # type: ignore[arg-type]  # as it was written
                    after=said["verdict"],
                    sentence=said["sentence"],
                )
            )
    return Replay(
        differences=tuple(differences),
        looked_at=looked_at,
        mails=len(mails - {""}),
        unclear=unclear,
    )
