"""The Merkle tree of RFC 6962 over one tenant's rows. Pure: no Django, no clock.

A frontier is all that must be stored of a tree to go on with it: the roots of its perfect
subtrees, largest first, one for each bit that is set in its size. Two parties with the same
root and size have the same rows in the same order.
"""

import hashlib
from collections.abc import Iterable, Sequence

HASH_BYTES = 32
EMPTY_ROOT = hashlib.sha256(b"").digest()


def leaf_hash(line: bytes) -> bytes:
    return hashlib.sha256(b"\0" + line).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()


class Frontier:
    """A tree that only grows. `size` and `nodes` describe it wholly.

    Raises ValueError when `nodes` cannot be those of a tree of this size.
    """

    def __init__(self, size: int = 0, nodes: Iterable[bytes] = ()) -> None:
        self.size = size
        self.nodes = list(nodes)
        if size < 0 or len(self.nodes) != size.bit_count():
            raise ValueError(f"A tree of {size} leaves has another number of subtrees.")
        if any(len(node) != HASH_BYTES for node in self.nodes):
            raise ValueError("A node of a tree has 32 bytes.")

    def append(self, leaf: bytes) -> None:
        """Add the hash of the next leaf."""
        full = self.size
        while full & 1:
            leaf = node_hash(self.nodes.pop(), leaf)
            full >>= 1
        self.nodes.append(leaf)
        self.size += 1

    def root(self) -> bytes:
        if not self.nodes:
            return EMPTY_ROOT
        *lefts, root = self.nodes
        for left in reversed(lefts):
            root = node_hash(left, root)
        return root


def tree_root(leaves: Sequence[bytes]) -> bytes:
    """The root over these leaf hashes."""
    tree = Frontier()
    for leaf in leaves:
        tree.append(leaf)
    return tree.root()


def levels(leaves: bytes) -> list[bytes]:
    """Every level of the tree over these leaf hashes, from the leaves up to the root; a level
    is its nodes, one behind the other. A node without a sibling goes up as it is."""
    found, pair = [leaves], 2 * HASH_BYTES
    while len(below := found[-1]) > HASH_BYTES:
        whole = len(below) // pair * pair
        nodes = [
            hashlib.sha256(b"\1" + below[at : at + pair]).digest() for at in range(0, whole, pair)
        ]
        found.append(b"".join([*nodes, below[whole:]]))
    return found


def path(tree: Sequence[bytes], index: int) -> list[bytes]:
    """The audit path of RFC 6962, 2.1.1, in a tree of `levels`: with it, one leaf leads to
    the root."""
    found = []
    for level in tree[:-1]:
        sibling = (index ^ 1) * HASH_BYTES
        if sibling < len(level):
            found.append(level[sibling : sibling + HASH_BYTES])
        index >>= 1
    return found


def inclusion_proof(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """The audit path of one leaf."""
    return path(levels(b"".join(leaves)), index)


def is_included(*, leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether the tree of this size and root has this leaf at this index."""
    if not 0 <= index < size:
        return False
    last, given = size - 1, list(proof)
    while last:
        if not (index == last and not index & 1):
            if not given:
                return False
            other = given.pop(0)
            leaf = node_hash(other, leaf) if index & 1 else node_hash(leaf, other)
        index, last = index >> 1, last >> 1
    return not given and leaf == root


def consistency_proof(leaves: Sequence[bytes], size: int) -> list[bytes]:
    """RFC 6962, 2.1.2: that the first `size` leaves are a tree which these leaves continue."""
    return subproof(size, leaves, whole=True)


def subproof(size: int, leaves: Sequence[bytes], *, whole: bool) -> list[bytes]:
    if size == len(leaves):
        return [] if whole else [tree_root(leaves)]
    middle = split(len(leaves))
    left, right = leaves[:middle], leaves[middle:]
    if size <= middle:
        return [*subproof(size, left, whole=whole), tree_root(right)]
    return [*subproof(size - middle, right, whole=False), tree_root(left)]


def is_consistent(
    *, old_size: int, old_root: bytes, size: int, root: bytes, proof: Sequence[bytes]
) -> bool:
    """Whether the larger tree continues the smaller one (RFC 9162, 2.1.4.2)."""
    if not 0 < old_size <= size:
        return False
    if old_size == size:
        return not proof and old_root == root
    path = list(proof) if old_size & (old_size - 1) else [old_root, *proof]
    index, last = old_size - 1, size - 1
    while index & 1:
        index, last = index >> 1, last >> 1
    if not path:
        return False
    old = new = path.pop(0)
    for other in path:
        if not last:
            return False
        if index & 1 or index == last:
            old, new = node_hash(other, old), node_hash(other, new)
            while index and not index & 1:
                index, last = index >> 1, last >> 1
        else:
            new = node_hash(new, other)
        index, last = index >> 1, last >> 1
    return not last and (old, new) == (old_root, root)


def split(size: int) -> int:
    """The largest power of two below `size`."""
    return 1 << (size - 1).bit_length() - 1
