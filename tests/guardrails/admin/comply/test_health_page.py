import hashlib

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.ledger.selectors import about_ledger
from guardrails.execute.executor import execute
from tests.clients import log_in
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def address(office: Office, **params: str) -> str:
    query = "&".join(f"{name}={value}" for name, value in params.items())
    page = reverse("admin:guardrails_ledger_health")
    return f"{page}?organisation={office.organisation.slug}&{query}"


def test_sentences_first_tables_after(office: Office, client: Client) -> None:
    execute(office.request("<b>nothing", {}))
    text = client.get(address(office)).content.decode()
    assert "0 actions were done, 1 refused and 0 failed; 0 were already like that." in text
    assert "There is no such action for this source." in text
    assert "&lt;b&gt;nothing" in text
    assert "so far" in text


def test_an_empty_month_says_so_and_offers_no_export(office: Office, client: Client) -> None:
    text = client.get(address(office, month="2025-03")).content.decode()
    assert "March 2025" in text
    assert "Nothing was recorded in this month." in text
    assert "Export as CSV" not in text


def test_an_export_is_recorded_with_its_digest(office: Office, client: Client) -> None:
    execute(office.request("nothing", {}))
    answer = client.get(address(office, format="csv"))
    (row,) = about_ledger(office.organisation.id, "ledger.report")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert row.payload["sha256"] == hashlib.sha256(answer.content).hexdigest()
    assert row.payload["month"] == f"{timezone.now():%Y-%m}"
    assert (row.actor_type, row.actor_id) == ("admin", "operator:olga")


@pytest.mark.parametrize("month", ["2999-01", "1999-01", "nonsense", "2026-13"])
def test_a_month_that_is_none(office: Office, client: Client, month: str) -> None:
    assert client.get(address(office, month=month)).status_code == 404


def test_only_for_who_may_see_the_ledger(office: Office, client: Client) -> None:
    assert client.post(address(office)).status_code == 405
    stranger = log_in("stan")
    assert stranger.get(address(office)).status_code == 403
    assert about_ledger(office.organisation.id, "ledger.report") == ()
