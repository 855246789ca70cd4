"""Shadow mode: a draft policy decides beside the real one, on the same facts, and only the
ledger hears of it.

What the shadow says is kept in the row of the real decision. It changes no verdict, asks the
provider nothing, and where it breaks the real decision stands.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import transaction

from audit.ledger import selectors as ledger
from guardrails.contracts import ActionRequest
from guardrails.decide import evidence
from guardrails.gather.judgement import Judgement
from guardrails.models import ShadowPolicy
from guardrails.policies import (
    changes,
    drafts,
    files as policy_files,
    text as policy_text,
)
from guardrails.policies.changes import Author
from guardrails.policies.format import Difference, PolicyFile
from guardrails.policies.simulation import Replay, difference
from guardrails.policies.text import PolicyFileError
from integrations.contracts import AccountRef
from integrations.models import Account

log = logging.getLogger(__name__)
LAST = 1000  # how many decisions are looked through
UNCLEAR = "unclear"  # it looks at facts that were not read


@dataclass(frozen=True, kw_only=True)
class Standing:
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


def adopt(account: Account, *, author: Author) -> tuple[Difference, ...]:
    """Make the shadow the account's policy, and take it away. Raises PolicyFileError."""
    with transaction.atomic():
        row = ShadowPolicy.objects.select_for_update().filter(account=account).first()
        if row is None:
            raise PolicyFileError("Nothing is in shadow here.")
        found = policy_files.apply(account, policy_text.parsed(row.content), author=author)
        discard(account, author=author)
    return found


def standing(account: Account) -> Standing | None:
    """How the account's shadow stands. None when there is none."""
    row = ShadowPolicy.objects.filter(account=account).first()
    if row is None:
        return None
    wanted = policy_text.parsed(row.content)
    return Standing(
        row=row, replay=_replay(account, row), changes=policy_files.differences(account, wanted)
    )


def beside(request: ActionRequest, judgement: Judgement) -> Judgement:
    """The same judgement, with what the account's shadow says to it. Never raises. One query."""
    try:
        return replace(judgement, shadow=_said(request, judgement))
    except Exception:  # the real decision stands, whatever the shadow does
        log.exception("guardrails.shadow_failed action=%s", request.action_id)
        return judgement


def _said(request: ActionRequest, judgement: Judgement) -> Mapping[str, Any]:
    row = _of(request.account)
    if row is None or judgement.policy is None or not judgement.grounds:
        return {}
    wanted = PolicyFile.model_validate(row.content)
    found = evidence.decide_on(
        request=request,
        facts=judgement.facts,
        needs=frozenset(judgement.grounds["needs"]),
        now=datetime.fromisoformat(judgement.grounds["now"]),
        reason=judgement.decision.reason,
        under=drafts.with_file(judgement.policy, wanted, request.account.source),
    )
    if found is None:
        return {"id": str(row.pk), "verdict": UNCLEAR}
    return {
        "id": str(row.pk),
        "verdict": found.verdict,
        "reason": found.reason,
        "sentence": found.sentence,
    }


def _of(account: AccountRef) -> ShadowPolicy | None:
    rows = ShadowPolicy.objects.filter(account__organisation_id=account.organisation_id)
    return rows.filter(account_id=account.id).first()


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
