"""The passages of an item and their vectors: cut from its text, embedded, stored as rows."""

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import F

from integrations.llm import llm
from integrations.llm.completions import ModelError, Payer
from integrations.llm.deadline import Deadline
from knowledge.ingest import chunking, embedding_models
from knowledge.models import Chunk, ChunkVector, Item
from knowledge.text.parsing import Parsed

log = logging.getLogger(__name__)

_AWAY = 1_000_000  # more than any item has

Vectors = dict[str, dict[str, Sequence[float]]]  # by model, by digest


@dataclass(frozen=True, kw_only=True)
class Passage:
    """`digest` names what is embedded; the same digest never needs a second vector."""

    text: str
    embedded: str

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.embedded.encode()).hexdigest()


def split_passages(parsed: Parsed) -> tuple[Passage, ...]:
    """What is to be embedded: each passage under the item's title, or the title alone.

    No passage holds words of two files; one of an attachment names it.
    """
    title = parsed.title[: chunking.TITLE_CHARS]
    texts = list(chunking.chunk(parsed.text))
    for heading, text in parsed.sections:
        texts += [f"{heading}\n{piece}" if heading else piece for piece in chunking.chunk(text)]
    texts = texts or ([title] if title else [])
    return tuple(Passage(text=text, embedded=chunking.embedded_text(title, text)) for text in texts)


def embed_passages(
    wanted: Sequence[Passage],
    *,
    known: Mapping[str, Sequence[float]],
    model: str,
    payer: Payer,
    deadline: Deadline | None = None,
) -> dict[str, Sequence[float]]:
    """A vector of `model` for every digest of `wanted`; it is asked only for unknown ones.

    Raises integrations.llm.completions.ModelError.
    """
    missing = {p.digest: p.embedded for p in wanted if p.digest not in known}
    digests = list(missing)
    found = {digest: known[digest] for digest in (p.digest for p in wanted) if digest in known}
    for start in range(0, len(digests), chunking.EMBEDDED_AT_ONCE):
        batch = digests[start : start + chunking.EMBEDDED_AT_ONCE]
        found |= zip(
            batch,
            llm.embed(
                [missing[digest] for digest in batch], payer=payer, model=model, deadline=deadline
            ),
            strict=True,
        )
    return found


def find_vectors(
    wanted: Sequence[Passage],
    *,
    stored: Item | None,
    ready: Vectors,
    payer: Payer,
    deadline: Deadline,
    models: Sequence[str] | None = None,
) -> Vectors:
    """Vectors of the wanted model and of the one that searches still go by (`models`, where they
    were read already); none is asked for twice, nor one that is `ready`. One of two that does not
    answer is done without: the wanted one gets its vectors when it is filled, and without the other
    words find the item.

    Raises integrations.llm.completions.ModelError when none answers.
    """
    found: Vectors = {}
    errors: list[ModelError] = []
    for model in ready or models or embedding_models.list_written_models():
        try:
            known = {**_known(stored, model), **ready.get(model, {})}
            found[model] = embed_passages(
                wanted, known=known, model=model, payer=payer, deadline=deadline
            )
        except ModelError as error:
            log.warning("ingest.without_vectors", extra={"model": model, "code": error.code})
            errors.append(error)
    if errors and not found:
        raise max(errors, key=lambda error: (error.may_pass, error.retryable))
    return found


def _known(item: Item | None, model: str) -> dict[str, Sequence[float]]:
    if item is None:
        return {}
    rows = ChunkVector.objects.filter(item=item, model=model)
    return dict(rows.values_list("chunk__digest", "vector"))


def replace_passages(
    item: Item, wanted: Sequence[Passage], vectors: Vectors, *, is_new: bool
) -> None:
    """Passages that stay as they were keep their rows, and with them the vectors of all models,
    also at another place."""
    unused: dict[str, list[Chunk]] = {}
    for chunk in () if is_new else Chunk.objects.filter(item=item).defer("text"):
        unused.setdefault(chunk.digest, []).append(chunk)
    unchanged: list[Chunk] = []
    moved: list[Chunk] = []
    new: list[Chunk] = []
    for position, passage in enumerate(wanted):
        if not unused.get(passage.digest):
            new.append(
                Chunk(item=item, position=position, digest=passage.digest, text=passage.text)
            )
            continue
        chunk = unused[passage.digest].pop(0)
        unchanged.append(chunk)
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
            for chunk in (*unchanged, *new)
        ],
        ignore_conflicts=True,
    )


def _move(chunks: Sequence[Chunk]) -> None:
    """Two may change places, and no two may ever be at one."""
    if chunks:
        away = Chunk.objects.filter(pk__in=[chunk.pk for chunk in chunks])
        away.update(position=F("position") + _AWAY)
        Chunk.objects.bulk_update(chunks, ["position"])
