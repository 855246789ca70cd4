"""The erasures behind a bundle's last row that say why payloads are missing in it, the retention
that says which rows left, and the organisation's end, with which its policies went. Each travels
alone, with the proof that it was sealed."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from audit.bundle.extent import Extent, NothingSealed
from audit.bundle.proofs import Proofs
from audit.bundle.rows import SealedRows
from audit.ledger import chain, departures, queries, selectors
from audit.models import ExecutedAgentAction, Leaf


def find_places(extent: Extent) -> list[int]:
    """Where the rows are that say what is missing of the bundle and are not in it themselves.

    Raises NothingSealed while one of them is not sealed.
    """
    tenant_id = extent.filters.tenant_id
    leaves = Leaf.objects.filter(tenant_id=tenant_id)
    rows = queries.select_with_payload().filter(tenant_id=tenant_id, phase="redaction")
    found = []
    for row in rows.order_by("id"):
        content = selectors.body(row) or selectors.ERASED
        named = leaves.filter(row_id__in=content["payload"].get("rows", []))
        if not any(
            contains(extent.places, at) for at in named.values_list("leaf_index", flat=True)
        ):
            continue
        found.append(find_place(row.id, extent))
    left = departures.find_left(tenant_id) if extent.completeness == "proven" else None
    if left and left.reaches(extent.first.size, extent.end.size):
        found.append(find_place(left.row_id, extent))
    ends = ExecutedAgentAction.objects.filter(tenant_id=tenant_id, action_type=selectors.END)
    found += [find_place(row.id, extent) for row in ends.filter(status="succeeded")]
    return sorted(place for place in found if not contains(extent.places, place))


def find_place(row_id: int, extent: Extent) -> int:
    """The place of a row. Raises NothingSealed while it has none."""
    leaves = Leaf.objects.filter(tenant_id=extent.filters.tenant_id, row_id=row_id)
    own = leaves.filter(leaf_index__lt=extent.newest.size).first()
    if own is None:
        raise NothingSealed
    return int(own.leaf_index)


def contains(places: Sequence[int], place: int) -> bool:
    """Whether `place` is one of these, which ascend."""
    at = bisect_left(places, place)
    return at < len(places) and places[at] == place


def render_lines(extent: Extent, found: list[int]) -> Iterator[bytes]:
    """One line for each: the row as it was sealed, its payload, its place and proof."""
    if not found:
        return
    rows = SealedRows(extent.filters.tenant_id, found)
    texts = (text for chunk in rows.lines() for text in chunk.splitlines())
    payloads = (content for page in rows.contents() for content in page)
    proofs = Proofs(extent.filters.tenant_id, extent.newest.size).of(found)
    for place, text, (_, body, salt, _), proof in zip(found, texts, payloads, proofs, strict=True):
        line = {
            "body": body.decode(),
            "line": text.decode(),
            "place": place,
            "proof": [node.hex() for node in proof],
            "salt": salt.decode(),
        }
        yield chain.canonical_bytes(line) + b"\n"
