"""What searches found and the vectors of their questions, kept in Django's cache.

What was found is kept under the write counts of its accounts (`knowledge.ingest.write_counts`), so
after any write it is searched again. Only ids, places and relevance are kept: the items are read
from the database every time, inside the same walls. Nothing is shared between different sets of
accounts.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.conf import settings

from integrations.database.caches import quick
from knowledge.ingest.write_counts import WriteCounts

VECTOR_SECONDS = 24 * 60 * 60
Found = list[tuple[str, int | None, float]]  # item, passage, relevance
# With another way of ranking, a new one.
_VERSION = 1
# What differs between two searches beside these is nothing that is found depends on.
_ASKED = (
    *("accounts", "sources", "content_types", "excluded", "since", "until", "terms", "written"),
    *("identifiers", "entity_words", "entity_address", "by_entity", "model", "vector", "limit"),
    *("half_life",),
)


def build_found_key(values: Mapping[str, Any], counts: WriteCounts) -> str:
    """Names what these values of `queries.parameters` find under these write counts."""
    asked: dict[str, Any] = {name: values[name] for name in _ASKED}
    for name in ("accounts", "excluded", "sources", "content_types"):
        asked[name] = sorted(map(str, asked[name]))
    return _key("found", [asked, counts.writes, counts.languages])


def build_vector_key(account_ids: Sequence[UUID], model: str, text: str) -> str:
    return _key("vector", [sorted(map(str, account_ids)), model, text])


def load_found(key: str) -> Found | None:
    return quick.get(key) if settings.SEARCH_CACHE_SECONDS else None


def store_found(key: str, rows: Iterable[tuple[UUID, int | None, float]]) -> None:
    if settings.SEARCH_CACHE_SECONDS:
        ids = [(str(id), passage, relevance) for id, passage, relevance in rows]
        quick.set(key, ids, settings.SEARCH_CACHE_SECONDS)


def load_vector(key: str) -> str | None:
    return quick.get(key) if settings.SEARCH_CACHE_SECONDS else None


def store_vector(key: str, vector: str) -> None:
    if settings.SEARCH_CACHE_SECONDS:
        quick.set(key, vector, VECTOR_SECONDS)


def _key(kind: str, parts: list[Any]) -> str:
    digest = sha256(json.dumps(parts, default=str, sort_keys=True).encode()).hexdigest()
    return f"knowledge:{kind}:{_VERSION}:{digest}"
