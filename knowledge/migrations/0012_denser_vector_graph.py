from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations
from pgvector.django import HnswIndex


class Migration(migrations.Migration):
    """Vectors are found by the old graph until the new one is whole."""

    atomic = False

    dependencies = [
        ('knowledge', '0011_newest_syncs'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='chunkvector',
            index=HnswIndex(
                fields=['vector'],
                name='chunk_vector_graph',
                m=24,
                ef_construction=128,
                opclasses=['halfvec_cosine_ops'],
            ),
        ),
        RemoveIndexConcurrently(model_name='chunkvector', name='chunk_vector_nearest'),
    ]
