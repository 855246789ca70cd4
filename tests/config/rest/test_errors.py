import pytest
from django.test import Client

from agents.models import Turn
from integrations.models import Account, Organisation, ServiceToken
from tests.database import failing_with

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def chat(client: Client, token: str) -> tuple[int, str, str]:
    answer = client.post(
        "/api/v1/chat/stream",
        {"user_id": "maya", "message": "Hello"},
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )
    error = answer.json().get("error", {})
    return answer.status_code, error.get("code", ""), answer.headers.get("Retry-After", "")


def test_what_cannot_be_stored_now_hears_to_come_again(client: Client) -> None:
    organisation = Organisation.objects.create(slug="default", name="Default")
    Account.objects.create(
        organisation=organisation, external_user_id="maya", source="gmail", address="m@a.example"
    )
    token = ServiceToken.issue(organisation=organisation, name="web", scopes=["chat"])[1]

    with failing_with("agents_turn", "53100"):
        full = chat(client, token)
    with failing_with("agents_turn", "57P01"):
        away = chat(client, token)

    assert full == (503, "storage_full", "60")
    assert away == (503, "database_away", "10")
    assert not Turn.objects.exists()
    assert chat(client, token) == (202, "", "")
