"""What became of webhooks, over the API."""

from typing import Any

import pytest
from django.test import Client

from integrations.models import Account, Delivery, Organisation, ServiceToken

pytestmark = pytest.mark.django_db
OF_ALL = ["w1", "w2", "w3"]


def receive(organisation: Organisation, webhook_id: str, user: str = "", **fields: Any) -> None:
    account = None
    if user:
        account, _ = Account.objects.get_or_create(
            organisation=organisation, external_user_id=user, source="gmail", address=f"{user}@a.co"
        )
    Delivery.objects.create(
        organisation=organisation,
        account=account,
        webhook_id=webhook_id,
        kind="created",
        source="gmail",
        source_id=f"m-{webhook_id}",
        body={"data": {"from": "secret@client.com"}},
        **fields,
    )


@pytest.fixture
def organisation() -> Organisation:
    found = Organisation.objects.create(slug="default", name="Default")
    receive(found, "w1", "maya", state="processed", attempts=1)
    receive(found, "w2", "omar", state="dead", reason="provider_away", attempts=6)
    receive(found, "w3", state="skipped", reason="unknown_account")
    receive(Organisation.objects.create(slug="other", name="Other"), "w4", "maya")
    return found


def ask(organisation: Organisation, query: str = "", **more: Any) -> Any:
    fields = {"name": "data service", "scopes": ["webhooks"]} | more
    token = ServiceToken.issue(organisation=organisation, **fields)[1]
    headers = {"Authorization": f"Bearer {token}"}
    return Client().get(f"/api/v1/deliveries{query}", headers=headers)


@pytest.mark.parametrize(
    ("query", "users", "wanted"),
    [
        ("", [], OF_ALL),
        ("?state=dead", [], ["w2"]),
        ("?webhook_id=w3", [], ["w3"]),
        ("?webhook_id=w4", [], []),
        ("?user_id=maya", [], ["w1"]),
        ("", ["omar"], ["w2"]),
        ("?webhook_id=w1", ["omar"], []),
    ],
)
def test_a_caller_sees_the_webhooks_of_its_organisation_and_users(
    organisation: Organisation, query: str, users: list[str], wanted: list[str]
) -> None:
    found = ask(organisation, query, user_ids=users).json()["items"]
    assert [one["webhook_id"] for one in reversed(found)] == wanted


def test_it_says_what_became_of_one_and_nothing_that_was_in_it(organisation: Organisation) -> None:
    answer = ask(organisation, "?webhook_id=w2")
    (row,) = answer.json()["items"]
    assert (row["user_id"], row["state"], row["reason"]) == ("omar", "dead", "provider_away")
    assert (row["source_id"], row["attempts"]) == ("m-w2", 6)
    assert "secret" not in answer.content.decode()
    assert ask(organisation, "?webhook_id=w3").json()["items"][0]["user_id"] is None


def test_it_needs_the_scope_and_a_user_of_the_token(organisation: Organisation) -> None:
    scopes = [one for one in ServiceToken.Scope.values if one != "webhooks"]
    assert ask(organisation, scopes=scopes).status_code == 403
    assert ask(organisation, "?user_id=maya", user_ids=["omar"]).status_code == 404
