from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.model_server import ScriptedModel


@pytest.fixture
def summariser(settings: Any) -> "Iterator[ScriptedModel]":
    """A model that summarises whatever is read in."""
    from tests.knowledge.answers import READER, summarised  # read before Django is set up
    from tests.model_server import scripted_model

    with scripted_model(settings, {READER: summarised}) as running:
        yield running
