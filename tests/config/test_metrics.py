"""What Prometheus reads: exact figures, of everybody together, for who has the token alone."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from audit.ledger.ledger import append
from integrations.models import Account, Credential, Delivery, ModelCall, Organisation, Outage
from knowledge.models import LargeAccount
from tests.agents.waiting import turn_of
from tests.audit.entries import entry
from tests.config.test_health import gone
from tests.knowledge.answers import READER, summarised
from tests.knowledge.office import email, take
from tests.model_server import scripted_model

pytestmark = pytest.mark.django_db(databases=["default", "ledger"])
TOKEN = "read-the-metrics"


@pytest.fixture(autouse=True)
def token(settings: object) -> None:
    settings.METRICS_TOKEN = TOKEN  # type: ignore[attr-defined]


@pytest.fixture
def organisation() -> Organisation:
    return Organisation.objects.create(slug="metrics", name="Metrics")


def read(client: Client) -> dict[tuple[str, str], float]:
    """Each figure by its name and the value of its label."""
    answer = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    return {
        (sample.name, next(iter(sample.labels.values()), "")): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


@pytest.mark.parametrize(
    "given", ["", "Bearer ", "Bearer wrong", TOKEN, f"bearer {TOKEN}", "Bearer é"]
)
def test_who_has_not_the_token_finds_nothing(client: Client, given: str) -> None:
    answer = client.get("/metrics", headers={"Authorization": given} if given else {})

    assert answer.status_code == 404
    assert b"remit_" not in answer.content


def test_without_a_token_of_its_own_nobody_finds_anything(client: Client, settings: object) -> None:
    settings.METRICS_TOKEN = ""  # type: ignore[attr-defined]

    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


def test_what_waits_is_counted_with_the_oldest(
    client: Client, organisation: Organisation, settings: object
) -> None:
    before = read(client)
    account = Account.objects.create(
        organisation=organisation, external_user_id="maya", source="gmail"
    )
    for number, minutes in enumerate((1, 90)):
        row = Delivery.objects.create(
            organisation=organisation,
            account=account,
            webhook_id=f"wait-{number}",
            kind="created",
            source="gmail",
            source_id="m",
            body={},
        )
        Delivery.objects.filter(id=row.id).update(
            received_at=timezone.now() - timedelta(minutes=minutes)
        )
    dead = Delivery.objects.create(
        organisation=organisation,
        webhook_id="dead",
        kind="created",
        source="gmail",
        source_id="m",
        body={},
        state="dead",
    )
    Outage.objects.create(account=account, code="unavailable", due_at=timezone.now())
    Credential.objects.create(
        account=account, user_name="maya", sealed=b"", key_id="k", state="sign_in"
    )
    with scripted_model(settings, {READER: summarised}):
        take(account.ref(), email())
    LargeAccount.objects.create(account=account)
    after = read(client)

    def gained(name: str, label: str = "") -> float:
        return after[name, label] - before.get((name, label), 0)

    assert gained("remit_waiting", "delivery") == 2
    assert gained("remit_vectors_waiting") == 1
    assert after["remit_oldest_wait_seconds", "delivery"] >= 90 * 60
    assert gained("remit_dead_letters", "delivery") == 1
    assert gained("remit_deliveries_last_hour", "queued") == 1
    assert gained("remit_deliveries_last_hour", "dead") == 1
    assert gained("remit_accounts_waiting", "unavailable") == 1
    assert gained("remit_accounts_signed_out") == 1
    assert after["remit_cannot", "provider_away"] == 1
    assert str(dead.organisation_id) not in str(after)


@pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
def test_the_last_hour_of_turns_models_and_the_ledger(
    client: Client, organisation: Organisation
) -> None:
    before = read(client)
    turn_of(organisation)
    append(entry(tenant_id=organisation.id))
    for minutes, error in ((1, ""), (1, "timeout"), (61, "")):
        call = ModelCall.objects.create(
            organisation=organisation,
            external_user_id="maya",
            purpose="reply",
            model="offline-rules",
            prompt_tokens=100,
            cached_tokens=40,
            answer_tokens=7,
            cost=Decimal("0.25"),
            error_code=error,
        )
        ModelCall.objects.filter(id=call.id).update(at=timezone.now() - timedelta(minutes=minutes))
    after = read(client)
    gained = {
        key: value - before.get(key, 0)
        for key, value in after.items()
        if key[0].endswith("_last_hour") and value != before.get(key, 0)
    }

    assert gained == {
        ("remit_turns_last_hour", "queued"): 1,
        ("remit_actions_last_hour", "pending"): 1,
        ("remit_model_calls_last_hour", ""): 1,
        ("remit_model_calls_last_hour", "timeout"): 1,
        ("remit_model_tokens_last_hour", "prompt"): 200,
        ("remit_model_tokens_last_hour", "cached"): 80,
        ("remit_model_tokens_last_hour", "answer"): 14,
        ("remit_model_cost_usd_last_hour", ""): 0.5,
    }


def test_without_a_database_it_still_says_what_is_missing(client: Client) -> None:
    with gone("default"):
        found = read(client)

    assert found["remit_cannot", "database"] == 1
    assert {name for name, _ in found} == {"remit_cannot"}
