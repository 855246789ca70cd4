"""Shadow mode: a draft policy decides beside the real one, on the same facts, and only the
ledger hears of it.

What the shadow says is kept in the row of the real decision. It changes no verdict, asks the
provider nothing, and where it breaks the real decision stands.
"""

import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from guardrails.contracts import ActionRequest
from guardrails.decide import evidence
from guardrails.decide.policy_file import PolicyFile, with_file
from guardrails.gather.judgement import Judgement
from guardrails.models import ShadowPolicy

log = logging.getLogger(__name__)
UNCLEAR = "unclear"  # it looks at facts that were not read


def beside(request: ActionRequest, judgement: Judgement) -> Judgement:
    """The same judgement, with what the account's shadow says to it. Never raises. One query
    where it has one."""
    try:
        return replace(judgement, shadow=_said(request, judgement))
    except Exception:  # the real decision stands, whatever the shadow does
        log.exception("guardrails.shadow_failed action=%s", request.action_id)
        return judgement


def _said(request: ActionRequest, judgement: Judgement) -> Mapping[str, Any]:
    account = request.account
    if judgement.policy is None or not judgement.policy.has_shadow:
        return {}
    row = ShadowPolicy.objects.filter(
        account_id=account.id, account__organisation_id=account.organisation_id
    ).first()
    if row is None or not judgement.grounds:
        return {}
    wanted = PolicyFile.model_validate(row.content)
    found = evidence.decide_on(
        request=request,
        facts=judgement.facts,
        needs=frozenset(judgement.grounds["needs"]),
        now=datetime.fromisoformat(judgement.grounds["now"]),
        reason=judgement.decision.reason,
        unsealed=judgement.grounds.get("unsealed", ""),
        under=with_file(judgement.policy, wanted, request.account.source),
    )
    if found is None:
        return {"id": str(row.pk), "verdict": UNCLEAR}
    return {
        "id": str(row.pk),
        "verdict": found.verdict,
        "reason": found.reason,
        "sentence": found.sentence,
    }
