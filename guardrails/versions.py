"""Keeping the policies that decided, so that each decision can be decided again."""

from guardrails import snapshot
from guardrails.models import PolicyVersion
from guardrails.snapshot import PolicySnapshot


def keep(policy: PolicySnapshot) -> None:
    """Store the policy under its digest, if it is not there. One query where it is."""
    if not PolicyVersion.objects.filter(digest=policy.digest).exists():
        row = PolicyVersion(digest=policy.digest, content=policy.content())
        PolicyVersion.objects.bulk_create([row], ignore_conflicts=True)


def policy(digest: str) -> PolicySnapshot | None:
    """The policy with this digest; None when it is not kept or is not what it was."""
    row = PolicyVersion.objects.filter(digest=digest).first()
    found = snapshot.read(row.content) if row else None
    return found if found is not None and found.digest == digest else None
