"""Seals: signed checkpoints of the Merkle tree over each organisation's rows, and the keys that
sign them."""
