"""A slice of benchmarks/faults.py: real data, everything goes wrong, and all adds up."""

import json
import os
import subprocess
import sys

import pytest

from config.local.state import PROJECT_DIR
from tests.corpus import CORPUS, needs_corpus

pytestmark = [pytest.mark.slow, needs_corpus]


def test_a_user_read_in_trouble_has_what_one_read_in_peace_has_and_all_adds_up() -> None:
    outside = ("DATABASE_URL", "REMIT_STATE_DIR", "DJANGO_SETTINGS_MODULE")
    environment = {name: value for name, value in os.environ.items() if name not in outside}
    run = subprocess.run(
        [sys.executable, "benchmarks/faults.py"],
        cwd=PROJECT_DIR,
        env=environment
        | {"FAULTS": "60 12 18 12", "KILL_SECONDS": "6", "REMIT_CORPUS": str(CORPUS)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )

    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-4000:]
    found = json.loads(run.stdout.splitlines()[-1])
    assert (found["items"], found["syncs_not_done"], found["not_accounted_for"]) == (102, 0, 0)
    assert (found["items_missing"], found["items_too_many"], found["items_different"]) == (0, 0, 0)
    assert (found["dead"], found["webhooks_lost"]) == (0, 0)
    assert found["kills"] >= 2
    assert found["database_restarts"] == 2
    assert found["webhooks_in_storm"] >= 20
