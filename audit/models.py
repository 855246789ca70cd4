"""The ledger's tables. Made by SQL (audit/migrations) and only ever inserted into.

`managed = False` keeps Django's schema editor and the flush between tests away from them.
Rows come into being by `audit.ledger.append` alone; the database refuses changes too.
"""

import uuid
from collections.abc import Mapping
from typing import Any, NoReturn

from django.contrib.postgres.fields import ArrayField
from django.db import models

from audit.contracts import ActorType, Phase, Status, Verdict


class AppendOnly(RuntimeError):
    """Raised by every way of the ORM to write: the ledger only inserts."""

    def __init__(self) -> None:
        super().__init__("The ledger only inserts, and only through audit.ledger.append().")


def refuse(*args: object, **kwargs: object) -> NoReturn:
    raise AppendOnly


class AppendOnlyQuerySet(models.QuerySet[Any]):
    create = get_or_create = update_or_create = bulk_create = refuse
    update = bulk_update = delete = refuse
    acreate = aget_or_create = aupdate_or_create = abulk_create = refuse
    aupdate = abulk_update = adelete = refuse


class AppendOnlyModel(models.Model):
    objects = AppendOnlyQuerySet.as_manager()

    class Meta:
        abstract = True

    save = delete = asave = adelete = refuse


def choices(kind: Any) -> list[tuple[str, str]]:
    return [(value, value) for value in kind.__args__]


class ExecutedAgentAction(AppendOnlyModel):
    """One phase of one action. `docs/ledger.md` says what each column means."""

    content: "LedgerPayload | None" = None  # on rows of selectors.content_too

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
        return f"{self.action_type} · {self.phase} · {self.status}"


class LedgerPayload(AppendOnlyModel):
    """What a row's commitment is about: the only part that may be erased. Salt and body are in
    the clear or in a box; `audit.selectors.opened` reads both."""

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
    """One thing an action brought forth at the provider."""

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


class Leaf(AppendOnlyModel):
    """A row's place in its tenant's tree: the only number that is gapless."""

    row_id = models.BigIntegerField(primary_key=True)
    action_id = models.UUIDField(help_text="As in the row: it says in which month to look.")
    tenant_id = models.UUIDField()
    leaf_index = models.BigIntegerField()
    xact = models.TextField(help_text="As in the row; xid8 in the database.")
    hash = models.BinaryField()

    class Meta:
        managed = False
        db_table = "audit_leaf"

    def __str__(self) -> str:
        return f"leaf {self.leaf_index}"


class Checkpoint(AppendOnlyModel):
    """A signed statement of how many rows a tenant's ledger has, and which."""

    id = models.BigAutoField(primary_key=True)
    tenant_id = models.UUIDField()
    size = models.BigIntegerField()
    root = models.BinaryField()
    frontier = ArrayField(models.BinaryField())
    note = models.TextField()
    verifier_key = models.TextField()
    signed_at = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "audit_checkpoint"

    def __str__(self) -> str:
        return f"{self.size} rows sealed"


class SigningKey(AppendOnlyModel):
    """A key that signs checkpoints; `audit.signing_keys` says which of them count."""

    number = models.BigAutoField(primary_key=True)
    public = models.BinaryField()
    statement = models.TextField(help_text="The note that names it; empty for the first key.")
    named_at = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "audit_signing_key"

    def __str__(self) -> str:
        return f"signing key {self.number}"


class Anchor(AppendOnlyModel):
    """A root over the newest checkpoint of every organisation, to be time stamped."""

    id = models.BigAutoField(primary_key=True)
    checkpoint_id = models.BigIntegerField()
    leaves = models.BinaryField(help_text="Their hashes, 32 bytes each, one behind another.")
    root = models.BinaryField()
    made_at = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "audit_anchor"

    def __str__(self) -> str:
        return f"anchor {self.id}"


class AnchorToken(AppendOnlyModel):
    """What an authority answered to an anchor: an RFC 3161 response, as it came."""

    id = models.BigAutoField(primary_key=True)
    anchor = models.ForeignKey(Anchor, models.DO_NOTHING, related_name="tokens")
    authority = models.TextField()
    response = models.BinaryField()
    stamped_at = models.DateTimeField()
    kept_at = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "audit_anchor_token"

    def __str__(self) -> str:
        return f"time stamp of {self.authority}"


class LedgerPolicy(AppendOnlyModel):
    """One account's whole policy as it was when it decided; the digest is that of its canonical
    JSON, which is in `box`, or in `body` where it is from before policies were encrypted.
    Written once and read by `audit.policies`."""

    digest = models.TextField(primary_key=True)
    tenant_id = models.UUIDField()
    body = models.TextField(null=True)  # noqa: DJ001  # none: in the box
    box = models.BinaryField(null=True)
    recorded_at = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "audit_policy"
        verbose_name = "policy version"
        ordering = ["-recorded_at"]

    def __str__(self) -> str:
        return f"Policy {self.digest[:12]}"


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


class SavedFilter(models.Model):
    """A choice of filters of the ledger's list that somebody keeps. Not evidence: it may change.
    Shared, it is seen by whoever looks at the ledger of the same organisation."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.TextField(help_text="The key of the person who keeps it.")
    tenant_id = models.UUIDField(null=True)
    name = models.CharField(max_length=60)
    query = models.TextField()
    is_shared = models.BooleanField(default=False)
    saved_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="saved_filter_once")]

    def __str__(self) -> str:
        return self.name
