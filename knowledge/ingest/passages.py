"""The passages of an item and their vectors, as rows."""

import logging
from collections.abc import Sequence

from django.db.models import F

from integrations.llm.completions import ModelError, Payer
from knowledge.ingest import embedding_models, enrichment
from knowledge.ingest.enrichment import Passage
from knowledge.models import Chunk, ChunkVector, Item

log = logging.getLogger(__name__)

_AWAY = 1_000_000  # more than any item has

Vectors = dict[str, dict[str, Sequence[float]]]  # by model, by digest


def vectors(
    wanted: Sequence[Passage], *, stored: Item | None, ready: Vectors, payer: Payer
) -> Vectors:
    """Vectors of the wanted model and of the one that searches still go by; none is asked for
    twice, nor one that is `ready`. One of two that does not answer is done without: the wanted
    one gets its vectors when it is filled, and without the other words find the item.

    Raises integrations.llm.completions.ModelError when none answers.
    """
    found: Vectors = {}
    errors: list[ModelError] = []
    for model in ready or embedding_models.written():
        try:
            found[model] = _asked(wanted, stored=stored, ready=ready, model=model, payer=payer)
        except ModelError as error:
            log.warning("ingest.without_vectors", extra={"model": model, "code": error.code})
            errors.append(error)
    if errors and not found:
        raise max(errors, key=lambda error: error.retryable)
    return found


def _asked(
    wanted: Sequence[Passage], *, stored: Item | None, ready: Vectors, model: str, payer: Payer
) -> dict[str, Sequence[float]]:
    known = {**_known(stored, model), **ready.get(model, {})}
    return enrichment.vectors(wanted, known=known, model=model, payer=payer)


def _known(item: Item | None, model: str) -> dict[str, Sequence[float]]:
    if item is None:
        return {}
    rows = ChunkVector.objects.filter(item=item, model=model)
    return dict(rows.values_list("chunk__digest", "vector"))


def replace(item: Item, wanted: Sequence[Passage], vectors: Vectors, *, is_new: bool) -> None:
    """Passages that stay as they were keep their rows, and with them the vectors of all models,
    also at another place."""
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
                vector=by_digest[chunk.digest],
            )
            for model, by_digest in vectors.items()
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
