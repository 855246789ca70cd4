from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.knowledge.answers import READER, summarised

if TYPE_CHECKING:
    from tests.model_server import ScriptedModel


@pytest.fixture
def model(settings: Any) -> "Iterator[ScriptedModel]":
    """A model that summarises whatever it is shown."""
    from tests.model_server import scripted_model  # this conftest is read before Django is set up

    with scripted_model(settings, {READER: summarised}) as running:
        yield running
