from collections.abc import Iterator
from typing import Any

import pytest

from tests.knowledge.answers import READER, summarised
from tests.model_server import ScriptedModel, scripted_model


@pytest.fixture
def model(settings: Any) -> Iterator[ScriptedModel]:
    """A model that summarises whatever it is shown."""
    with scripted_model(settings, {READER: summarised}) as running:
        yield running
