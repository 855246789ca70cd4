from uuid import UUID, uuid4

import pytest


@pytest.fixture
def tenant_id() -> UUID:
    """The ledger keeps the rows of all tests: each test looks at a tenant of its own."""
    return uuid4()
