"""Bundles: rows that prove themselves offline, and the programs that verify them. `verify.py` and
`stamps.py` travel in each bundle and need nothing but Python."""
