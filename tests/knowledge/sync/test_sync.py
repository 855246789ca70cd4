import threading
import uuid
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, transaction
from django.utils import timezone

from integrations.contracts import Rejected
from integrations.exceptions import (
    CursorExpired,
    NotPermitted,
    RateLimited,
    Unavailable,
)
from integrations.llm import llm
from integrations.network.retries import FIRST_PAUSE
from knowledge.ingest import ingest as ingest_module
from knowledge.models import Item, SyncFailure, SyncSource
from knowledge.sync import (
    claims as sync_claims,
    one_item as taking,
    runs as sync_runs,
    sync,
)
from tests.knowledge.answers import READER, summarised
from tests.knowledge.mailboxes import Mailbox, advance, counts, started
from tests.knowledge.office import account
from tests.model_server import Failure, ScriptedModel, scripted_model
from tests.offline_model_server import running_offline_model
from tests.sandbox_server import KEY, RunningSandbox, running_sandbox

pytestmark = pytest.mark.django_db(transaction=True)


def taken_back() -> list[uuid.UUID]:
    with transaction.atomic():
        return list(sync_claims.requeue_abandoned(now=timezone.now()))


def test_every_page_is_read_and_every_item_counted(mailbox: Mailbox, model: ScriptedModel) -> None:
    row = started(account())

    assert advance(row) == "finished"

    assert (row.state, row.error, row.cursor) == ("done", "", "")
    assert counts(row) == (5, 5, 0, 0)
    assert mailbox.asked == [None, "2", "4"]
    assert Item.objects.count() == 5


def test_a_second_sync_skips_what_is_known_and_asks_no_model(
    mailbox: Mailbox, model: ScriptedModel
) -> None:
    owner = account()
    advance(started(owner))
    asked = len(model.requests)
    again = started(owner)

    advance(again)

    assert counts(again) == (5, 0, 5, 0)
    assert again.reasons == {"unchanged": 5}
    assert len(model.requests) == asked


def test_after_its_share_of_time_it_lets_others_work_and_goes_on_at_the_next_page(
    mailbox: Mailbox, model: ScriptedModel
) -> None:
    row = started(account())

    assert advance(row, seconds=-1) == "more"
    assert (row.state, row.cursor, row.received) == ("running", "2", 2)
    assert advance(row) == "finished"
    assert mailbox.asked == [None, "2", "4"]
    assert counts(row) == (5, 5, 0, 0)


def test_a_sync_whose_worker_died_goes_on_at_its_last_page(
    mailbox: Mailbox, model: ScriptedModel
) -> None:
    row = started(account())

    def die(cursor: str | None) -> None:
        if cursor == "2":
            raise SystemExit

    mailbox.before = die
    with pytest.raises(SystemExit):
        advance(row)
    mailbox.before = lambda cursor: None
    row.refresh_from_db()

    assert (row.state, row.cursor, row.received) == ("running", "2", 2)
    assert advance(row) == "not_mine"  # the dead one's lease still holds
    assert taken_back() == []
    SyncSource.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    assert taken_back() == [row.pk]
    assert taken_back() == []  # it waits in the queue now
    assert advance(row) == "finished"
    assert counts(row) == (5, 5, 0, 0)
    assert mailbox.asked == [None, "2", "2", "4"]


def test_a_page_that_kills_its_worker_again_and_again_ends_the_sync(
    mailbox: Mailbox, model: ScriptedModel
) -> None:
    row = started(account())

    def die(cursor: str | None) -> None:
        raise SystemExit

    mailbox.before = die
    for _crash in range(sync.MAX_STALLS):
        with pytest.raises(SystemExit):
            advance(row)
        SyncSource.objects.update(lease_expires_at=timezone.now())

    assert advance(row) == "finished"
    assert row.state == "failed"
    assert row.error == "It was started several times and never finished a page. See the log."


def test_one_sync_is_worked_on_by_one_worker_only(mailbox: Mailbox, model: ScriptedModel) -> None:
    row = started(account())
    seen: list[str] = []
    mailbox.before = lambda cursor: seen.append(sync.advance(row.pk, clock=timezone.now))

    assert advance(row) == "finished"
    assert seen == ["not_mine"] * 3


def test_a_worker_that_lost_its_lease_writes_nothing_more(
    mailbox: Mailbox, model: ScriptedModel
) -> None:
    row = started(account())

    def lose(cursor: str | None) -> None:
        if cursor == "2":
            SyncSource.objects.update(attempt=row.attempt + 10)

    mailbox.before = lose  # while the first page is worked on

    assert advance(row) == "not_mine"
    assert (row.state, row.cursor, row.received) == ("running", "", 0)


def test_a_cancelled_sync_stops_and_records_nothing_more(
    mailbox: Mailbox, model: ScriptedModel
) -> None:
    row = started(account())

    def stop(cursor: str | None) -> None:
        if cursor == "2":
            sync_runs.cancel(row.run_id, now=timezone.now())

    mailbox.before = stop

    assert advance(row) == "not_mine"
    assert (row.state, row.received) == ("cancelled", 0)
    assert row.finished_at is not None
    assert row.run.finished_at is not None


def test_an_expired_cursor_reads_the_window_again_and_loses_nothing(
    mailbox: Mailbox, model: ScriptedModel
) -> None:
    row = started(account())

    def expire(cursor: str | None) -> None:
        if cursor == "4" and mailbox.asked.count("4") == 1:
            raise CursorExpired

    mailbox.before = expire

    assert advance(row) == "finished"
    assert mailbox.asked == [None, "2", "4", None, "2", "4"]
    assert counts(row) == (9, 5, 4, 0)
    assert (row.state, row.restarts) == ("done", 1)


def test_a_cursor_that_always_expires_ends_the_sync(mailbox: Mailbox, model: ScriptedModel) -> None:
    row = started(account())

    def expire(cursor: str | None) -> None:
        if cursor == "2":
            raise CursorExpired

    mailbox.before = expire

    assert advance(row) == "finished"
    assert (row.state, row.restarts) == ("failed", sync.MAX_RESTARTS)


def away(cursor: str | None) -> None:
    if cursor == "2":
        raise Unavailable


def waited(row: SyncSource) -> None:
    """As if the wait of a postponed sync were over."""
    SyncSource.objects.filter(pk=row.pk).update(lease_expires_at=timezone.now())


def test_a_data_service_that_is_away_is_waited_for(mailbox: Mailbox, model: ScriptedModel) -> None:
    row = started(account())
    mailbox.before = away

    assert advance(row) == "waiting"
    assert (row.state, row.cursor, counts(row)) == ("running", "2", (2, 2, 0, 0))
    assert row.error == "The data service did not answer. Remit will try again."
    assert advance(row) == "not_mine"  # not before the wait is over
    waited(row)
    assert taken_back() == [row.pk]
    mailbox.before = lambda cursor: None

    assert advance(row) == "finished"
    assert (row.state, row.error, row.waiting_since, counts(row)) == (
        "done",
        "",
        None,
        (5, 5, 0, 0),
    )
    assert mailbox.asked == [None, "2", "2", "4"]


def test_it_waits_longer_each_time_and_as_long_as_it_must(
    mailbox: Mailbox, model: ScriptedModel
) -> None:
    row = started(account())
    waits: list[float] = []

    def left_alone(cursor: str | None) -> None:
        raise RateLimited("429", retry_after=1_000 if len(waits) == 3 else None)

    mailbox.before = left_alone
    now = timezone.now()
    for _ in range(4):
        sync.advance(row.pk, clock=lambda now=now: now)  # type: ignore[misc]
        row.refresh_from_db()
        assert row.lease_expires_at is not None
        waits.append((row.lease_expires_at - now).total_seconds())
        now = row.lease_expires_at

    assert waits == [15, 15, 30, 1_000]


def test_what_stays_away_ends_the_sync_and_the_next_goes_on_there(
    mailbox: Mailbox, model: ScriptedModel
) -> None:
    owner = account()
    row = started(owner)
    mailbox.before = away
    for hours in (12, 11, 2):
        assert advance(row) == "waiting"
        assert row.waiting_since is not None
        since = row.waiting_since - timedelta(hours=hours)
        SyncSource.objects.update(lease_expires_at=timezone.now(), waiting_since=since)

    assert advance(row) == "finished"
    assert (row.state, row.error) == ("failed", "The data service did not answer.")
    mailbox.before = lambda cursor: None
    following = started(owner)
    advance(following)

    assert following.since == row.since
    assert (following.state, counts(following)) == ("done", (3, 3, 0, 0))


def test_a_malformed_item_is_a_dead_letter_and_the_others_go_on(
    mailbox: Mailbox, model: ScriptedModel
) -> None:
    mailbox.rejected = (Rejected(source_id="bad", reason="malformed_item"),)
    row = started(account())

    assert advance(row) == "finished"
    assert (row.state, counts(row)) == ("done", (8, 5, 0, 3))
    assert row.reasons == {"malformed_item": 3}
    failures = SyncFailure.objects.values_list("sync_id", "source_id", "reason", "state")
    assert list(failures) == [(row.pk, "bad", "malformed_item", "dead")] * 3


def test_the_next_page_is_asked_for_while_items_wait_for_a_model(
    mailbox: Mailbox, settings: Any
) -> None:
    last_page_asked = threading.Event()

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        if "Title: Mail 0\n" in body["messages"][1]["content"]:
            assert last_page_asked.wait(timeout=60)
        return summarised(body)

    def look(cursor: str | None) -> None:
        if cursor == "2":
            last_page_asked.set()

    mailbox.before = look
    row = started(account())
    with scripted_model(settings, {READER: reply}):
        assert advance(row) == "finished"

    assert counts(row) == (5, 5, 0, 0)


def test_a_database_that_goes_away_is_no_fault_of_an_item(
    mailbox: Mailbox, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(**_: Any) -> Any:
        raise OperationalError("terminating connection")

    row = started(account())
    with monkeypatch.context() as patched:
        patched.setattr(taking, "ingest", gone)
        with pytest.raises(OperationalError):
            advance(row)
    row.refresh_from_db()
    assert (row.state, counts(row)) == ("running", (0, 0, 0, 0))
    waited(row)

    assert advance(row) == "finished"
    assert counts(row) == (5, 5, 0, 0)


def test_an_item_that_no_model_answers_for_is_tried_again_later_by_itself(
    mailbox: Mailbox, settings: Any
) -> None:
    tries: list[str] = []

    def reply(body: dict[str, Any]) -> Any:
        shown = body["messages"][1]["content"]
        if "Title: Mail 1\n" in shown:
            tries.append(shown)
            return Failure(503)
        return summarised(body)

    row = started(account())
    with scripted_model(settings, {READER: reply}):
        advance(row)

    [failure] = SyncFailure.objects.all()
    assert (failure.sync_id, failure.source_id, failure.reason) == (
        row.pk,
        "m1",
        "model_status_503",
    )
    assert (row.state, counts(row)) == ("done", (5, 4, 0, 1))
    assert row.reasons == {"model_status_503": 1}
    assert len(tries) == taking.TRIES
    assert (failure.state, failure.due_at) == ("queued", failure.failed_at + FIRST_PAUSE)


def test_a_model_that_answers_nothing_at_all_is_waited_for_and_nothing_is_counted(
    mailbox: Mailbox, settings: Any
) -> None:
    row = started(account())
    with scripted_model(settings, {READER: lambda body: Failure(503)}):
        assert advance(row) == "waiting"

    assert (row.state, counts(row)) == ("running", (0, 0, 0, 0))
    assert row.error == "The model did not answer. Remit will try again."


def test_an_item_that_breaks_our_own_code_does_not_stop_the_others(
    mailbox: Mailbox, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ingest(*, source_id: str, **rest: Any) -> Any:
        if source_id == "m3":
            raise RuntimeError("a fault")
        return real(source_id=source_id, **rest)

    real = ingest_module.ingest
    monkeypatch.setattr(taking, "ingest", ingest)
    row = started(account())
    advance(row)

    assert counts(row) == (5, 4, 0, 1)
    assert SyncFailure.objects.get().reason == "unexpected_error"


def test_a_few_items_are_taken_side_by_side(mailbox: Mailbox, settings: Any) -> None:
    both_are_here = threading.Barrier(2, timeout=60)

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        if "Mail 4" not in body["messages"][1]["content"]:  # alone on the last page
            both_are_here.wait()
        return summarised(body)

    row = started(account())
    with scripted_model(settings, {READER: reply}):
        assert advance(row) == "finished"

    assert counts(row) == (5, 5, 0, 0)


def test_models_are_asked_about_no_more_items_at_once_than_is_set(
    mailbox: Mailbox, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = threading.Barrier(2, timeout=0.5)
    met: list[int] = []

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        with suppress(threading.BrokenBarrierError):
            met.append(second.wait())
        return summarised(body)

    monkeypatch.setattr(ingest_module, "_asking", threading.BoundedSemaphore(1))
    row = started(account())
    with scripted_model(settings, {READER: reply}):
        assert advance(row) == "finished"

    assert met == []
    assert counts(row) == (5, 5, 0, 0)


def test_the_next_page_begins_while_the_last_item_of_this_one_waits(
    mailbox: Mailbox, settings: Any
) -> None:
    next_page_began = threading.Event()

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        shown = body["messages"][1]["content"]
        if "Mail 2" in shown:
            next_page_began.set()
        if "Mail 1" in shown:
            assert next_page_began.wait(timeout=60)
        return summarised(body)

    row = started(account())
    with scripted_model(settings, {READER: reply}) as model:
        assert advance(row) == "finished"

    assert counts(row) == (5, 5, 0, 0)
    assert len(model.requests) == 5 + 3  # and one call for the vectors of each page


def test_what_was_begun_is_counted_before_a_bad_next_page_ends_the_sync(
    mailbox: Mailbox, model: ScriptedModel
) -> None:
    def refuse(cursor: str | None) -> None:
        if cursor == "4":
            raise NotPermitted("no more")

    mailbox.before = refuse
    row = started(account())
    assert advance(row) == "finished"
    assert (row.state, row.cursor, counts(row)) == ("failed", "4", (4, 4, 0, 0))


@pytest.fixture
def sandbox(settings: Any) -> Iterator[RunningSandbox]:
    with running_sandbox() as running, running_offline_model() as url:
        settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL = "offline", url
        llm._client.cache_clear()
        yield running
        llm._client().close()
        llm._client.cache_clear()


@pytest.mark.parametrize(
    ("source", "least"), [("gmail", 60), ("gdrive", 40), ("calendar", 20), ("jira", 60)]
)
def test_the_office_is_read_over_http_with_the_offline_model(
    sandbox: RunningSandbox, settings: Any, source: str, least: int
) -> None:
    owner = account(source=source)
    settings.DATA_SERVICES = {owner.organisation_slug: sandbox.url}
    settings.DATA_SERVICE_KEYS = {owner.organisation_slug: KEY}
    row = started(owner)

    assert advance(row) == "finished"
    assert (row.state, row.error, row.reasons) == ("done", "", {})
    assert row.received == row.processed == Item.objects.count()
    assert row.received >= least
