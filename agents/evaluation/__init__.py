"""Plays written tasks through a running Remit with any model, and says how well it did. The office
it plays in is its own, with a database of its own; nothing of it stays."""
