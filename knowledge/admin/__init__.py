"""What operators see of `knowledge`: everything, and nothing they could change but a sync's
course."""

from knowledge.admin import items, syncs

__all__ = ["items", "syncs"]
