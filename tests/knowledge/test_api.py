import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from django_q.models import OrmQ
from rest_framework.test import APIClient

from integrations.contracts import AccountRef
from integrations.models import Organisation, ServiceToken
from knowledge.ingest.ingest import ingest
from knowledge.models import SyncSource
from tests.knowledge.office import NOW, account, email
from tests.model_server import ScriptedModel

pytestmark = pytest.mark.django_db


def caller(
    organisation_id: uuid.UUID, *, scope: str = "sync", users: tuple[str, ...] = ()
) -> APIClient:
    _, plain = ServiceToken.issue(
        organisation=Organisation.objects.get(pk=organisation_id),
        name="test",
        scopes=[scope],
        user_ids=list(users),
    )
    return APIClient(headers={"Authorization": f"Bearer {plain}"})


@pytest.fixture
def owner() -> AccountRef:
    return account()


def start(client: APIClient, **body: Any) -> Any:
    return client.post("/api/v1/sync", body, format="json")


def test_a_sync_is_started_and_queued_in_one(owner: AccountRef) -> None:
    response = start(caller(owner.organisation_id), user_id="maya")

    row = SyncSource.objects.get()
    assert response.status_code == 202
    answer = response.json()
    assert (answer["id"], answer["user_id"], answer["state"]) == (str(row.run_id), "maya", "queued")
    assert answer["sources"] == [
        {
            "source": "gmail",
            "account_id": str(owner.id),
            "state": "queued",
            "received": 0,
            "processed": 0,
            "skipped": 0,
            "failed": 0,
            "remaining": None,
            "percent": None,
            "eta_seconds": None,
            "reasons": {},
            "started_at": None,
            "finished_at": None,
            "next_try_at": None,
            "error": "",
        }
    ]
    [task] = OrmQ.objects.all()
    assert task.task["args"] == (str(row.pk),)


@pytest.mark.parametrize(("days", "back"), [(None, 30), (1, 1), (3650, 3650)])
def test_how_far_back_it_reads_can_be_said(owner: AccountRef, days: int | None, back: int) -> None:
    before = timezone.now()
    assert start(caller(owner.organisation_id), user_id="maya", window_days=days).status_code == 202

    row = SyncSource.objects.get()
    assert timedelta(0) <= row.since - (before - timedelta(days=back)) < timedelta(minutes=1)


def test_a_wider_window_does_not_go_on_where_a_narrower_one_stopped(owner: AccountRef) -> None:
    client = caller(owner.organisation_id)
    start(client, user_id="maya")
    SyncSource.objects.update(state="failed", cursor="p7", finished_at=timezone.now())
    start(client, user_id="maya", window_days=90)

    row = SyncSource.objects.latest("created_at")
    assert (row.cursor, (timezone.now() - row.since).days) == ("", 90)


def test_a_second_request_gets_the_running_sync_and_queues_nothing(owner: AccountRef) -> None:
    client = caller(owner.organisation_id)
    first = start(client, user_id="maya")

    again = start(client, user_id="maya", sources=["gmail"])

    assert again.status_code == 200
    assert again.json() == first.json()
    assert OrmQ.objects.count() == 1


def test_a_sync_is_looked_at_and_cancelled(owner: AccountRef) -> None:
    client = caller(owner.organisation_id)
    address = f"/api/v1/sync/{start(client, user_id='maya').json()['id']}"

    assert client.get(address).json()["state"] == "queued"
    assert client.post(f"{address}/cancel").json()["state"] == "cancelled"
    assert client.get(address).json()["sources"][0]["state"] == "cancelled"


@pytest.mark.parametrize(
    "body",
    [
        {"user_id": "maya", "window_days": 0},
        {"user_id": "maya", "window_days": 3651},
        {"user_id": "maya", "window_days": 30, "only_changes": True},
        {},
        {"user_id": 7},
        {"user_id": ""},
        {"user_id": "a\x00"},
        {"user_id": "maya", "sources": []},
        {"user_id": "maya", "sources": ["fax"]},
        {"user_id": "maya", "sources": "gmail"},
        {"user_id": "maya", "surces": ["gmail"]},
        {"user_id": "maya" * 100},
    ],
)
def test_a_request_that_makes_no_sense_is_refused_and_starts_nothing(
    owner: AccountRef, body: dict[str, Any]
) -> None:
    response = start(caller(owner.organisation_id), **body)

    assert response.status_code == 400
    assert response.json()["error"]["code"] == "invalid"
    assert not SyncSource.objects.exists()


@pytest.mark.parametrize("user", ["nobody", "omar"])
def test_an_unknown_user_has_nothing_to_sync(owner: AccountRef, user: str) -> None:
    account(user="omar")  # of another organisation

    assert start(caller(owner.organisation_id), user_id=user).status_code == 404


def test_a_token_for_other_users_or_another_scope_may_not(owner: AccountRef) -> None:
    other = caller(owner.organisation_id, users=("omar",))
    sync_id = start(caller(owner.organisation_id), user_id="maya").json()["id"]

    assert start(other, user_id="maya").status_code == 404
    assert other.get(f"/api/v1/sync/{sync_id}").status_code == 404
    assert other.post(f"/api/v1/sync/{sync_id}/cancel").status_code == 404
    assert start(caller(owner.organisation_id, scope="chat"), user_id="maya").status_code == 403
    assert start(APIClient(), user_id="maya").status_code == 401


def test_a_sync_of_another_organisation_is_not_there(owner: AccountRef) -> None:
    sync_id = start(caller(owner.organisation_id), user_id="maya").json()["id"]
    stranger = caller(account().organisation_id)

    assert stranger.get(f"/api/v1/sync/{sync_id}").status_code == 404
    assert stranger.post(f"/api/v1/sync/{sync_id}/cancel").status_code == 404
    assert SyncSource.objects.get().state == "queued"


def found(client: APIClient, **body: Any) -> Any:
    return client.post("/api/v1/search", {"user_id": "maya", **body}, format="json")


def take(owner: AccountRef, **fields: Any) -> None:
    mail = email(**fields)
    ingest(account=owner, source_id=mail.id, item=mail, now=NOW)


def test_what_was_looked_for_is_marked_in_text_that_stays_text(
    owner: AccountRef, model: ScriptedModel
) -> None:
    take(owner, id="m1", subject="Lunch", body_text="🍜🍜 <b>Noodles</b> & more noodles on Friday.")
    take(owner, id="m2", subject="Budget", body_text="Figures.")

    answer = found(caller(owner.organisation_id, scope="chat"), query="noodles", limit=1)

    assert answer.status_code == 200
    [item] = answer.json()["items"]
    assert (item["source"], item["source_id"], item["type"]) == ("gmail", "m1", "email")
    assert item["snippet"] == [
        {"text": "🍜🍜 <b>", "found": False},
        {"text": "Noodles", "found": True},
        {"text": "</b> & more ", "found": False},
        {"text": "noodles", "found": True},
        {"text": " on Friday.", "found": False},
    ]


def test_filters_narrow_a_search(owner: AccountRef, model: ScriptedModel) -> None:
    take(owner, id="m1", body_text="Noodles.", date="2026-03-01T09:00:00Z")
    take(owner, id="m2", body_text="Noodles.", date="2026-03-08T09:00:00Z")
    client = caller(owner.organisation_id, scope="chat")

    def ids(**body: Any) -> list[str]:
        answer = found(client, query="noodles", **body).json()
        return sorted(item["source_id"] for item in answer["items"])

    assert ids() == ["m1", "m2"]
    assert ids(time_filter="custom", since="2026-03-05T00:00:00Z") == ["m2"]
    assert ids(sources=["jira"]) == []
    assert ids(types=["email", "issue"]) == ["m1", "m2"]
    assert ids(types=["issue"]) == []
    assert ids(entity="nobody@x.example") == []
    first = found(client, query="noodles", limit=1).json()["items"][0]
    assert first["source_id"] not in ids(excluded_ids=[first["id"]])


def test_nobody_finds_what_is_anothers(owner: AccountRef, model: ScriptedModel) -> None:
    take(owner, body_text="Noodles.")
    other = account(user="omar")  # of another organisation
    asked = len(model.requests)

    for client, user, status, code in (
        (caller(owner.organisation_id), "maya", 403, "permission_denied"),
        (caller(owner.organisation_id, scope="chat", users=("omar",)), "maya", 404, "unknown_user"),
        (APIClient(), "maya", 401, "not_authenticated"),
    ):
        refused = found(client, user_id=user, query="noodles")
        assert (refused.status_code, refused.json()["error"]["code"]) == (status, code)
    theirs = caller(other.organisation_id, scope="chat")
    assert found(theirs, user_id="omar", query="noodles").json() == {"items": [], "entities": []}
    for user in ("maya", "nobody"):
        refused = found(theirs, user_id=user, query="noodles")
        assert (refused.status_code, refused.json()["error"]["code"]) == (404, "unknown_account")
    # Omar's question got a vector; nobody else's was even asked.
    assert len(model.requests) - asked == 1


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"query": 7},
        {"query": "x", "limit": 51},
        {"query": "x", "limit": 0},
        {"query": "x", "sources": ["nowhere"]},
        {"query": "x", "types": ["mail"]},
        {"query": "x", "time_filter": "someday"},
        {"query": "x", "time_filter": "custom"},
        {"query": "x", "since": "2026-03-05T00:00:00Z"},
        {"query": "x", "excluded_ids": ["m1"]},
        {"query": "x", "other": 1},
    ],
)
def test_a_search_that_makes_no_sense_is_refused(owner: AccountRef, body: dict[str, Any]) -> None:
    assert found(caller(owner.organisation_id, scope="chat"), **body).status_code == 400
