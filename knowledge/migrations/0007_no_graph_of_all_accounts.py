"""The graph of all vectors goes, and with it most of what storing an item cost."""

from django.db import migrations

DROP = "DROP INDEX CONCURRENTLY IF EXISTS"
CREATE = "CREATE INDEX CONCURRENTLY IF NOT EXISTS"
GRAPH = (
    "chunk_vector_graph ON knowledge_chunkvector"
    " USING hnsw (vector halfvec_cosine_ops) WITH (m = 24, ef_construction = 128)"
)
ACCOUNT = "chunk_vector_account ON knowledge_chunkvector (account_id, model)"


class Migration(migrations.Migration):
    atomic = False
    harmless_because = (
        "The version before finds the same: until it is replaced it compares every vector of a"
        " large account."
    )

    dependencies = [("knowledge", "0006_graph_of_large_accounts")]

    operations = [
        migrations.RunSQL(
            f"{DROP} {index.split()[0]}",
            f"{CREATE} {index}",
            state_operations=[migrations.RemoveIndex("chunkvector", index.split()[0])],
        )
        for index in (GRAPH, ACCOUNT)
    ]
