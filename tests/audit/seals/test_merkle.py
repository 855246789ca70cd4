"""Against the vectors that implementations of Certificate Transparency share, and against
the definition of RFC 6962 written down as it stands there."""

from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, strategies as st

from audit.bundle import verify
from audit.seals import merkle
from tests.audit.vectors import VECTORS

INPUTS = [bytes.fromhex(text) for text in VECTORS["tree"]["inputs"]]
ROOTS = VECTORS["tree"]["roots"]
LEAVES = [merkle.leaf_hash(data) for data in INPUTS]


def mth(data: list[bytes]) -> bytes:
    """MTH of RFC 6962, 2.1, from the inputs."""
    if not data:
        return sha256().digest()
    if len(data) == 1:
        return sha256(b"\0" + data[0]).digest()
    k = 1
    while 2 * k < len(data):
        k *= 2
    return sha256(b"\1" + mth(data[:k]) + mth(data[k:])).digest()


@pytest.mark.parametrize("size", range(9))
def test_roots_are_those_of_the_shared_vectors(size: int) -> None:
    assert merkle.tree_root(LEAVES[:size]).hex() == ROOTS[size]
    assert mth(INPUTS[:size]).hex() == ROOTS[size]
    tree = verify.Tree(0, [])
    for data in INPUTS[:size]:
        tree.append(merkle.leaf_hash(data))
    assert tree.root().hex() == ROOTS[size]


@given(st.integers(0, 300), st.integers(0, 300))
def test_a_tree_goes_on_from_its_frontier(size: int, more: int) -> None:
    data = [number.to_bytes(2) for number in range(size + more)]
    first = merkle.Frontier()
    for item in data[:size]:
        first.append(merkle.leaf_hash(item))
    second = merkle.Frontier(first.size, first.nodes)
    for item in data[size:]:
        second.append(merkle.leaf_hash(item))
    assert (first.root(), second.root()) == (mth(data[:size]), mth(data))
    assert second.size == len(data)


@pytest.mark.parametrize(
    ("size", "nodes"), [(-1, []), (1, []), (2, LEAVES[:2]), (1, [b"short"]), (0, LEAVES[:1])]
)
def test_a_frontier_that_no_tree_has_is_refused(size: int, nodes: list[bytes]) -> None:
    with pytest.raises(ValueError, match="tree"):
        merkle.Frontier(size, nodes)


@pytest.mark.parametrize("case", VECTORS["proof"]["cases"])
def test_the_shared_vectors_of_inclusion(case: dict[str, Any]) -> None:
    line, place, size = bytes.fromhex(case["line"]), case["place"], case["size"]
    proof = [bytes.fromhex(node) for node in case["proof"]]
    assert merkle.inclusion_proof(LEAVES[:size], place) == proof
    assert verify.root_of(line, place, size, proof).hex() == case["root"]


def test_the_shared_vectors_of_consistency() -> None:
    assert [node.hex() for node in merkle.consistency_proof(LEAVES[:8], 6)] == [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ]


@pytest.mark.parametrize("size", range(1, 34))
def test_each_leaf_is_proven_and_no_other_is(size: int) -> None:
    leaves = [merkle.leaf_hash(bytes([number])) for number in range(size)]
    root = merkle.tree_root(leaves)
    for index, leaf in enumerate(leaves):
        proof = merkle.inclusion_proof(leaves, index)

        def is_held(
            leaf: bytes = leaf, index: int = index, proof: list[bytes] = proof, root: bytes = root
        ) -> bool:
            return merkle.is_included(leaf=leaf, index=index, size=size, proof=proof, root=root)

        assert is_held()
        assert not is_held(leaf=merkle.leaf_hash(b"another"))
        assert not is_held(root=merkle.leaf_hash(b"another"))
        assert not is_held(proof=[*proof, leaf])
        assert not is_held(index=size)
        assert size == 1 or not is_held(index=(index + 1) % size)
        assert size == 1 or not is_held(proof=proof[:-1])


@pytest.mark.parametrize("size", range(1, 34))
def test_a_tree_is_shown_to_continue_each_smaller_one(size: int) -> None:
    leaves = [merkle.leaf_hash(bytes([number])) for number in range(size)]
    root = merkle.tree_root(leaves)
    for old in range(1, size + 1):
        proof, old_root = merkle.consistency_proof(leaves, old), merkle.tree_root(leaves[:old])

        def is_held(old: int = old, old_root: bytes = old_root, proof: list[bytes] = proof) -> bool:
            return merkle.is_consistent(
                old_size=old, old_root=old_root, size=size, root=root, proof=proof
            )

        assert is_held()
        assert not is_held(old_root=merkle.leaf_hash(b"another"))
        assert not is_held(proof=[*proof, root])
        assert not is_held(old=0)
        assert not is_held(old=size + 1)
        assert old == size or not is_held(proof=proof[:-1])
