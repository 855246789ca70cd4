"""Items with their passages, vectors and times, and the entities they mention.

Text and vectors are apart: a row over 2 kB is moved out of line with its vector, which made
exact vector scans three to four times slower (measured, see `docs/knowledge.md`).
"""

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from pgvector.django import HalfVectorField, HnswIndex

from integrations.models import Account, Organisation
from integrations.ports.registry import source_choices
from knowledge.versions import Version


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
    text = models.TextField(
        blank=True,
        help_text="The item's own text without quoted replies, then the texts of its attachments.",
    )
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
    own_since = models.BigIntegerField(
        null=True,
        blank=True,
        help_text="Each version from this one on was made by an action of the assistant's own.",
    )
    labels_before = ArrayField(
        models.TextField(),
        null=True,
        blank=True,
        help_text="A mail's labels before they changed, until somebody has looked at the change.",
    )
    source_updated_at = models.DateTimeField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)
    last_deleted_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="No version from before it counts, whether the item was restored or not.",
    )
    ingested_at = models.DateTimeField()
    occurrences_until = models.DateTimeField(
        null=True,
        blank=True,
        help_text="For a series without an end: until when its occurrences are known.",
    )
    languages = ArrayField(
        models.CharField(max_length=32),
        null=True,
        blank=True,
        help_text="That its words are stemmed in, by PostgreSQL's names; null: not looked at yet.",
    )
    # Written by knowledge.ingest.indexing: Python knows accents and languages without blanks.
    search = SearchVectorField(default="", null=True, editable=False)

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
            models.Index(
                fields=["id"], name="item_not_indexed", condition=models.Q(languages=None)
            ),
            models.Index(
                fields=["account"],
                name="item_labels_changed",
                condition=models.Q(labels_before__isnull=False),
            ),
            models.Index(
                fields=["occurrences_until"],
                name="item_series",
                condition=models.Q(occurrences_until__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.title or f"{self.content_type} {self.source_id}"

    @property
    def version(self) -> Version:
        return Version(number=self.source_version, updated_at=self.source_updated_at)


class Occurrence(models.Model):
    """One time at which an event takes place: one row, or one for each of a series."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="occurrences")
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()

    class Meta:
        ordering = ["starts_at"]
        indexes = [models.Index(fields=["account", "starts_at"], name="occurrence_when")]

    def __str__(self) -> str:
        return f"{self.starts_at:%Y-%m-%d %H:%M} UTC"


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
    """The vector of one passage by one embedding model. Narrow on purpose.

    It is stored outside of the graph, which costs most of what storing an item does; that of a
    large account follows (`knowledge.ingest.graph`).
    """

    chunk = models.ForeignKey(Chunk, on_delete=models.CASCADE, related_name="vectors")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="vectors", db_index=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    model = models.CharField(max_length=100)
    vector = HalfVectorField(dimensions=settings.EMBEDDING_DIMENSIONS)
    in_graph = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["chunk", "model"], name="chunk_vector_once")]
        indexes = [
            models.Index(fields=["account", "model", "in_graph"], name="chunk_vector_owner"),
            models.Index(fields=["item"], name="chunk_vector_item"),
            # With 16 and 64, pgvector's defaults, a million vectors had a recall of 0.87.
            HnswIndex(
                fields=["vector"],
                name="chunk_vector_in_graph",
                m=24,
                ef_construction=128,
                opclasses=["halfvec_cosine_ops"],
                condition=models.Q(in_graph=True),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.chunk_id} by {self.model}"


class LargeAccount(models.Model):
    """An account with more vectors than searches compare one by one: it is searched through the
    graph, and stays so. Of any other account every vector is compared, in the graph or not."""

    account = models.OneToOneField(
        Account, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )

    def __str__(self) -> str:
        return str(self.account_id)


class EmbeddingModel(models.Model):
    """One embedding model that passages have vectors of. At most one is complete: searches go
    by it (`knowledge.ingest.embedding_models`)."""

    name = models.CharField(max_length=100, unique=True)
    started_at = models.DateTimeField()
    completed_at = models.DateTimeField(
        null=True, blank=True, help_text="Since then every passage has a vector of it."
    )
    done_up_to = models.BigIntegerField(default=0, help_text="The last passage that got one.")
    lease_expires_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-started_at"]

    def __str__(self) -> str:
        return self.name


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


class WriteCount(models.Model):
    """One of several counts of one account and language; only their sum says something."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    language = models.CharField(max_length=32)
    slot = models.PositiveSmallIntegerField()
    writes = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "language", "slot"], name="write_count_once")
        ]

    def __str__(self) -> str:
        return f"{self.writes} in {self.language}"
