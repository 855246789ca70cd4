from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone
from django_q.models import OrmQ

from integrations.models import Organisation
from knowledge.models import SyncSource
from knowledge.sync import sync
from knowledge.tasks import requeue_abandoned_syncs, run_sync, start_sync
from tests.knowledge.office import account

pytestmark = pytest.mark.django_db


def test_a_sync_and_its_tasks_are_stored_together_or_not_at_all() -> None:
    owner = account()

    with transaction.atomic():
        start_sync(organisation_id=owner.organisation_id, external_user_id="maya")
        assert OrmQ.objects.count() == 1
        transaction.set_rollback(True)

    assert not SyncSource.objects.exists()
    assert not OrmQ.objects.exists()


def test_each_source_has_a_task_of_its_own_so_that_they_are_read_side_by_side() -> None:
    owner = account()
    organisation = Organisation.objects.get(pk=owner.organisation_id)
    account(source="jira", organisation=organisation)

    requested = start_sync(organisation_id=owner.organisation_id, external_user_id="maya")

    assert requested is not None
    queued = [task.task["args"] for task in OrmQ.objects.all()]
    assert sorted(queued) == sorted((str(one),) for one in requested.queued)
    assert len(queued) == 2


def test_a_sync_with_more_to_read_is_queued_again(monkeypatch: pytest.MonkeyPatch) -> None:
    owner = account()
    start_sync(organisation_id=owner.organisation_id, external_user_id="maya")
    [task] = OrmQ.objects.all()
    [sync_id] = task.task["args"]
    OrmQ.objects.all().delete()
    answers = ["more", "finished"]
    monkeypatch.setattr(sync, "advance", lambda *args, **kwargs: answers.pop(0))

    run_sync(sync_id)
    assert [queued.task["args"] for queued in OrmQ.objects.all()] == [(sync_id,)]
    run_sync(sync_id)
    assert OrmQ.objects.count() == 1


def test_a_sync_whose_worker_is_gone_is_queued_again() -> None:
    owner, now = account(), timezone.now()
    start_sync(organisation_id=owner.organisation_id, external_user_id="maya")
    OrmQ.objects.all().delete()

    assert requeue_abandoned_syncs(now=now) == 0
    SyncSource.objects.update(state="running", lease_expires_at=now - timedelta(seconds=1))
    assert requeue_abandoned_syncs(now=now) == 1
    assert requeue_abandoned_syncs(now=now) == 0  # once is enough
    assert OrmQ.objects.count() == 1
