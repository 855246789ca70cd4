"""System checks of the vectors: their size is one and the same everywhere."""

from collections.abc import Sequence
from typing import Any

from django.apps.config import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.db import DatabaseError

from integrations.llm import llm, profiles
from knowledge.ingest import embedding_models

MOST = 4_000  # what pgvector's index takes of half precision


def sizes_fit(*, app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """knowledge.E001 where EMBEDDING_DIMENSIONS is no size that could be, or not the model's."""
    wanted, name = settings.EMBEDDING_DIMENSIONS, llm.embedding_model_name()
    if not 1 <= wanted <= MOST:
        return [Error(f"EMBEDDING_DIMENSIONS is not from 1 to {MOST}.", id="knowledge.E001")]
    only = profiles.profile(name).dimensions
    if only and only != wanted:
        sentence = f"{name} gives {only} numbers, and EMBEDDING_DIMENSIONS says {wanted}."
        hint = f"Set EMBEDDING_DIMENSIONS={only} and run `manage.py resize_vectors`."
        return [Error(sentence, hint=hint, id="knowledge.E001")]
    return []


# Web asks when it starts (config.asgi, config.wsgi): no system checks run there.
WRITING = ("cluster", "turns")


def find_refusals() -> list[str]:
    """Why a process that stores or compares vectors must not run."""
    try:
        stored = embedding_models.find_stored_size()
    except DatabaseError as error:
        return [f"The database does not answer: {str(error).strip()}"]
    if stored in (None, settings.EMBEDDING_DIMENSIONS):
        return []
    wanted = settings.EMBEDDING_DIMENSIONS
    return [
        f"Stored vectors have {stored} numbers, and EMBEDDING_DIMENSIONS says {wanted}. "
        "Run `manage.py resize_vectors`, or set EMBEDDING_DIMENSIONS back."
    ]


def stored_vectors_fit(
    *, app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None, **kwargs: Any
) -> list[CheckMessage]:
    """knowledge.E002 where stored vectors have another size than EMBEDDING_DIMENSIONS."""
    if not databases and settings.PROCESS not in WRITING:
        return []
    return [Error(sentence, id="knowledge.E002") for sentence in find_refusals()]
