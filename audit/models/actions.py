"""Rows: what was done and refused, with what belongs to each."""

from collections.abc import Mapping
from typing import Any

from django.db import models

from audit.contracts import ActorType, Phase, Status, Verdict
from audit.models.base import AppendOnlyModel, choices


class ExecutedAgentAction(AppendOnlyModel):
    """One phase of one action. `docs/ledger.md` says what each column means."""

    content: "LedgerPayload | None" = None  # on rows of queries.join_payload

    id = models.BigAutoField(primary_key=True)
    action_id = models.UUIDField()
    phase = models.TextField(choices=choices(Phase))
    attempt_no = models.SmallIntegerField()
    schema_version = models.SmallIntegerField()
    # who
    tenant_id = models.UUIDField()
    account_id = models.UUIDField(null=True)
    actor_type = models.TextField(choices=choices(ActorType))
    actor_id = models.TextField()
    on_behalf_of = models.TextField()
    credential_ref = models.TextField()
    agent_id = models.TextField()
    agent_version = models.TextField()
    model_id = models.TextField()
    skill_ref = models.TextField()
    pattern_id = models.TextField()
    # thread
    trigger = models.TextField()
    run_id = models.TextField()
    trace_id = models.TextField()
    parent_action_id = models.UUIDField(null=True)
    # what
    provider = models.TextField()
    resource_type = models.TextField()
    resource_key = models.TextField()
    action_type = models.TextField()
    target_key = models.TextField()
    target_group_id = models.TextField()
    # right
    decision = models.TextField(choices=choices(Verdict))
    decision_reason = models.TextField()
    policy_digest = models.TextField()
    approval_id = models.TextField()
    approved_by = models.TextField()
    # result
    idempotency_key = models.TextField()
    status = models.TextField(choices=choices(Status))
    error_code = models.TextField()
    provider_request_id = models.TextField()
    latency_ms = models.IntegerField(null=True)
    target_row = models.BigIntegerField(null=True)
    # commitments
    payload_commitment = models.TextField()
    artifacts_digest = models.TextField()
    envelope_mac = models.TextField()
    # time
    occurred_at = models.DateTimeField()
    recorded_at = models.DateTimeField()
    xact = models.TextField(help_text="The inserting transaction; xid8 in the database.")

    class Meta:
        managed = False
        db_table = "audit_action"
        verbose_name = "ledger entry"
        verbose_name_plural = "ledger"
        permissions = [
            ("erase_contents", "Can erase what ledger rows are about"),
            ("hold_contents", "Can set and release legal holds"),
            ("drop_months", "Can propose and confirm that old months leave"),
            ("end_ledger", "Can end an organisation's ledger"),
        ]

    def __str__(self) -> str:
        return f"{self.action_type.replace('_', ' ')} · {self.phase} · {self.status}"


class LedgerPayload(AppendOnlyModel):
    """What a row's commitment is about: the only part that may be erased. Salt and body are in
    the clear or in a box; `audit.ledger.selectors.opened` reads both."""

    row = models.OneToOneField(
        ExecutedAgentAction,
        models.DO_NOTHING,
        primary_key=True,
        db_constraint=False,
        related_name="stored",
    )
    action_id = models.UUIDField(help_text="As in the row: it chooses the month.")
    tenant_id = models.UUIDField()
    salt = models.BinaryField(null=True)
    body = models.TextField(null=True)  # noqa: DJ001  # null: it is in the box
    box = models.BinaryField(null=True)

    class Meta:
        managed = False
        db_table = "audit_payload"

    def __str__(self) -> str:
        return f"payload of row {self.row_id}"


class ActionArtifact(AppendOnlyModel):
    """One thing an action created at the provider."""

    id = models.BigAutoField(primary_key=True)
    row = models.ForeignKey(
        ExecutedAgentAction, models.DO_NOTHING, db_constraint=False, related_name="artifacts"
    )
    tenant_id = models.UUIDField()
    action_id = models.UUIDField()
    attempt_no = models.SmallIntegerField()
    ordinal = models.SmallIntegerField()
    kind = models.TextField()
    provider = models.TextField()
    external_id = models.TextField()
    url_key = models.TextField()
    digest = models.TextField()

    class Meta:
        managed = False
        db_table = "audit_artifact"
        ordering = ["row_id", "ordinal"]

    def __str__(self) -> str:
        return f"{self.kind} {self.external_id}"


# What the writer supplies; `id`, `recorded_at` and `xact` are the database's own.
SUPPLIED = tuple(
    field.attname
    for field in ExecutedAgentAction._meta.concrete_fields
    if field.attname not in ("id", "recorded_at", "xact")
)
# In the order in which they are hashed.
ENVELOPE = tuple(sorted(name for name in SUPPLIED if name != "envelope_mac"))


def envelope(row: Mapping[str, Any] | ExecutedAgentAction) -> dict[str, Any]:
    """The columns that a row's MAC covers."""
    values = row if isinstance(row, Mapping) else vars(row)
    return {name: values[name] for name in ENVELOPE}
