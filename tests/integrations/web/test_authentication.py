from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.cache import caches
from django.test import Client
from django.utils import timezone

from agents.office.roles import make_roles
from integrations.models import Account, Membership, Organisation, ServiceToken
from tests.clients import client_of, log_in
from tests.clocks import HOUR, clock_off

pytestmark = pytest.mark.django_db(databases=["default", "ledger"])


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

    assert (response.status_code, response.json()) == (
        200,
        {"items": [], "next_cursor": None},
    )
    row.refresh_from_db()
    assert row.last_used_at is not None
    assert token not in str(vars(row))


def test_a_token_without_the_scope_learns_which_it_lacks(organisation: Organisation) -> None:
    _, token = ServiceToken.issue(organisation=organisation, name="web", scopes=["sync"])

    response = conversations(token)

    assert response.status_code == 403
    assert response.json()["error"] == {
        "code": "permission_denied",
        "message": "This token or login lacks the scope “chat”.",
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


@pytest.mark.parametrize(
    ("role", "chats", "decides", "reads_ledger"),
    [
        ("Viewer", 403, 403, 200),
        ("Policy editor", 403, 403, 200),
        ("Operator", 200, 200, 200),
        ("Auditor", 403, 403, 200),
        ("Administrator", 200, 200, 200),
    ],
)
def test_a_session_may_do_over_the_api_what_its_role_may(
    organisation: Organisation, role: str, chats: int, decides: int, reads_ledger: int
) -> None:
    make_roles()
    client = log_in(role)
    User.objects.get(username=role).groups.add(Group.objects.get(name=role))

    answers = [
        client.get(address, {"user_id": "maya"}).status_code
        for address in ("/api/v1/conversations", "/api/v1/approvals", "/api/v1/ledger")
    ]

    assert answers == [chats, decides, reads_ledger]
    assert client.get("/console/").status_code == chats


def test_who_is_a_user_themself_acts_as_that_user_alone(organisation: Organisation) -> None:
    other = Organisation.objects.create(slug="other", name="Other")
    client = log_in("maya.lindqvist", "use_own_console", "view_executedagentaction")
    own = Membership.objects.get(organisation=organisation)

    def asked(address: str, user: str = "maya", **headers: str) -> int:
        return client.get(address, {"user_id": user}, headers=headers).status_code

    chats, decides = "/api/v1/conversations", "/api/v1/approvals"
    assert asked(chats) == 403  # nobody has said who they are
    own.external_user_id = "maya"
    own.save()
    assert [asked(one) for one in (chats, decides)] == [200, 200]
    refused = [asked(one, "omar") for one in (chats, decides, "/api/v1/ledger")]
    assert refused == [404, 404, 403]
    assert asked("/api/v1/policy") == 403
    named = {"X-Remit-Organisation": other.slug}
    assert asked(chats, **named) == 403  # there they are nobody

    # As one of the staff who may act as all, they are still that user alone.
    user = User.objects.get(username="maya.lindqvist")
    user.user_permissions.add(Permission.objects.get(codename="use_console"))
    assert asked(chats, "omar") == 404


def test_who_is_not_of_the_staff_or_of_no_organisation_has_no_session_at_the_api() -> None:
    nobody = log_in("clerk", "use_console")
    Organisation.objects.create(slug="default", name="Default")
    visitor = User.objects.create(username="visitor")

    for client in (nobody, client_of(visitor)):
        assert client.get("/api/v1/conversations?user_id=maya").status_code == 401


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


def test_a_cache_that_is_away_costs_the_count_and_no_answer(
    organisation: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ConnectionError

    monkeypatch.setattr(caches["quick"], "get", broken)
    monkeypatch.setattr(caches["quick"], "set", broken)
    _, token = ServiceToken.issue(organisation=organisation, name="web", scopes=["chat"])

    assert conversations(token).status_code == 200


def test_a_token_expires_by_the_clock_and_a_wrong_clock_takes_nothing_away(
    organisation: Organisation,
) -> None:
    now = timezone.now()
    tokens = [
        ServiceToken.issue(
            organisation=organisation, name=f"{by}", scopes=["chat"], expires_at=now + by
        )[1]
        for by in (HOUR / 2, -2 * HOUR)
    ]

    def answered() -> list[int]:
        return [conversations(token).status_code for token in tokens]

    assert answered() == [200, 401]
    with clock_off(HOUR):
        assert answered() == [401, 401]
    assert answered() == [200, 401]
    with clock_off(-HOUR):
        assert answered() == [200, 401]


def test_a_session_that_ended_by_a_clock_that_was_ahead_costs_a_log_in(
    organisation: Organisation, settings: Any
) -> None:
    client = log_in("olga", "use_console")
    asked = "/api/v1/conversations?user_id=maya"
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
    with clock_off(timedelta(seconds=settings.SESSION_COOKIE_AGE) + HOUR):
        assert client.get(asked).status_code == 401
    client.cookies[settings.SESSION_COOKIE_NAME] = cookie

    assert client.get(asked).status_code == 200
    with clock_off(-HOUR):
        assert client.get(asked).status_code == 200
