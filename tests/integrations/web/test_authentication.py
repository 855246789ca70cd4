from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from integrations.models import Account, Organisation, ServiceToken
from tests.clients import log_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def organisation() -> Organisation:
    found = Organisation.objects.create(slug="default", name="Default")
    Account.objects.create(organisation=found, external_user_id="maya", source="gmail")
    return found


def conversations(token: str, user_id: str = "maya") -> Any:
    return Client().get(
        f"/api/v1/conversations?user_id={user_id}", headers={"Authorization": f"Bearer {token}"}
    )


def test_a_token_opens_its_scope(organisation: Organisation) -> None:
    row, token = ServiceToken.issue(organisation=organisation, name="web", scopes=["chat"])

    response = conversations(token)

    assert (response.status_code, response.json()) == (200, [])
    row.refresh_from_db()
    assert row.last_used_at is not None
    assert token not in str(vars(row))


def test_a_token_without_the_scope_learns_which_it_lacks(organisation: Organisation) -> None:
    _, token = ServiceToken.issue(organisation=organisation, name="web", scopes=["sync"])

    response = conversations(token)

    assert response.status_code == 403
    assert response.json()["error"] == {
        "code": "permission_denied",
        "message": "This token lacks the scope “chat”.",
    }


@pytest.mark.parametrize(
    "change",
    [
        {"revoked_at": timezone.now()},
        {"expires_at": timezone.now() - timedelta(seconds=1)},
    ],
)
def test_a_revoked_or_expired_token_is_refused(
    organisation: Organisation, change: dict[str, Any]
) -> None:
    row, token = ServiceToken.issue(organisation=organisation, name="web", scopes=["chat"])
    ServiceToken.objects.filter(pk=row.pk).update(**change)

    response = conversations(token)

    assert (response.status_code, response.json()["error"]["code"]) == (
        401,
        "authentication_failed",
    )


@pytest.mark.parametrize("token", ["", "remit_wrong", "x" * 5000, "remit_\u00e9"])
def test_an_unknown_token_is_refused(organisation: Organisation, token: str) -> None:
    response = conversations(token)

    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == "Bearer"


def test_a_token_for_some_users_sees_no_other(organisation: Organisation) -> None:
    _, token = ServiceToken.issue(
        organisation=organisation, name="web", scopes=["chat"], user_ids=["omar"]
    )

    response = conversations(token, "maya")

    assert (response.status_code, response.json()["error"]["code"]) == (404, "unknown_user")


def test_only_an_operator_may_use_a_session(organisation: Organisation) -> None:
    client = log_in("clerk")
    refused = client.get("/api/v1/conversations?user_id=maya")
    client.force_login(User.objects.create_superuser("operator"))
    allowed = client.get("/api/v1/conversations?user_id=maya")

    assert (refused.status_code, allowed.status_code) == (401, 200)


def test_a_session_needs_the_csrf_token_to_write(organisation: Organisation) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create_superuser("operator"))

    response = client.post(
        "/api/v1/chat", {"user_id": "maya", "message": "Hi"}, content_type="application/json"
    )

    assert response.status_code == 403
    assert "CSRF" in response.json()["error"]["message"]


def test_requests_over_the_rate_learn_when_to_come_back(
    organisation: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    from integrations.web.authentication import TokenThrottle

    monkeypatch.setattr(TokenThrottle, "rate", "2/min", raising=False)
    _, token = ServiceToken.issue(organisation=organisation, name="web", scopes=["chat"])

    statuses = [conversations(token).status_code for _ in range(3)]

    assert statuses == [200, 200, 429]
    assert int(conversations(token).headers["Retry-After"]) <= 60
