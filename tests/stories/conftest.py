from collections.abc import Iterator

import pytest

from tests.crashing import Crashing
from tests.program import running_program


@pytest.fixture(scope="session")
def program(django_db_setup: None) -> Iterator[Crashing]:
    """Remit in processes that are killed, with the offline model."""
    offline = {
        "OPENAI_API_KEY": "offline",
        "OPENAI_BASE_URL": "http://127.0.0.1:1",  # each test has its own
        "CHAT_MODEL": "offline-rules",
        "INGEST_MODEL": "offline-rules",
        "EMBEDDING_MODEL": "offline-hash-384",
    }
    with running_program("tests.crashing", offline) as running:
        yield Crashing(program=running)
