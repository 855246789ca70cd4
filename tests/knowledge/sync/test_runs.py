import uuid
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from integrations.contracts import AccountRef, Source
from integrations.models import Account, Organisation
from knowledge.contracts import SyncState
from knowledge.models import SyncRun, SyncSource
from knowledge.sync import runs as sync_runs
from knowledge.sync.runs import Requested
from tests.knowledge.office import account

pytestmark = pytest.mark.django_db


def request(owner: AccountRef, *sources: Source, now: datetime | None = None) -> Requested | None:
    return sync_runs.request_sync(
        organisation_id=owner.organisation_id,
        external_user_id=owner.external_user_id,
        sources=sources,
        now=now or timezone.now(),
    )


def both() -> tuple[AccountRef, AccountRef]:
    mail = account()
    organisation = Organisation.objects.get(pk=mail.organisation_id)
    account(user="omar", organisation=organisation)
    return mail, account(source="jira", organisation=organisation)


def test_all_accounts_of_the_user_and_of_nobody_else_are_read() -> None:
    mail, jira = both()

    requested = request(mail)

    assert requested is not None
    rows = SyncSource.objects.filter(pk__in=requested.queued)
    assert {row.account_id for row in rows} == {mail.id, jira.id}


def test_a_source_reads_as_far_back_as_its_connector_says() -> None:
    """KNO-1: mail and events of a month, documents of six, issues of three."""
    mail, jira = both()
    organisation = Organisation.objects.get(pk=mail.organisation_id)
    others = [account(source=name, organisation=organisation) for name in ("gdrive", "calendar")]
    now = timezone.now()

    requested = request(mail, now=now)

    assert requested is not None
    back = {row.account_id: (now - row.since).days for row in SyncSource.objects.all()}
    assert back == {mail.id: 30, jira.id: 92, others[0].id: 183, others[1].id: 30}


def test_an_operator_says_how_far_back_an_account_is_read() -> None:
    mail, jira = both()
    Account.objects.filter(pk=mail.id).update(window_days=365)
    now = timezone.now()

    request(mail, now=now)
    back = {row.account_id: (now - row.since).days for row in SyncSource.objects.all()}
    SyncSource.objects.update(state="done")
    sync_runs.request_sync(
        organisation_id=mail.organisation_id,
        external_user_id="maya",
        window=timedelta(days=7),
        now=now,
    )

    assert back == {mail.id: 365, jira.id: 92}
    again = SyncSource.objects.filter(state="queued")
    assert {(now - row.since).days for row in again} == {7}, "a request's own window goes first"


def test_a_sync_that_is_running_is_the_answer_to_another_request() -> None:
    mail, _ = both()
    first = request(mail, "gmail")

    again = request(mail)

    assert first is not None
    assert again == Requested(run_id=first.run_id, queued=())
    assert SyncSource.objects.count() == 1


def test_a_user_without_such_an_account_has_nothing_to_read() -> None:
    mail, _ = both()

    assert request(mail, "calendar") is None
    assert SyncSource.objects.count() == 0


@pytest.mark.parametrize(
    ("state", "hours", "cursor"),
    [("failed", -1, "p7"), ("cancelled", -23, "p7"), ("done", -1, ""), ("failed", 1, "")],
)
def test_only_a_sync_that_lately_ended_early_is_continued(
    state: str, hours: int, cursor: str
) -> None:
    mail, _ = both()
    now = timezone.now()
    request(mail, "gmail", now=now)
    SyncSource.objects.update(state=state, cursor="p7", finished_at=now - timedelta(hours=hours))

    requested = request(mail, "gmail", now=now + timedelta(days=1))

    assert requested is not None
    row = SyncSource.objects.get(pk=requested.queued[0])
    # A cursor belongs to the list of one window.
    since = now - timedelta(days=30) if cursor else now - timedelta(days=29)
    assert (row.cursor, row.since) == (cursor, since)


def test_progress_is_shown_to_the_own_organisation_only() -> None:
    mail, _ = both()
    requested = request(mail)
    assert requested is not None

    progress = sync_runs.load_progress(
        organisation_id=mail.organisation_id, run_id=requested.run_id, now=timezone.now()
    )
    assert progress is not None
    assert [source.source for source in progress.sources] == ["gmail", "jira"]
    assert progress.state == "queued"
    stranger = uuid.uuid4()
    assert (
        sync_runs.load_progress(
            organisation_id=stranger, run_id=requested.run_id, now=timezone.now()
        )
        is None
    )


def test_cancelling_touches_only_what_still_runs() -> None:
    mail, jira = both()
    requested = request(mail)
    assert requested is not None
    SyncSource.objects.filter(account_id=jira.id).update(state="done")

    sync_runs.cancel(requested.run_id, now=timezone.now())

    states = dict(SyncSource.objects.values_list("account", "state"))
    assert states == {mail.id: "cancelled", jira.id: "done"}
    assert SyncRun.objects.get().finished_at is not None


@pytest.mark.parametrize(
    ("states", "overall"),
    [
        (["queued", "queued"], "queued"),
        (["queued", "done"], "running"),
        (["running", "failed"], "running"),
        (["failed", "done", "cancelled"], "failed"),
        (["cancelled", "done"], "cancelled"),
        (["done"], "done"),
        ([], "done"),
    ],
)
def test_the_state_of_the_whole(states: list[SyncState], overall: SyncState) -> None:
    assert sync_runs.combine_states(states) == overall


def done(row_account: AccountRef, *, began: datetime, **fields: Any) -> SyncSource:
    run = SyncRun.objects.create(
        organisation_id=row_account.organisation_id, external_user_id="maya"
    )
    return SyncSource.objects.create(
        run=run,
        account_id=row_account.id,
        since=began,
        created_at=began,
        **{"finished_at": began, "state": "done", **fields},
    )


def changes(owner: AccountRef, now: datetime) -> SyncSource:
    requested = sync_runs.request_sync(
        organisation_id=owner.organisation_id,
        external_user_id="maya",
        sources=[owner.source],
        only_changes=True,
        now=now,
    )
    assert requested is not None
    return SyncSource.objects.get(pk=requested.queued[0])


def test_changes_are_read_from_where_the_last_whole_sync_began() -> None:
    owner, now = account(), timezone.now()
    done(owner, began=now - timedelta(hours=5))
    done(owner, began=now - timedelta(hours=3))
    done(owner, began=now - timedelta(hours=1), state="failed")

    row = changes(owner, now)

    assert row.only_changes is True
    assert row.since == now - timedelta(hours=3) - sync_runs.OVERLAP


def test_an_account_that_was_never_read_is_read_whole_when_changes_are_asked_for() -> None:
    owner, now = account(), timezone.now()

    row = changes(owner, now)

    assert row.only_changes is False
    assert row.since == now - timedelta(days=30)


def test_a_sync_of_changes_does_not_go_on_where_a_whole_one_stopped() -> None:
    owner, now = account(), timezone.now()
    done(owner, began=now - timedelta(hours=3))
    done(owner, began=now - timedelta(hours=1), state="failed", cursor="c7")

    assert changes(owner, now).cursor == ""


def test_accounts_read_once_are_due_again_after_a_while_and_never_twice_at_once() -> None:
    owner, now = account(), timezone.now()
    never = account(organisation=Organisation.objects.get(pk=owner.organisation_id), user="omar")
    every = timedelta(minutes=15)
    done(owner, began=now - timedelta(minutes=16))

    def due() -> list[tuple[str, str]]:
        found = sync_runs.list_due(every=every, now=now, limit=10)
        return [(user, source) for _, user, source in found]

    assert never.external_user_id == "omar"
    assert due() == [("maya", "gmail")]
    done(owner, began=now - timedelta(minutes=1), state="failed")
    assert due() == []
    SyncSource.objects.update(created_at=now - timedelta(minutes=20))
    assert due() == [("maya", "gmail")]
    changes(owner, now)
    SyncSource.objects.update(created_at=now - timedelta(minutes=20))
    assert due() == []  # one is queued


def test_a_run_is_finished_with_its_last_source() -> None:
    mail, _ = both()
    requested = request(mail)
    assert requested is not None
    now = timezone.now()
    first = SyncSource.objects.filter(pk=requested.queued[0])

    first.update(state="done")
    sync_runs.settle(requested.run_id, now=now)
    assert SyncRun.objects.get().finished_at is None
    SyncSource.objects.update(state="done")
    sync_runs.settle(requested.run_id, now=now)

    run = SyncRun.objects.get()
    assert (run.finished_at, run.callback) == (now, "none")  # nobody wants to know


@pytest.mark.parametrize(
    ("fields", "percent", "eta"),
    [
        ({"state": "queued"}, None, None),
        ({"state": "running", "received": 0, "remaining": 40}, None, None),
        ({"state": "running", "received": 100, "remaining": None}, None, None),
        ({"state": "running", "received": 100, "remaining": 300}, 25, 180),
        ({"state": "running", "received": 999, "remaining": 1}, 99, 1),
        ({"state": "failed", "received": 100, "remaining": 300}, 25, None),
        ({"state": "done", "received": 0, "remaining": 0}, 100, None),
    ],
)
def test_percent_and_eta_are_given_where_they_can_be_known(
    fields: dict[str, Any], percent: int | None, eta: int | None
) -> None:
    now = timezone.now()
    row = done(account(), began=now, started_at=now - timedelta(seconds=60), **fields)

    progress = sync_runs.describe_source(row, now=now)

    assert (progress.percent, progress.eta_seconds) == (percent, eta)


def test_scheduled_syncs_that_found_nothing_are_forgotten_after_a_day_and_nothing_else_is() -> None:
    owner, now = account(), timezone.now()
    old = now - timedelta(days=2)
    fields: dict[str, dict[str, Any]] = {
        "empty": {},
        "recent": {"finished_at": now},
        "found something": {"received": 1},
        "whole": {},
    }
    for name, given in fields.items():
        row = done(owner, began=old, **given)
        SyncRun.objects.filter(pk=row.run_id).update(
            external_user_id=name,
            only_changes=name != "whole",
            finished_at=row.finished_at,
        )

    sync_runs.forget_empty(now=now)

    kept = SyncRun.objects.values_list("external_user_id", flat=True)
    assert set(kept) == {"recent", "found something", "whole"}
