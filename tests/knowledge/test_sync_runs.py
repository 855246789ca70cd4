import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from integrations.contracts import AccountRef, Source
from integrations.models import Organisation
from knowledge import sync_runs
from knowledge.contracts import SyncState
from knowledge.models import SyncSource
from knowledge.sync_runs import Requested
from tests.knowledge.office import account

pytestmark = pytest.mark.django_db


def request(owner: AccountRef, *sources: Source) -> Requested | None:
    return sync_runs.request_sync(
        organisation_id=owner.organisation_id,
        external_user_id=owner.external_user_id,
        sources=sources,
        now=timezone.now(),
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
    mail, _ = both()
    before = timezone.now()

    request(mail, "gmail")

    row = SyncSource.objects.get()
    assert row.account_id == mail.id
    assert timedelta(0) <= row.since - (before - timedelta(days=30)) < timedelta(minutes=1)


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
    [("failed", 1, "p7"), ("cancelled", 1, "p7"), ("done", 1, ""), ("failed", 25, "")],
)
def test_only_a_sync_that_lately_ended_early_is_continued(
    state: str, hours: int, cursor: str
) -> None:
    mail, _ = both()
    request(mail, "gmail")
    SyncSource.objects.update(
        state=state, cursor="p7", finished_at=timezone.now() - timedelta(hours=hours)
    )

    requested = request(mail, "gmail")

    assert requested is not None
    assert SyncSource.objects.get(pk=requested.queued[0]).cursor == cursor


def test_progress_is_shown_to_the_own_organisation_only() -> None:
    mail, _ = both()
    requested = request(mail)
    assert requested is not None

    progress = sync_runs.progress(organisation_id=mail.organisation_id, run_id=requested.run_id)
    assert progress is not None
    assert [source.source for source in progress.sources] == ["gmail", "jira"]
    assert progress.state == "queued"
    assert sync_runs.progress(organisation_id=uuid.uuid4(), run_id=requested.run_id) is None


def test_cancelling_touches_only_what_still_runs() -> None:
    mail, jira = both()
    requested = request(mail)
    assert requested is not None
    SyncSource.objects.filter(account_id=jira.id).update(state="done")

    sync_runs.cancel(requested.run_id, now=timezone.now())

    states = dict(SyncSource.objects.values_list("account", "state"))
    assert states == {mail.id: "cancelled", jira.id: "done"}


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
    assert sync_runs.overall(states) == overall
