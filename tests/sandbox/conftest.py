from collections.abc import Iterator

import pytest
from openai import OpenAI

from tests.offline_model_server import running_offline_model


@pytest.fixture(scope="module")
def client() -> Iterator[OpenAI]:
    """A client of an offline model over real HTTP."""
    with (
        running_offline_model() as url,
        OpenAI(api_key="any key", base_url=url, max_retries=0) as client,
    ):
        yield client
