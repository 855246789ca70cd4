"""Tries what Remit guarantees at this installation: its settings and tables as they are, and each
deed in an office and a database of its own. Nothing of it stays."""
