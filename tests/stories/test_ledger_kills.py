"""Some of the kills of benchmarks/kills.py, on the test's own database."""

from pathlib import Path

import pytest
from django.db import connection

from benchmarks import kills
from tests.audit.databases import url
from tests.database import unpooled

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
]
WORKERS = 4 * kills.STEPS  # at each step four


def test_a_killed_worker_leaves_no_effect_without_an_attempt_and_no_row_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", url(str(connection.settings_dict["NAME"])))
    with unpooled():  # workers are forked, and a pool does not survive a fork
        found = kills.kill(tmp_path, workers=WORKERS, servers=0, seed=7)
    assert {name: found[name] for name in kills.WRONG} == dict.fromkeys(kills.WRONG, 0)
    assert found["effects"] >= WORKERS // 2
    assert found["open_attempts"] >= WORKERS // 8
