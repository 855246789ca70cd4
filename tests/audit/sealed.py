"""Sealing in tests. A transaction elsewhere on the server holds the sealer up, so a tenant is
sealed until all its rows are."""

import base64
import time
from uuid import UUID

from django.db.models import Exists, OuterRef

from audit import seals
from audit.models import ExecutedAgentAction, Leaf
from audit.notes import Signer

SEED = b"a signing key for tests, 32 byte"
SIGNER = Signer(SEED)
SIGNING_KEY = base64.b64encode(SEED).decode()
SECONDS = 60.0


def key(tenant_id: UUID) -> str:
    return SIGNER.verifier_key(seals.origin(tenant_id))


def seal(tenant_id: UUID) -> None:
    """Seal until every row of this tenant has its leaf."""
    sealed = Leaf.objects.filter(row_id=OuterRef("id"))
    waiting = ExecutedAgentAction.objects.filter(~Exists(sealed), tenant_id=tenant_id)
    deadline = time.monotonic() + SECONDS
    while waiting.exists():
        assert time.monotonic() < deadline, "Something holds the sealer up."
        seals.seal(signer=SIGNER)
