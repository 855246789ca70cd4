"""How long contents are kept: retention, erasure, legal holds, new vault keys, and an
organisation's end."""
