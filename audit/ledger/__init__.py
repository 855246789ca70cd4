"""The ledger itself: how a row is hashed, encrypted and appended, and how rows are read back. Rows
are only ever added."""
