"""What Remit says of itself to load balancers and operators."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connections
from django.test import Client
from django.utils import timezone
from django_q.models import OrmQ
from django_q.tasks import async_task

from agents.models import Turn
from audit.ledger.ledger import append
from audit.seals import progress
from config import health
from integrations.llm.circuit import FAILURES, circuit_of
from integrations.models import Account, Delivery, Organisation, Outage, Upstream
from tests.agents.inbound.test_claims import arrive
from tests.agents.waiting import turn_of
from tests.audit.databases import connected, fresh_database
from tests.audit.entries import entry
from tests.knowledge.office import account

pytestmark = pytest.mark.django_db(databases=["default", "ledger"])
AGO = timedelta(minutes=6)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "WRITES_EVERY_SECONDS", -1.0)
    monkeypatch.setattr(
        "integrations.llm.circuit._circuits", {}
    )  # other tests' models are away, too
    monkeypatch.setattr(progress, "BEHIND_SECONDS", 10**9)  # rows of other tests are not sealed


@pytest.fixture
def organisation() -> Organisation:
    return Organisation.objects.create(slug="default", name="Default")


def ready(client: Client) -> tuple[int, str, list[str]]:
    answer = client.get("/ready")
    said = answer.json()
    assert set(said) == {"status", "cannot"}
    return answer.status_code, said["status"], said["cannot"]


def outage(organisation: Organisation, code: str) -> None:
    account = Account.objects.create(
        organisation=organisation, external_user_id=code, source="gmail"
    )
    Outage.objects.create(account=account, code=code, due_at=timezone.now())


def test_nothing_is_missing(client: Client) -> None:
    assert ready(client) == (200, "ready", [])


@pytest.mark.parametrize(
    ("alias", "code"), [("default", "database"), ("ledger", "ledger_database")]
)
def test_without_a_database_nothing_can_be_done(client: Client, alias: str, code: str) -> None:
    with gone(alias):
        assert ready(client) == (503, "unavailable", [code])


@contextmanager
def gone(alias: str) -> Iterator[None]:
    def refuse(*_: Any) -> None:
        raise OperationalError("no connection")

    with connections[alias].execute_wrapper(refuse):
        yield


def test_a_disk_without_room_is_found_out(client: Client) -> None:
    with connections["default"].cursor() as cursor:
        cursor.execute("SET temp_file_limit = '100kB'")  # as much as there is room for
        try:
            assert ready(client) == (503, "unavailable", ["writes_fail"])
        finally:
            cursor.execute("RESET temp_file_limit")
    assert ready(client)[2] == []


def test_a_database_that_only_reads_is_found_out(client: Client) -> None:
    with connections["default"].cursor() as cursor:
        cursor.execute("SET transaction_read_only = on")
    assert ready(client) == (503, "unavailable", ["writes_fail"])


@pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
def test_records_that_wait_for_their_seal_are_said(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fresh_database() as empty, connected(empty):  # other tests leave rows, and forged seals
        monkeypatch.setattr(progress, "BEHIND_SECONDS", -1)
        assert ready(client)[2] == []
        append(entry())
        assert ready(client) == (200, "degraded", ["seals_lag"])
        monkeypatch.setattr(progress, "BEHIND_SECONDS", 10**9)
        assert ready(client)[2] == []


def test_a_task_that_waits_for_minutes_is_said_and_one_that_is_worked_on_is_not(
    client: Client,
) -> None:
    async_task(print)
    assert ready(client)[2] == []
    OrmQ.objects.update(lock=timezone.now() - AGO)
    assert ready(client) == (200, "degraded", ["queue_grows"])
    OrmQ.objects.update(lock=timezone.now() + AGO)  # taken
    assert ready(client)[2] == []


def test_a_delivery_that_nobody_takes_is_said_and_one_that_is_postponed_is_not(
    client: Client,
) -> None:
    arrive(account(), "m1", "ann@a.example")
    assert ready(client)[2] == []
    Delivery.objects.update(lease_expires_at=timezone.now() - AGO)
    assert ready(client) == (200, "degraded", ["queue_grows"])
    Delivery.objects.update(reason="in_work")
    assert ready(client)[2] == []


def test_a_turn_that_nobody_takes_up_is_said(client: Client, organisation: Organisation) -> None:
    turn_of(organisation)
    assert ready(client)[2] == []
    Turn.objects.update(lease_expires_at=timezone.now() - AGO)
    assert ready(client) == (200, "degraded", ["queue_grows"])


@pytest.mark.parametrize(
    ("met", "code"),
    [
        ("unavailable", "provider_away"),
        ("circuit_open", "provider_away"),
        ("status_503", "model_away"),
        ("unusable_answer", "model_away"),
        ("budget_exhausted", "budget_empty"),
    ],
)
def test_what_mail_waits_for_is_said(
    client: Client, organisation: Organisation, met: str, code: str
) -> None:
    outage(organisation, met)
    assert ready(client) == (200, "degraded", [code])


def test_a_data_service_whose_circuit_is_open_is_away(client: Client) -> None:
    Upstream.objects.create(name="acme", next_at=timezone.now(), opened_until=timezone.now())
    assert ready(client) == (200, "degraded", ["provider_away"])


def test_a_model_that_this_process_leaves_alone_is_away(client: Client) -> None:
    circuit = circuit_of("http://a-model.example/v1")
    for _ in range(FAILURES):
        circuit.note("timeout")
    assert ready(client) == (200, "degraded", ["model_away"])
    circuit.note()
    assert ready(client)[2] == []


@pytest.mark.parametrize("path", ["/health", "/ready"])
def test_a_probe_from_beside_the_process_has_no_host_and_no_tls_to_show(
    path: str, client: Client, settings: Any
) -> None:
    settings.ALLOWED_HOSTS, settings.SECURE_SSL_REDIRECT = ["remit.example"], True

    assert client.get(path, headers={"Host": "127.0.0.1:8000"}).status_code == 200
    assert client.get("/console/", headers={"Host": "127.0.0.1:8000"}).status_code == 400
