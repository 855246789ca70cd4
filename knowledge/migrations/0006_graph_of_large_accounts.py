"""The graph of large accounts alone, and the vectors of an account by whether they are in it.

Where there is a large account the graph is built from all vectors, as it was before: the old one
serves searches meanwhile. An index that was broken off is there and used for nothing, so it goes
first.
"""

import pgvector.django.indexes
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    harmless_because = "It takes away what is broken, and nobody waits while an index is built."

    dependencies = [("knowledge", "0005_vectors_outside_the_graph")]

    operations = [
        migrations.RunSQL("DROP INDEX CONCURRENTLY IF EXISTS chunk_vector_owner", migrations.RunSQL.noop),
        AddIndexConcurrently(
            model_name="chunkvector",
            index=models.Index(fields=["account", "model", "in_graph"], name="chunk_vector_owner"),
        ),
        migrations.RunSQL("DROP INDEX CONCURRENTLY IF EXISTS chunk_vector_in_graph", migrations.RunSQL.noop),
        AddIndexConcurrently(
            model_name="chunkvector",
            index=pgvector.django.indexes.HnswIndex(
                condition=models.Q(("in_graph", True)),
                ef_construction=128,
                fields=["vector"],
                m=24,
                name="chunk_vector_in_graph",
                opclasses=["halfvec_cosine_ops"],
            ),
        ),
    ]
