"""An outside agent at the web process's own entrance."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.agents.api.mcp.outside import Outside


@pytest.fixture(scope="module")
def provider() -> Iterator[Any]:
    from tests.sandbox_server import running_sandbox

    with running_sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def outside(provider: Any, settings: Any) -> "Iterator[Outside]":
    from integrations.models import ServiceToken
    from tests.agents.api.mcp.outside import Outside
    from tests.guardrails.office import settle
    from tests.office import entrance
    from tests.sandbox_server import serving

    office = settle(provider, settings)
    token = ServiceToken.issue(organisation=office.organisation, name="bot", scopes=["mcp"])[1]
    with serving(entrance()) as origin:
        yield Outside(url=f"{origin}/mcp", office=office, token=token)
