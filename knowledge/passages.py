"""The passages of an item and their vectors, as rows."""

from collections.abc import Sequence

from django.db.models import F

from integrations import llm
from knowledge.enrichment import Passage
from knowledge.models import Chunk, ChunkVector, Item

_AWAY = 1_000_000  # more than any item has


def known_vectors(item: Item) -> dict[str, Sequence[float]]:
    """The vectors that are stored of the present model, by digest: none is asked for twice."""
    rows = ChunkVector.objects.filter(item=item, model=llm.embedding_model_name())
    return dict(rows.values_list("chunk__digest", "vector"))


def replace(
    item: Item, wanted: Sequence[Passage], vectors: dict[str, Sequence[float]], *, is_new: bool
) -> None:
    """Passages that stay as they were keep their rows, and with them the vectors of all models,
    also at another place."""
    model = llm.embedding_model_name()
    unused: dict[str, list[Chunk]] = {}
    for chunk in () if is_new else Chunk.objects.filter(item=item).defer("text"):
        unused.setdefault(chunk.digest, []).append(chunk)
    kept: list[Chunk] = []
    moved: list[Chunk] = []
    new: list[Chunk] = []
    for position, passage in enumerate(wanted):
        if not unused.get(passage.digest):
            new.append(
                Chunk(item=item, position=position, digest=passage.digest, text=passage.text)
            )
            continue
        chunk = unused[passage.digest].pop(0)
        kept.append(chunk)
        if chunk.position != position:
            chunk.position = position
            moved.append(chunk)
    gone = [chunk.pk for chunks in unused.values() for chunk in chunks]
    if gone:
        Chunk.objects.filter(pk__in=gone).delete()
    _move(moved)
    Chunk.objects.bulk_create(new)
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


def _move(chunks: Sequence[Chunk]) -> None:
    """Two may change places, and no two may ever be at one."""
    if chunks:
        away = Chunk.objects.filter(pk__in=[chunk.pk for chunk in chunks])
        away.update(position=F("position") + _AWAY)
        Chunk.objects.bulk_update(chunks, ["position"])
