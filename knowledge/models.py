"""Rows of `knowledge`: items with their passages and vectors, entities, and syncs.

Text and vectors are apart: a row over 2 kB is moved out of line with its vector, which made
exact vector scans three to four times slower (measured, see `docs/knowledge.md`).
"""

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import models
from django.db.models.functions import Left
from django.utils import timezone
from pgvector.django import HalfVectorField, HnswIndex

from integrations.models import Account, Organisation
from integrations.registry import source_choices
from knowledge.versions import Version

# A search column holds one MiB at most; this many characters fit whatever they are.
INDEXED_CHARS = 100_000


class Item(models.Model):
    """One mail, document, event or issue of one account, as far as search and agents need it.

    A deleted item keeps its row without any content, so that an older version of it that
    arrives late does not come back (`deleted_at` is the provider's time of the deletion).
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="items")
    source = models.CharField(max_length=32, choices=source_choices)
    source_id = models.CharField(max_length=500, help_text="The provider's id.")
    content_type = models.CharField(max_length=32)
    title = models.CharField(max_length=500, blank=True)
    summary = models.TextField(blank=True, help_text="Written by the model at ingest.")
    text = models.TextField(blank=True, help_text="The item's own text, without quoted replies.")
    sender_name = models.CharField(max_length=200, blank=True)
    sender_address = models.CharField(max_length=320, blank=True, help_text="In lower case.")
    identifiers = ArrayField(
        models.TextField(),
        default=list,
        blank=True,
        help_text="Ids, issue keys and everyone's addresses, in lower case: for exact search.",
    )
    content_hash = models.CharField(
        max_length=64, blank=True, help_text="The same hash is never shown to a model again."
    )
    metadata = models.JSONField(default=dict, blank=True)
    occurred_at = models.DateTimeField(help_text="Sent, modified, starting or created.")
    source_version = models.BigIntegerField(default=0, help_text="0: the provider gave none.")
    source_updated_at = models.DateTimeField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)
    last_deleted_at = models.DateTimeField(
        null=True, blank=True, help_text="Restored or not: no version from before it counts."
    )
    ingested_at = models.DateTimeField()
    search = models.GeneratedField(
        expression=SearchVector("title", weight="A", config="simple")
        + SearchVector("summary", weight="B", config="simple")
        + SearchVector(Left("text", INDEXED_CHARS), weight="C", config="simple"),
        output_field=SearchVectorField(),
        db_persist=True,
    )

    class Meta:
        ordering = ["-occurred_at"]
        constraints = [
            models.UniqueConstraint(fields=["account", "source", "source_id"], name="item_once")
        ]
        indexes = [
            models.Index(
                fields=["account", "-occurred_at"],
                name="item_recent",
                condition=models.Q(deleted_at=None),
            ),
            models.Index(fields=["-occurred_at"], name="item_newest"),
            GinIndex(fields=["search"], name="item_words"),
            GinIndex(fields=["identifiers"], name="item_identifiers"),
        ]

    def __str__(self) -> str:
        return self.title or f"{self.content_type} {self.source_id}"

    @property
    def version(self) -> Version:
        return Version(number=self.source_version, updated_at=self.source_updated_at)


class Chunk(models.Model):
    """One passage of an item. `digest` names what was embedded: title and passage."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="chunks")
    position = models.PositiveIntegerField()
    text = models.TextField()
    digest = models.CharField(max_length=64)

    class Meta:
        ordering = ["item_id", "position"]
        constraints = [models.UniqueConstraint(fields=["item", "position"], name="chunk_once")]

    def __str__(self) -> str:
        return f"Passage {self.position + 1}"


class ChunkVector(models.Model):
    """The vector of one passage by one embedding model. Narrow on purpose."""

    chunk = models.ForeignKey(Chunk, on_delete=models.CASCADE, related_name="vectors")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="vectors", db_index=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    model = models.CharField(max_length=100)
    vector = HalfVectorField(dimensions=settings.EMBEDDING_DIMENSIONS)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["chunk", "model"], name="chunk_vector_once")]
        indexes = [
            models.Index(fields=["account", "model"], name="chunk_vector_account"),
            models.Index(fields=["item"], name="chunk_vector_item"),
            HnswIndex(
                fields=["vector"],
                name="chunk_vector_nearest",
                m=16,
                ef_construction=64,
                opclasses=["halfvec_cosine_ops"],
            ),
        ]

    def __str__(self) -> str:
        return f"{self.chunk_id} by {self.model}"


class Entity(models.Model):
    """A person, project, organisation or topic that one user's items are about.

    A person with an address is one person, whatever names the address was seen with.
    """

    class Kind(models.TextChoices):
        PERSON = "person", "Person"
        PROJECT = "project", "Project"
        ORGANISATION = "organisation", "Organisation"
        TOPIC = "topic", "Topic"

    organisation = models.ForeignKey(
        Organisation, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    external_user_id = models.CharField(max_length=200)
    kind = models.CharField(max_length=16, choices=Kind)
    name = models.CharField(max_length=200, blank=True)
    address = models.CharField(max_length=320, blank=True, help_text="In lower case.")
    key = models.CharField(
        max_length=320, help_text="What makes it the same one: its address, else its name."
    )
    words = ArrayField(models.TextField(), default=list, help_text="Of its name, in lower case.")

    class Meta:
        verbose_name_plural = "entities"
        ordering = ["name", "address"]
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "external_user_id", "kind", "key"], name="entity_once"
            )
        ]

    def __str__(self) -> str:
        return self.name or self.address


class Mention(models.Model):
    """One item is from, to or about one entity."""

    class Role(models.TextChoices):
        SENDER = "sender", "Sender"
        PARTICIPANT = "participant", "Participant"
        SUBJECT = "subject", "Mentioned"

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="mentions")
    entity = models.ForeignKey(
        Entity, on_delete=models.CASCADE, related_name="mentions", db_index=False
    )
    role = models.CharField(max_length=16, choices=Role)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "entity"], name="mention_once")]
        indexes = [models.Index(fields=["entity", "account"], name="mention_of_entity")]

    def __str__(self) -> str:
        return f"{self.get_role_display()} of {self.item_id}"


class SyncRun(models.Model):
    """One sync: some or all accounts of one user, asked for or due.

    When its last account has ended it is finished, and the frontend is told
    (`knowledge.callbacks`) if it named an address.
    """

    class Callback(models.TextChoices):
        NONE = "none", "None"
        WAITING = "waiting", "Waiting"
        SENT = "sent", "Sent"
        FAILED = "failed", "Failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(
        Organisation, on_delete=models.CASCADE, related_name="sync_runs"
    )
    external_user_id = models.CharField(max_length=200)
    only_changes = models.BooleanField(
        default=False, help_text="Reads what changed since the last sync, not the whole window."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    callback = models.CharField(max_length=16, choices=Callback, default=Callback.NONE)
    callback_attempts = models.PositiveIntegerField(default=0)
    callback_due_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(
                fields=["organisation", "external_user_id", "-created_at"], name="sync_run_recent"
            ),
            models.Index(
                fields=["callback_due_at"],
                name="sync_run_callback",
                condition=models.Q(callback="waiting"),
            ),
            models.Index(
                fields=["finished_at"],
                name="sync_run_of_changes",
                condition=models.Q(only_changes=True),
            ),
        ]

    def __str__(self) -> str:
        return f"Sync of {self.external_user_id}"


class SyncSource(models.Model):
    """The part of a sync that reads one account. It goes on at `cursor` after a crash.

    received = processed + skipped + failed after every page. `attempt` is the claim: a
    worker that lost its lease can write nothing any more.
    """

    class State(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey(SyncRun, on_delete=models.CASCADE, related_name="sources")
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="syncs")
    state = models.CharField(max_length=16, choices=State, default=State.QUEUED)
    created_at = models.DateTimeField(default=timezone.now)
    only_changes = models.BooleanField(default=False)
    since = models.DateTimeField(help_text="How far back it reads.")
    cursor = models.TextField(blank=True, help_text="Where the next page begins.")
    received = models.PositiveIntegerField(default=0)
    processed = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    reasons = models.JSONField(
        default=dict, blank=True, help_text="How many items were skipped or failed, by reason."
    )
    remaining = models.PositiveIntegerField(
        null=True, blank=True, help_text="Items still to come, where the data service says so."
    )
    waits = models.PositiveIntegerField(
        default=0, help_text="How often it found nobody there since its last page."
    )
    restarts = models.PositiveIntegerField(
        default=0, help_text="How often the window was read from its start again."
    )
    attempt = models.PositiveIntegerField(default=0)
    stalls = models.PositiveIntegerField(
        default=0, help_text="How often it was begun again since the last page was finished."
    )
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["run_id", "account_id"]
        constraints = [
            models.UniqueConstraint(
                fields=["account"],
                name="one_active_sync_per_account",
                condition=models.Q(state__in=["queued", "running"]),
            )
        ]
        indexes = [models.Index(fields=["account", "-finished_at"], name="sync_source_last")]

    def __str__(self) -> str:
        return f"{self.account_id} {self.get_state_display().lower()}"


class SyncFailure(models.Model):
    """A dead letter of a sync: an item that could not be stored, and why. It stays until it is
    taken up again; then it counts as what came of it."""

    class State(models.TextChoices):
        DEAD = "dead", "Dead letter"
        QUEUED = "queued", "Queued"
        PROCESSED = "processed", "Processed"
        SKIPPED = "skipped", "Skipped"

    sync = models.ForeignKey(SyncSource, on_delete=models.CASCADE, related_name="failures")
    source_id = models.CharField(max_length=500)
    reason = models.CharField(max_length=64)
    state = models.CharField(max_length=16, choices=State, default=State.DEAD)
    failed_at = models.DateTimeField()
    retried_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "dead letter of a sync"
        verbose_name_plural = "dead letters of syncs"
        ordering = ["-failed_at"]
        indexes = [models.Index(fields=["state", "-failed_at"], name="sync_failure_newest")]

    def __str__(self) -> str:
        return f"{self.source_id}: {self.reason}"
