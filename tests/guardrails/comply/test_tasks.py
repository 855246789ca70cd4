"""What is due is queued by id, and the queue's copy of it is enough to do it."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django_q.models import OrmQ
from pytest_django.fixtures import Settings

from agents.tasks import sweep
from guardrails.comply import recipients, tasks, time_stamps
from guardrails.models import CheckpointRecipient
from integrations.models import Organisation

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def queued() -> list[tuple[str, tuple[Any, ...]]]:
    return [(row.func(), row.task["args"]) for row in OrmQ.objects.order_by("id")]


def test_a_sweep_queues_what_is_due(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime.now(UTC)
    organisation = Organisation.objects.create(slug=f"o-{uuid4().hex[:8]}", name="Acme")
    rows = [
        CheckpointRecipient.objects.create(
            organisation=organisation, address=address, confirmed_at=confirmed, next_at=next_at
        )
        for address, confirmed, next_at in (
            ("due@example.com", now, now - timedelta(minutes=1)),
            ("later@example.com", now, now + timedelta(hours=1)),
            ("unconfirmed@example.com", None, None),
        )
    ]
    monkeypatch.setattr(time_stamps, "due", lambda *, now: [(7, 1)])
    sweep()
    assert ("guardrails.comply.tasks.deliver_checkpoint", (str(rows[0].id),)) in queued()
    assert ("guardrails.comply.tasks.request_time_stamp", (7, 1)) in queued()
    assert len(queued()) == 2


def test_a_task_does_what_its_ids_say(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[Any] = []
    monkeypatch.setattr(recipients, "deliver", lambda found, **_: done.append(found))
    monkeypatch.setattr(
        time_stamps, "request_time_stamp", lambda found, *, number: done.append((found, number))
    )
    wanted = "0193a000-0000-7000-8000-000000000000"
    tasks.deliver_checkpoint(wanted)
    tasks.request_time_stamp(7, 1)
    assert done == [UUID(wanted), (7, 1)]
