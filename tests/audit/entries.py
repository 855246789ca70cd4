"""Ledger entries for tests. The ledger keeps its rows between tests, so every test uses
tenants of its own."""

import os
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import psycopg

from audit.contracts import Artifact, Entry
from audit.ledger import ledger, vault
from audit.ledger.ids import uuid7

DRAFT = Artifact(
    kind="draft", provider="gmail", external_id="draft-1", url="https://mail.example/d/1"
)


def entry(**changes: Any) -> Entry:
    values: dict[str, Any] = {
        "tenant_id": uuid4(),
        "action_id": uuid7(),
        "phase": "attempt",
        "status": "pending",
        "action_type": "archive",
        "occurred_at": datetime.now(UTC),
        "decision": "allowed",
        "payload": {"arguments": {"email_id": "mail-1"}},
    }
    return Entry(**(values | changes))


def append_action(*, tenant_id: UUID, status: str = "succeeded", **changes: Any) -> UUID:
    """An attempt and its outcome. Returns the action's id."""
    action_id = uuid7()
    same = changes | {"tenant_id": tenant_id, "action_id": action_id}
    ledger.append(entry(**same))
    if status != "pending":
        ledger.append(entry(**same, phase="outcome", status=status, artifacts=(DRAFT,)))
    return action_id


def append_by(session: psycopg.Connection[Any], wanted: Entry) -> None:
    """Append to another database, where this is the organisation's first row."""
    wrapped = vault.wrap(wanted.tenant_id, os.urandom(vault.KEY_BYTES))
    vault.keys.cache(wanted.tenant_id, wrapped)
    session.execute(vault.MAKE, [wanted.tenant_id, wrapped])
    statement = ledger.APPEND_WITH_ARTIFACTS if wanted.artifacts else ledger.APPEND
    session.execute(statement, ledger.parameters(wanted))
