"""What was read of people's rooms: items, their passages and vectors, who they mention, and syncs."""

import uuid

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import django.utils.timezone
import pgvector.django.halfvec
import pgvector.django.indexes
from django.conf import settings
from django.db import migrations, models
from pgvector.django import VectorExtension

import integrations.ports.registry


class Migration(migrations.Migration):
    initial = True

    dependencies = [("integrations", "0001_accounts_budgets_servers")]

    operations = [
        VectorExtension(),
        migrations.CreateModel(
            name="Entity",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("external_user_id", models.CharField(max_length=200)),
                ("kind", models.CharField(choices=[("person", "Person"), ("project", "Project"), ("organisation", "Organisation"), ("topic", "Topic")], max_length=16)),
                ("name", models.CharField(blank=True, max_length=200)),
                ("address", models.CharField(blank=True, help_text="In lower case.", max_length=320)),
                ("key", models.CharField(help_text="What makes it the same one: its address, else its name.", max_length=320)),
                ("words", django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, help_text="Of its name, in lower case.", size=None)),
                ("organisation", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="integrations.organisation")),
            ],
            options={
                "verbose_name_plural": "entities",
                "ordering": ["name", "address"],
                "constraints": [models.UniqueConstraint(fields=("organisation", "external_user_id", "kind", "key"), name="entity_once")],
            },
        ),
        migrations.CreateModel(
            name="Item",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("source", models.CharField(choices=integrations.ports.registry.source_choices, max_length=32)),
                ("source_id", models.CharField(help_text="The provider's id.", max_length=500)),
                ("content_type", models.CharField(max_length=32)),
                ("title", models.CharField(blank=True, max_length=500)),
                ("summary", models.TextField(blank=True, help_text="Written by the model at ingest.")),
                ("text", models.TextField(blank=True, help_text="The item's own text without quoted replies, then the texts of its attachments.")),
                ("sender_name", models.CharField(blank=True, max_length=200)),
                ("sender_address", models.CharField(blank=True, help_text="In lower case.", max_length=320)),
                (
                    "identifiers",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), blank=True, default=list, help_text="Ids, issue keys and everyone's addresses, in lower case: for exact search.", size=None
                    ),
                ),
                ("content_hash", models.CharField(blank=True, help_text="The same hash is never shown to a model again.", max_length=64)),
                ("metadata", models.JSONField(blank=True, default=dict)),
                ("occurred_at", models.DateTimeField(help_text="Sent, modified, starting or created.")),
                ("source_version", models.BigIntegerField(default=0, help_text="0: the provider gave none.")),
                ("source_updated_at", models.DateTimeField(blank=True, null=True)),
                ("deleted_at", models.DateTimeField(blank=True, null=True)),
                ("ingested_at", models.DateTimeField()),
                ("search", django.contrib.postgres.search.SearchVectorField(default="", editable=False, null=True)),
                ("account", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="items", to="integrations.account")),
                ("last_deleted_at", models.DateTimeField(blank=True, help_text="No version from before it counts, whether the item was restored or not.", null=True)),
                ("occurrences_until", models.DateTimeField(blank=True, help_text="For a series without an end: until when its occurrences are known.", null=True)),
                (
                    "languages",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=32), blank=True, help_text="That its words are stemmed in, by PostgreSQL's names; null: not looked at yet.", null=True, size=None
                    ),
                ),
            ],
            options={
                "ordering": ["-occurred_at"],
                "indexes": [
                    models.Index(condition=models.Q(("deleted_at", None)), fields=["account", "-occurred_at"], name="item_recent"),
                    django.contrib.postgres.indexes.GinIndex(fields=["search"], name="item_words"),
                    django.contrib.postgres.indexes.GinIndex(fields=["identifiers"], name="item_identifiers"),
                    models.Index(fields=["-occurred_at"], name="item_newest"),
                    models.Index(condition=models.Q(("occurrences_until__isnull", False)), fields=["occurrences_until"], name="item_series"),
                    models.Index(condition=models.Q(("languages", None)), fields=["id"], name="item_not_indexed"),
                ],
                "constraints": [models.UniqueConstraint(fields=("account", "source", "source_id"), name="item_once")],
            },
        ),
        migrations.CreateModel(
            name="Chunk",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveIntegerField()),
                ("text", models.TextField()),
                ("digest", models.CharField(max_length=64)),
                ("item", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="chunks", to="knowledge.item")),
            ],
            options={"ordering": ["item_id", "position"], "constraints": [models.UniqueConstraint(fields=("item", "position"), name="chunk_once")]},
        ),
        migrations.CreateModel(
            name="ChunkVector",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("model", models.CharField(max_length=100)),
                ("vector", pgvector.django.halfvec.HalfVectorField(dimensions=settings.EMBEDDING_DIMENSIONS)),
                ("account", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="integrations.account")),
                ("chunk", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="vectors", to="knowledge.chunk")),
                ("item", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="vectors", to="knowledge.item")),
            ],
            options={
                "indexes": [
                    models.Index(fields=["account", "model"], name="chunk_vector_account"),
                    models.Index(fields=["item"], name="chunk_vector_item"),
                    pgvector.django.indexes.HnswIndex(ef_construction=128, fields=["vector"], m=24, name="chunk_vector_graph", opclasses=["halfvec_cosine_ops"]),
                ],
                "constraints": [models.UniqueConstraint(fields=("chunk", "model"), name="chunk_vector_once")],
            },
        ),
        migrations.CreateModel(
            name="Mention",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("role", models.CharField(choices=[("sender", "Sender"), ("participant", "Participant"), ("subject", "Mentioned")], max_length=16)),
                ("account", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="integrations.account")),
                ("entity", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="mentions", to="knowledge.entity")),
                ("item", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="mentions", to="knowledge.item")),
            ],
            options={"indexes": [models.Index(fields=["entity", "account"], name="mention_of_entity")], "constraints": [models.UniqueConstraint(fields=("item", "entity"), name="mention_once")]},
        ),
        migrations.CreateModel(
            name="SyncRun",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("external_user_id", models.CharField(max_length=200)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("organisation", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="sync_runs", to="integrations.organisation")),
                ("callback", models.CharField(choices=[("none", "None"), ("waiting", "Waiting"), ("sent", "Sent"), ("failed", "Failed")], default="none", max_length=16)),
                ("callback_attempts", models.PositiveIntegerField(default=0)),
                ("callback_due_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("only_changes", models.BooleanField(default=False, help_text="Reads what changed since the last sync, not the whole window.")),
            ],
            options={
                "ordering": ["-created_at"],
                "indexes": [
                    models.Index(fields=["organisation", "external_user_id", "-created_at"], name="sync_run_recent"),
                    models.Index(condition=models.Q(("callback", "waiting")), fields=["callback_due_at"], name="sync_run_callback"),
                    models.Index(condition=models.Q(("only_changes", True)), fields=["finished_at"], name="sync_run_of_changes"),
                    models.Index(fields=["-created_at"], name="sync_run_newest"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SyncSource",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "state",
                    models.CharField(choices=[("queued", "Queued"), ("running", "Running"), ("done", "Done"), ("failed", "Failed"), ("cancelled", "Cancelled")], default="queued", max_length=16),
                ),
                ("since", models.DateTimeField(help_text="How far back it reads.")),
                ("cursor", models.TextField(blank=True, help_text="Where the next page begins.")),
                ("received", models.PositiveIntegerField(default=0)),
                ("processed", models.PositiveIntegerField(default=0)),
                ("skipped", models.PositiveIntegerField(default=0)),
                ("failed", models.PositiveIntegerField(default=0)),
                ("reasons", models.JSONField(blank=True, default=dict, help_text="How many items were skipped or failed, by reason.")),
                ("restarts", models.PositiveIntegerField(default=0, help_text="How often the window was read from its start again.")),
                ("attempt", models.PositiveIntegerField(default=0)),
                ("lease_expires_at", models.DateTimeField(blank=True, null=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("error", models.CharField(blank=True, max_length=500)),
                ("account", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="syncs", to="integrations.account")),
                ("run", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="sources", to="knowledge.syncrun")),
                ("stalls", models.PositiveIntegerField(default=0, help_text="How often it was started again since the last page was finished.")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("only_changes", models.BooleanField(default=False)),
                ("remaining", models.PositiveIntegerField(blank=True, help_text="Items still to come, where the data service says so.", null=True)),
                ("waiting_since", models.DateTimeField(blank=True, help_text="Since when it waits for what does not answer.", null=True)),
            ],
            options={
                "ordering": ["run_id", "account_id"],
                "indexes": [models.Index(fields=["account", "-finished_at"], name="sync_source_last"), models.Index(fields=["-created_at"], name="sync_source_newest")],
                "constraints": [models.UniqueConstraint(condition=models.Q(("state__in", ["queued", "running"])), fields=("account",), name="one_active_sync_per_account")],
            },
        ),
        migrations.CreateModel(
            name="SyncFailure",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("source_id", models.CharField(max_length=500)),
                ("reason", models.CharField(max_length=64)),
                ("failed_at", models.DateTimeField()),
                ("sync", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="failures", to="knowledge.syncsource")),
                ("retried_at", models.DateTimeField(blank=True, null=True)),
                ("due_at", models.DateTimeField(blank=True, help_text="When it is tried again without being asked for.", null=True)),
                ("state", models.CharField(choices=[("dead", "Dead letter"), ("queued", "Queued"), ("processed", "Processed"), ("skipped", "Skipped")], default="dead", max_length=16)),
            ],
            options={
                "ordering": ["-failed_at"],
                "indexes": [models.Index(fields=["state", "-failed_at"], name="sync_failure_newest"), models.Index(fields=["-failed_at"], name="sync_failure_all_newest"), models.Index(condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="sync_failure_due")],
                "verbose_name": "dead letter of a sync",
                "verbose_name_plural": "dead letters of syncs",
            },
        ),
        migrations.CreateModel(
            name="Occurrence",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("starts_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField()),
                ("account", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="integrations.account")),
                ("item", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="occurrences", to="knowledge.item")),
            ],
            options={"ordering": ["starts_at"], "indexes": [models.Index(fields=["account", "starts_at"], name="occurrence_when")]},
        ),
        migrations.CreateModel(
            name="ItemFile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveSmallIntegerField()),
                ("name", models.CharField(blank=True, max_length=200)),
                ("mime_type", models.CharField(blank=True, max_length=200, verbose_name="type")),
                ("size", models.BigIntegerField(default=0, help_text="In bytes, as the provider says.")),
                ("file_id", models.CharField(blank=True, help_text="Names exactly these bytes. Empty: not offered.", max_length=500)),
                ("attached", models.BooleanField(default=True, help_text="No: it is the document itself.")),
                ("text", models.TextField(blank=True)),
                ("reason", models.CharField(blank=True, help_text="Why there is no text. Empty: it was read.", max_length=32)),
                ("cut", models.BooleanField(default=False, help_text="There is more in it than is kept.")),
                ("tries", models.PositiveSmallIntegerField(default=0)),
                ("due_at", models.DateTimeField(blank=True, help_text="When it is asked for again.", null=True)),
                ("item", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="files", to="knowledge.item")),
            ],
            options={
                "verbose_name": "file",
                "ordering": ["item_id", "position"],
                "indexes": [models.Index(condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="item_file_due")],
                "constraints": [models.UniqueConstraint(fields=("item", "position"), name="item_file_once")],
            },
        ),
        migrations.CreateModel(
            name="EmbeddingModel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100, unique=True)),
                ("started_at", models.DateTimeField()),
                ("completed_at", models.DateTimeField(blank=True, help_text="Since then every passage has a vector of it.", null=True)),
                ("done_up_to", models.BigIntegerField(default=0, help_text="The last passage that got one.")),
                ("lease_expires_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={"ordering": ["-started_at"]},
        ),
        migrations.CreateModel(
            name="WriteCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("language", models.CharField(max_length=32)),
                ("slot", models.PositiveSmallIntegerField()),
                ("writes", models.BigIntegerField()),
                ("account", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="integrations.account")),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("account", "language", "slot"), name="write_count_once")]},
        ),
    ]
