"""What models used and cost, over the API."""

import uuid
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from integrations.models import ModelCall, Organisation, ServiceToken

pytestmark = pytest.mark.django_db


def called(
    organisation: Organisation,
    user: str,
    model: str,
    cost: str,
    *,
    age: timedelta = timedelta(),
    **more: Any,
) -> None:
    used = {"prompt_tokens": 100, "cached_tokens": 40, "answer_tokens": 10, "latency_ms": 200}
    row = ModelCall.objects.create(
        organisation=organisation,
        external_user_id=user,
        model=model,
        purpose="orchestrator",
        run_id=uuid.uuid4(),
        cost=Decimal(cost),
        **used | more,
    )
    ModelCall.objects.filter(pk=row.pk).update(at=timezone.now() - age)


@pytest.fixture
def organisation() -> Organisation:
    found = Organisation.objects.create(slug="default", name="Default")
    called(found, "maya", "large", "0.02")
    called(found, "maya", "large", "0.01", latency_ms=400, error_code="timeout")
    called(found, "maya", "small", "0.001")
    called(found, "maya", "small", "5", age=timedelta(hours=25))
    called(found, "omar", "large", "0.5")
    other = Organisation.objects.create(slug="other", name="Other")
    called(other, "maya", "large", "9")
    return found


def ask(organisation: Organisation, query: str = "", **more: Any) -> Any:
    fields = {"name": "web", "scopes": ["chat"]} | more
    token = ServiceToken.issue(organisation=organisation, **fields)[1]
    return Client().get(f"/api/v1/usage{query}", headers={"Authorization": f"Bearer {token}"})


def rows(answer: Any) -> list[tuple[str, str, int, str]]:
    assert answer.status_code == 200, answer.content
    return [
        (one["user_id"], one["model"], one["calls"], one["cost"].rstrip("0"))
        for one in answer.json()["rows"]
    ]


def test_each_user_and_model_has_a_line_of_the_last_day(organisation: Organisation) -> None:
    answer = ask(organisation)

    assert rows(answer) == [
        ("omar", "large", 1, "0.5"),
        ("maya", "large", 2, "0.03"),
        ("maya", "small", 1, "0.001"),
    ]
    assert answer.json()["rows"][1] == {
        "user_id": "maya",
        "model": "large",
        "calls": 2,
        "failed": 1,
        "prompt_tokens": 200,
        "cached_tokens": 80,
        "answer_tokens": 20,
        "cost": "0.03000000",
        "latency_ms": 300,
    }
    assert rows(ask(organisation, "?user_id=maya&days=2"))[0] == ("maya", "small", 2, "5.001")


def test_a_token_of_some_users_hears_of_these_alone(organisation: Organisation) -> None:
    assert {row[0] for row in rows(ask(organisation, user_ids=["maya"]))} == {"maya"}
    assert ask(organisation, "?user_id=omar", user_ids=["maya"]).status_code == 404


@pytest.mark.parametrize("query", ["?days=0", "?days=401", "?days=x", "?user_id=%00", "?of=maya"])
def test_what_makes_no_sense_is_refused(organisation: Organisation, query: str) -> None:
    assert ask(organisation, query).status_code == 400


def test_another_scope_hears_nothing(organisation: Organisation) -> None:
    assert ask(organisation, scopes=["sync"]).status_code == 403
