"""The page where provider and ledger disagree, without a browser."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.ledger.selectors import about_ledger, recorded
from guardrails.comply.reconciliation.run import reconcile
from guardrails.execute.settling import INCIDENT
from integrations.models import Organisation
from integrations.providers.data_service.reader import DataServiceReader
from tests.clients import log_in, read_page
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
HOSTILE = "i1\u202e\x1b<script>alert(1)</script>"


def address(organisation: Organisation) -> str:
    return reverse("admin:guardrails_ledger_reconciliation") + f"?organisation={organisation.slug}"


def page(client: Client, organisation: Organisation) -> str:
    return read_page(client, address(organisation))


@pytest.fixture
def disagreeing(office: Office, monkeypatch: pytest.MonkeyPatch) -> Office:
    change = {
        "id": uuid4().hex,
        "kind": "issue",
        "change": "created",
        "object_id": HOSTILE,
        "by": "client",
        "at": datetime.now(UTC).isoformat(),
    }
    original = DataServiceReader._get

    def get(self: DataServiceReader, path: str, **params: Any) -> Any:
        if params.get("source") == "jira":
            return {"items": [change], "next_cursor": None}
        return original(self, path, **params)

    monkeypatch.setattr(DataServiceReader, "_get", get)
    reconcile(office.organisation, now=timezone.now())
    return office


def test_before_the_first_run_it_says_how_to_start_one(office: Office, client: Client) -> None:
    assert "manage.py reconcile_ledger" in page(client, office.organisation)


def test_an_agreement_says_so(office: Office, client: Client) -> None:
    reconcile(office.organisation, now=timezone.now())
    text = page(client, office.organisation)
    assert "Nothing to look into" in text
    assert "4 of 5 accounts compared, 0 effects: provider and ledger agree." in text


def test_an_incident_is_loud_escaped_and_looked_into(disagreeing: Office, client: Client) -> None:
    organisation = disagreeing.organisation
    text = page(client, organisation)
    dashboard = f"/admin/?organisation={organisation.slug}"
    assert "1 incident to look into" in text
    assert "The ledger has no row for it." in text
    assert "i1⟨U+202E⟩⟨U+001B⟩&lt;script&gt;" in text
    assert "<script>alert" not in text
    assert "1 incident that nobody has looked into" in client.get(dashboard).content.decode()

    (row,) = about_ledger(organisation.id, INCIDENT)
    said = {"incident": str(row.action_id), "note": "<b>A test</b>"}
    told = client.post(address(organisation), said, follow=True).content.decode()

    assert "Nothing to look into" in told
    assert "operator olga" in told
    assert "“&lt;b&gt;A test&lt;/b&gt;”" in told
    assert "nobody has looked into" not in client.get(dashboard).content.decode()
    assert recorded(row.action_id)[-1].decision_reason == "looked_into"


@pytest.mark.parametrize("note", ["", "   "])
def test_without_a_word_it_stays_open(disagreeing: Office, client: Client, note: str) -> None:
    (row,) = about_ledger(disagreeing.organisation.id, INCIDENT)
    said = {"incident": str(row.action_id), "note": note}
    told = client.post(address(disagreeing.organisation), said, follow=True).content.decode()
    assert "Say what you found." in told
    assert len(recorded(row.action_id)) == 1


@pytest.mark.parametrize("incident", ["", "nonsense", pytest.param(str(uuid4()), id="unknown")])
def test_an_incident_that_is_not_there(disagreeing: Office, client: Client, incident: str) -> None:
    said = {"incident": incident, "note": "x"}
    assert client.post(address(disagreeing.organisation), said).status_code == 404


def test_another_organisations_incident_is_not_there(disagreeing: Office, client: Client) -> None:
    other = Organisation.objects.create(slug=f"org-{uuid4().hex[:8]}", name="Other")
    (row,) = about_ledger(disagreeing.organisation.id, INCIDENT)
    assert "to look into" not in page(client, other)
    said = {"incident": str(row.action_id), "note": "x"}
    assert client.post(address(other), said).status_code == 404
    assert len(recorded(row.action_id)) == 1


def test_who_may_only_look_says_nothing(disagreeing: Office) -> None:
    assert log_in("stan").get(address(disagreeing.organisation)).status_code == 403
    looking = log_in("vera", "view_executedagentaction")
    assert "Looked into" not in page(looking, disagreeing.organisation)
    (row,) = about_ledger(disagreeing.organisation.id, INCIDENT)
    said = {"incident": str(row.action_id), "note": "x"}
    assert looking.post(address(disagreeing.organisation), said).status_code == 403
