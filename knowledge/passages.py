"""The passages of an item and their vectors, as rows."""

from collections.abc import Sequence

from integrations import llm
from knowledge.enrichment import Passage
from knowledge.models import Chunk, ChunkVector, Item


def known_vectors(item: Item) -> dict[str, Sequence[float]]:
    """The vectors that are stored of the present model, by digest: none is asked for twice."""
    rows = ChunkVector.objects.filter(item=item, model=llm.embedding_model_name())
    return dict(rows.values_list("chunk__digest", "vector"))


def replace(
    item: Item, wanted: Sequence[Passage], vectors: dict[str, Sequence[float]], *, is_new: bool
) -> None:
    """Passages that stay in place keep their rows, and with them the vectors of all models."""
    model = llm.embedding_model_name()
    stored = () if is_new else Chunk.objects.filter(item=item).defer("text")
    present = {(chunk.position, chunk.digest): chunk for chunk in stored}
    texts = {(position, p.digest): p.text for position, p in enumerate(wanted)}
    gone = [chunk.pk for identity, chunk in present.items() if identity not in texts]
    if gone:
        Chunk.objects.filter(pk__in=gone).delete()
    new = [
        Chunk(item=item, position=position, digest=digest, text=text)
        for (position, digest), text in texts.items()
        if (position, digest) not in present
    ]
    Chunk.objects.bulk_create(new)
    kept = [present[identity] for identity in texts if identity in present]
    ChunkVector.objects.bulk_create(
        [
            ChunkVector(
                chunk=chunk,
                item=item,
                account_id=item.account_id,
                model=model,
                vector=vectors[chunk.digest],
            )
            for chunk in (*kept, *new)
        ],
        ignore_conflicts=True,
    )
