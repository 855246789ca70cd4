"""A user is read while requests fail, webhooks come twice and in the wrong order, and processes are
killed. `make bench NAME=faults` does it with real data, and stops the database too."""

from typing import Any

import pytest

from benchmarks import storm
from integrations.models import Delivery, Upstream
from knowledge.models import SyncSource
from tests.crashing import Crashing
from tests.guardrails.office import mail_to, usual
from tests.office import Office
from tests.stories.steps import queue_again, take_up_again

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
]
ME = "me@company.com"
NUMBERS = range(8)  # of each collection: one is changed twice, one is deleted, one is put back
DEATHS = [["commit"] * passed for passed in (4, 9, 3)]
ACTIVE = ["queued", "running"]


def objects() -> storm.Objects:
    return {
        "emails": [
            mail_to(
                ME, id=f"mail-{one}", subject=f"Mail {one}", date=f"2026-11-0{one + 1}T10:00:00Z"
            )
            for one in NUMBERS
        ],
        "documents": usual(
            "documents",
            ME,
            *({"id": f"doc-{one}", "content_text": f"No {one}."} for one in NUMBERS),
        ),
        "issues": usual(
            "issues", ME, *({"id": f"issue-{one}", "key": f"PROJ-80{one}"} for one in NUMBERS)
        ),
        "events": usual("events", ME, *({"id": f"event-{one}"} for one in NUMBERS)),
    }


def test_a_user_read_in_trouble_has_what_one_read_in_peace_has_and_all_adds_up(
    office: Office, program: Crashing
) -> None:
    def control(method: str, path: str, body: Any = None) -> Any:
        return office.control(method, path, json=body)

    for user in (storm.CALM, storm.STORM):
        storm.connect(control, user, objects())
    storm.begin(storm.CALM)
    office.drain()
    for _ in storm.change(control, storm.CALM, objects()):
        pass
    office.settle_webhooks()
    office.drain()

    # A request that is never answered takes its time: it is left to the bench.
    control("PUT", "/faults", storm.FAULTS | {"timeout_rate": 0})
    storm.begin(storm.STORM)
    changes, kills = storm.change(control, storm.STORM, objects()), 0
    for die in DEATHS:
        kills += program.run("task", die=die)["killed"]
        for _ in range(4):
            next(changes, None)
        office.settle_webhooks()
        queue_again()
    while any(rows.objects.filter(state__in=ACTIVE).exists() for rows in (SyncSource, Delivery)):
        Upstream.objects.update(blocked_until=None, opened_until=None, failures=0)
        take_up_again(office)

    assert list(changes) == []
    assert kills >= 2
    assert not SyncSource.objects.exclude(state="done").exists()
    found = storm.findings(control)
    for one in storm.balance():
        print("LINE", one)
    assert found == dict.fromkeys(found, 0)
