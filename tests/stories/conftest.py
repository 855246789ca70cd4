from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.office import Office


@pytest.fixture
def office(transactional_db: None, settings: Any, tmp_path: Path) -> "Iterator[Office]":
    from tests.office import running_office  # this conftest is read before Django is set up

    with running_office(settings, state_dir=tmp_path) as running:
        yield running
