"""The catalogue of what accounts have: read when it is due, and kept as the provider has it."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from integrations.accounts import catalogue
from integrations.exceptions import ProviderError
from integrations.models import Account, ProviderResource
from tests.guardrails.office import Office, settle
from tests.sandbox_server import running_sandbox

pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.fixture(scope="module")
def sandbox() -> Any:
    with running_sandbox() as running:
        yield running


@pytest.fixture
def office(sandbox: Any, settings: Any) -> Iterator[Office]:
    found = settle(sandbox, settings)
    yield found
    if found.in_trouble:
        found.faults()


def test_what_is_gone_goes_what_is_renamed_follows_and_the_rest_keeps_its_row(
    office: Office,
) -> None:
    account = office.mailbox
    catalogue.read(account.ref(), now=NOW)
    rows = ProviderResource.objects.filter(account=account, resource_type="label")
    before = {row.external_id: row.pk for row in rows}
    assert "label_fyi" in before
    rows.filter(external_id="label_fyi").update(name="Old name")
    rows.create(account=account, resource_type="label", external_id="gone", name="Gone")

    catalogue.read(account.ref(), now=NOW)

    assert {row.external_id: row.pk for row in rows} == before
    assert rows.get(external_id="label_fyi").name == "FYI"


def test_a_provider_that_is_away_changes_nothing(office: Office) -> None:
    catalogue.read(office.drive.ref(), now=NOW)
    known = ProviderResource.objects.count()
    assert known
    office.faults(error_rate=1.0)
    with pytest.raises(ProviderError):
        catalogue.read(office.drive.ref(), now=NOW + timedelta(hours=1))
    assert ProviderResource.objects.count() == known
    assert Account.objects.get(pk=office.drive.pk).listed_at == NOW


def test_each_account_is_read_once_in_a_while_and_at_once_when_asked(office: Office) -> None:
    has_lists = {office.mailbox.pk, office.tracker.pk, office.diary.pk, office.drive.pk}
    assert set(catalogue.claim_due(now=NOW)) == has_lists  # tools have none
    assert catalogue.claim_due(now=NOW + timedelta(minutes=1)) == []
    catalogue.ask_again(office.drive.pk)
    assert catalogue.claim_due(now=NOW + timedelta(minutes=1)) == [office.drive.pk]
    assert set(catalogue.claim_due(now=NOW + catalogue.EVERY * 2)) == has_lists
