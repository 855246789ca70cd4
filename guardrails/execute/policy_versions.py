"""Keeping the policies that decided, so that each decision can be decided again."""

import json
from uuid import UUID

from audit.ledger import policies
from guardrails.decide import snapshot
from guardrails.decide.snapshot import PolicySnapshot


def keep(policy: PolicySnapshot, *, tenant_id: UUID) -> None:
    """Store the policy under its digest in the ledger, if it is not there."""
    policies.store(tenant_id=tenant_id, digest=policy.digest, body=policy.canonical)


def policy(digest: str, *, tenant_id: UUID) -> PolicySnapshot | None:
    """The policy with this digest; None when it is not kept or is not what it was."""
    try:
        body = policies.body(tenant_id=tenant_id, digest=digest)
    except policies.Altered:
        return None
    found = snapshot.read(json.loads(body)) if body else None
    return found if found is not None and found.digest == digest else None
