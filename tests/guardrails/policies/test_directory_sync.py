"""The directory as its provider has it, once a day, with what went wrong beside it."""

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents import tasks
from guardrails.models import DirectorySync, Person
from guardrails.policies import directory_sync
from guardrails.policies.history import history
from integrations.models import Account
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def colleagues(count: int) -> list[dict[str, str]]:
    return [
        {"address": f"p{n}@company.com", "name": f"Person {chr(65 + n)}x"} for n in range(count)
    ]


@pytest.fixture
def sync(office: Office) -> DirectorySync:
    return DirectorySync.objects.create(organisation=office.organisation, account=office.mailbox)


def run(sync: DirectorySync) -> DirectorySync:
    for sync_id in directory_sync.due():
        tasks.sync_directory(str(sync_id))
    sync.refresh_from_db()
    return sync


def known(office: Office) -> set[str]:
    return set(
        Person.objects.filter(organisation=office.organisation).values_list("address", flat=True)
    )


def test_who_comes_and_goes_at_the_provider_does_so_here_with_a_row_each(
    office: Office, sync: DirectorySync
) -> None:
    office.list_people(*colleagues(3))
    assert run(sync).problem == ""
    office.list_people(*colleagues(2), {"address": "new@company.com", "name": "New Comer"})

    done = run(sync)

    assert known(office) == {"p0@company.com", "p1@company.com", "new@company.com"}
    assert done.tried_at == done.done_at is not None
    verbs = [one.verb for one in history(organisation_id=office.organisation.pk).changes]
    assert sorted(verbs) == ["added"] * 4 + ["removed"]


def test_a_directory_that_lost_its_people_changes_nothing_and_says_so(
    office: Office, sync: DirectorySync, admin_client: Client
) -> None:
    office.list_people(*colleagues(12))
    run(sync)
    office.list_people(*colleagues(3))

    stopped = run(sync)

    assert len(known(office)) == 12
    assert stopped.problem.startswith("9 of 12 people would be removed, so nothing was changed.")
    page = admin_client.get(reverse("admin:guardrails_directorysync_changelist"))
    assert "9 of 12 people would be removed" in page.content.decode()


def test_an_empty_directory_changes_nothing(office: Office, sync: DirectorySync) -> None:
    office.list_people(*colleagues(1))
    run(sync)
    office.list_people()

    assert run(sync).problem.startswith("1 of 1 people would be removed")
    assert known(office) == {"p0@company.com"}


def test_a_provider_that_is_away_is_said_and_tried_again(
    office: Office, sync: DirectorySync
) -> None:
    office.list_people(*colleagues(1))
    office.faults(error_rate=1.0)
    away = run(sync)
    assert (away.problem, away.done_at) == ("The provider could not be asked (unavailable).", None)
    assert away.tried_at is not None

    office.faults()

    assert run(sync).problem == ""
    assert known(office) == {"p0@company.com"}


def test_what_is_switched_off_or_paused_is_not_read(office: Office, sync: DirectorySync) -> None:
    office.list_people(*colleagues(1))
    DirectorySync.objects.update(enabled=False)
    assert directory_sync.run(sync.id, now=timezone.now()) == ""
    DirectorySync.objects.update(enabled=True)
    Account.objects.filter(pk=office.mailbox.pk).update(paused=True)

    assert run(sync).tried_at is None
    assert known(office) == set()


def test_only_a_mailbox_of_the_organisation_can_be_read(office: Office) -> None:
    with pytest.raises(ValidationError, match="Only a mailbox"):
        DirectorySync.objects.create(organisation=office.organisation, account=office.drive)
