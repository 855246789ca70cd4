"""What proves the rows: their tree, its signed checkpoints, keys and time stamps."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from audit.models.base import AppendOnlyModel


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
    """A key that signs checkpoints; `audit.seals.signing_keys` says which of them count."""

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
