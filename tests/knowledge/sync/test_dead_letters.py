from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone
from django_q.models import OrmQ

from integrations.contracts import AnyItem
from integrations.exceptions import Malformed, NotFound, Unavailable
from integrations.network.retries import FIRST_PAUSE, LONGEST_PAUSE
from knowledge import tasks
from knowledge.models import Item, SyncFailure, SyncRun, SyncSource
from knowledge.sync import dead_letters
from knowledge.tasks import retry_dead_letters
from tests.knowledge.office import account, email
from tests.model_server import ScriptedModel

pytestmark = pytest.mark.django_db

NOW, DAY = datetime(2026, 3, 10, 12, tzinfo=UTC), timedelta(days=1)


class Provider:
    """What the provider answers now when one item is asked for."""

    def __init__(self) -> None:
        self.answer: AnyItem | Exception = email(id="m7")
        self.asked: list[str] = []

    def item(self, item_id: str) -> AnyItem:
        self.asked.append(item_id)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Provider:
    running = Provider()
    monkeypatch.setattr(dead_letters, "reader", lambda account: running)
    return running


@pytest.fixture
def letter() -> SyncFailure:
    owner = account()
    run = SyncRun.objects.create(organisation_id=owner.organisation_id, external_user_id="maya")
    sync = SyncSource.objects.create(
        run=run,
        account_id=owner.id,
        since=NOW,
        state="done",
        received=5,
        processed=3,
        failed=2,
        reasons={"malformed_item": 2},
    )
    return SyncFailure.objects.create(
        sync=sync, source_id="m7", reason="malformed_item", failed_at=NOW
    )


def retried(letter: SyncFailure) -> tuple[Any, ...]:
    assert retry_dead_letters([letter.pk]) == 1
    dead_letters.retry(letter.pk, now=NOW)
    letter.refresh_from_db()
    sync = SyncSource.objects.get()
    assert sync.received == sync.processed + sync.skipped + sync.failed
    counts = (sync.processed, sync.skipped, sync.failed)
    return letter.state, letter.reason, counts, sync.reasons


def test_one_that_goes_well_now_counts_as_processed(
    provider: Provider, letter: SyncFailure, model: ScriptedModel
) -> None:
    state, _, counts, reasons = retried(letter)

    assert (state, counts, reasons) == ("processed", (4, 0, 1), {"malformed_item": 1})
    assert Item.objects.get(account_id=letter.sync.account_id).source_id == "m7"


def test_one_that_is_gone_at_the_provider_counts_as_skipped(
    provider: Provider, letter: SyncFailure
) -> None:
    provider.answer = NotFound("404")

    assert retried(letter) == (
        *("skipped", "gone", (3, 1, 1)),
        {"malformed_item": 1, "gone": 1},
    )


def test_one_that_fails_again_is_dead_again_with_the_new_reason(
    provider: Provider, letter: SyncFailure
) -> None:
    provider.answer = Malformed("Email: date")

    assert retried(letter) == (
        *("dead", "malformed_answer", (3, 0, 2)),
        {"malformed_item": 1, "malformed_answer": 1},
    )


def test_one_that_nobody_answers_for_is_tried_again_by_itself_for_a_day(
    provider: Provider, letter: SyncFailure, model: ScriptedModel
) -> None:
    SyncFailure.objects.update(state="queued", due_at=NOW)
    provider.answer, due = Unavailable("503"), []
    for now in (NOW, NOW + LONGEST_PAUSE, NOW + DAY, NOW + DAY + LONGEST_PAUSE):
        assert tasks.retry_due(now=now) == 1
        assert tasks.retry_due(now=now) == 0  # nobody else takes it meanwhile
        dead_letters.retry(letter.pk, now=now)
        letter.refresh_from_db()
        due.append(letter.due_at and letter.due_at - now)

    assert due == [FIRST_PAUSE, LONGEST_PAUSE, LONGEST_PAUSE, None]
    assert (letter.state, letter.reason) == ("dead", "unavailable")
    assert SyncSource.objects.get().failed == 2

    provider.answer = email(id="m7")
    assert retried(letter)[0] == "processed"


def test_a_database_that_goes_away_leaves_it_due(provider: Provider, letter: SyncFailure) -> None:
    assert retry_dead_letters([letter.pk]) == 1
    provider.answer = OperationalError("terminating connection")
    with pytest.raises(OperationalError):
        dead_letters.retry(letter.pk, now=NOW)

    assert tasks.retry_due(now=timezone.now() + dead_letters.CLAIMED) == 1


def test_it_is_queued_once_and_a_second_run_changes_nothing(
    provider: Provider, letter: SyncFailure, model: ScriptedModel
) -> None:
    assert retry_dead_letters([letter.pk, letter.pk, 0]) == 1
    assert retry_dead_letters([letter.pk]) == 0
    assert OrmQ.objects.count() == 1
    for _ in range(2):
        dead_letters.retry(letter.pk, now=NOW)

    assert provider.asked == ["m7"]
    assert SyncSource.objects.get().processed == 4
