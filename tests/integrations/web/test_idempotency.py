"""A request that is sent twice is done once."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import Turn
from integrations.models import Account, KeptAnswer, Organisation, ServiceToken
from integrations.web import idempotency

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
HELLO = {"user_id": "maya", "message": "Hello"}


def send(token: str, body: Any, *, key: str, path: str = "/api/v1/chat/stream") -> Any:
    return Client().post(
        path,
        json.dumps(body),
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}", "Idempotency-Key": key},
    )


@pytest.fixture
def organisation() -> Organisation:
    made = Organisation.objects.create(slug="default", name="Default")
    Account.objects.create(organisation=made, external_user_id="maya", source="gmail")
    return made


@pytest.fixture
def token(organisation: Organisation) -> str:
    return ServiceToken.issue(organisation=organisation, name="web", scopes=["chat"])[1]


def test_the_same_key_gives_the_first_answer_again(token: str) -> None:
    first, again = send(token, HELLO, key="k"), send(token, HELLO, key="k")

    assert (first.status_code, again.status_code) == (202, 202)
    assert again.json() == first.json()
    assert (first.get("Idempotency-Replayed"), again["Idempotency-Replayed"]) == (None, "true")
    assert Turn.objects.count() == 1


def test_a_key_is_its_callers_and_its_requests(token: str, organisation: Organisation) -> None:
    other = ServiceToken.issue(organisation=organisation, name="other", scopes=["chat"])[1]
    send(token, HELLO, key="k")

    bye = send(token, HELLO | {"message": "Bye"}, key="k")
    elsewhere = send(token, HELLO, key="k", path="/api/v1/chat")
    theirs = send(other, HELLO, key="k")

    assert (bye.status_code, bye.json()["code"]) == (422, "idempotency_key_reused")
    assert (elsewhere.status_code, elsewhere.json()["code"]) == (422, "idempotency_key_reused")
    assert (theirs.status_code, "Idempotency-Replayed" in theirs.headers) == (202, False)
    assert Turn.objects.count() == 2


def test_a_first_request_without_an_answer_is_not_done_again(token: str) -> None:
    send(token, HELLO, key="k")
    KeptAnswer.objects.update(status=None, body="")  # its process was killed

    again = send(token, HELLO, key="k")

    assert (again.status_code, again.json()["code"]) == (409, "idempotency_key_in_use")
    assert Turn.objects.count() == 1


def test_a_refusal_is_not_kept_and_a_revoked_token_reads_no_answer(token: str) -> None:
    unknown = send(token, HELLO | {"user_id": "nobody"}, key="k")
    mended = send(token, HELLO, key="k")
    ServiceToken.objects.update(revoked_at=timezone.now())
    revoked = send(token, HELLO, key="k")

    assert (unknown.status_code, mended.status_code, revoked.status_code) == (404, 202, 401)


@pytest.mark.parametrize("key", ["", "k" * 201, "schlüssel"])
def test_a_key_that_is_none_is_refused(token: str, key: str) -> None:
    refused = send(token, HELLO, key=key)
    assert (refused.status_code, refused.json()["code"]) == (400, "idempotency_key_invalid")
    assert not Turn.objects.exists()


def test_answers_are_kept_for_a_day(token: str) -> None:
    send(token, HELLO, key="k")
    now = timezone.now()
    idempotency.prune(now=now)
    kept = KeptAnswer.objects.count()
    idempotency.prune(now=now + timedelta(days=1, seconds=1))
    assert (kept, KeptAnswer.objects.count()) == (1, 0)
