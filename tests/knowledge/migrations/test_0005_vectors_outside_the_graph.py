"""The update that takes vectors out of the graph, with small accounts alone and with a large one."""

import os
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from tests.database import migrated, unpooled, used_by_django

BEFORE = [("knowledge", "0004_labels_changed")]
AFTER = [("knowledge", "0007_no_graph_of_all_accounts")]
# As the version before does.
STORE = """
INSERT INTO knowledge_chunkvector (chunk_id, item_id, account_id, model, vector)
VALUES (%s, %s, %s, 'offline', array_fill(%s::real, ARRAY[%s])::halfvec)
"""


@pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
@pytest.mark.parametrize("has_large", [True, False], ids=["a large account", "none"])
def test_a_large_account_keeps_its_graph_and_nobody_else_needs_one(
    monkeypatch: pytest.MonkeyPatch, has_large: bool
) -> None:
    many = "knowledge.migrations.0005_vectors_outside_the_graph.MANY"
    monkeypatch.setattr(many, 2 if has_large else 3)
    name = f"test_outside_{os.getpid()}"
    with migrated(name), unpooled(), used_by_django(name):
        apps = MigrationExecutor(connection).migrate(BEFORE).apps
        large = _store(apps, "large", 3)
        _store(apps, "small", 2)
        before = _indexes()

        apps = MigrationExecutor(connection).migrate(AFTER).apps

        vectors = apps.get_model("knowledge", "ChunkVector").objects
        accounts = apps.get_model("knowledge", "LargeAccount").objects
        found = {large} if has_large else set()
        assert set(accounts.values_list("account_id", flat=True)) == found
        assert list(vectors.values_list("in_graph", flat=True)) == [has_large] * 5
        assert _indexes() == before - {"chunk_vector_account", "chunk_vector_graph"} | {
            "chunk_vector_owner",
            "chunk_vector_in_graph",
        }
        _store(apps, "later", 1)
        assert vectors.order_by("id").values_list("in_graph", flat=True).last() is False

        # Broken off, it leaves an index that is used for nothing.
        MigrationExecutor(connection).migrate(BEFORE)
        with connection.cursor() as cursor:
            cursor.execute("CREATE INDEX chunk_vector_in_graph ON knowledge_chunkvector (id)")
        apps = MigrationExecutor(connection).migrate(AFTER).apps
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_get_indexdef('chunk_vector_in_graph'::regclass)")
            assert "USING hnsw" in cursor.fetchone()[0]

        apps = MigrationExecutor(connection).migrate(BEFORE).apps
        assert apps.get_model("knowledge", "ChunkVector").objects.count() == 6
        assert _indexes() == before
        assert "knowledge_largeaccount" not in connection.introspection.table_names()


def _indexes() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexname FROM pg_indexes WHERE tablename = 'knowledge_chunkvector'"
        )
        return {row[0] for row in cursor.fetchall()}


def _store(apps: Any, name: str, count: int) -> Any:
    """The id of an account with one item of so many passages."""
    organisation = apps.get_model("integrations", "Organisation").objects.create(
        slug=name, name=name
    )
    account = apps.get_model("integrations", "Account").objects.create(
        organisation=organisation, external_user_id=name, source="gmail"
    )
    item = apps.get_model("knowledge", "Item").objects.create(
        account=account,
        source="gmail",
        source_id=str(uuid4()),
        content_type="email",
        occurred_at=timezone.now(),
        ingested_at=timezone.now(),
    )
    for position in range(count):
        chunk = apps.get_model("knowledge", "Chunk").objects.create(
            item=item, position=position, text="x", digest="x"
        )
        with connection.cursor() as cursor:
            values = [chunk.pk, item.pk, account.pk, position + 1, settings.EMBEDDING_DIMENSIONS]
            cursor.execute(STORE, values)
    return account.pk
