"""Rows of `knowledge`, split by what they are about."""

from knowledge.models.files import ItemFile
from knowledge.models.items import (
    Chunk,
    ChunkVector,
    EmbeddingModel,
    Entity,
    Item,
    LargeAccount,
    Mention,
    Occurrence,
    WriteCount,
)
from knowledge.models.syncs import SyncFailure, SyncRun, SyncSource

__all__ = [
    "Chunk",
    "ChunkVector",
    "EmbeddingModel",
    "Entity",
    "Item",
    "ItemFile",
    "LargeAccount",
    "Mention",
    "Occurrence",
    "SyncFailure",
    "SyncRun",
    "SyncSource",
    "WriteCount",
]
