"""Held actions over the API, for callers that may and callers that may not."""

from uuid import uuid4

import pytest
from django.utils import timezone

from guardrails.contracts import Origin
from guardrails.execute.executor import execute
from guardrails.execute.releases import release_due
from guardrails.models import HeldSend
from tests.guardrails.office import Office
from tests.guardrails.test_api import Api, error

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
BOB = "bob@company.com"
HELD_SENDS = "/api/v1/held-sends"


@pytest.fixture
def api(office: Office) -> Api:
    return Api(office.organisation, "approvals")


@pytest.fixture
def held_send(office: Office) -> HeldSend:
    office.permit("send_email", hold_seconds=300)
    office.list_target("send_email", "recipient_domain", "company.com", "Us")
    wish = {"to": [BOB], "subject": "Hello", "body": "Hello."}
    execute(office.request("send_email", wish, origin=Origin(trigger="chat", user_words=BOB)))
    return HeldSend.objects.get()


def test_what_is_held_is_listed_with_everything_that_would_be_sent(
    office: Office, api: Api, held_send: HeldSend
) -> None:
    (row,) = api.get(HELD_SENDS, user_id=office.user_id, state="held").json()
    assert (row["id"], row["action_id"]) == (str(held_send.id), str(held_send.action_id))
    assert (row["type"], row["params"]["to"]) == ("send_email", [BOB])
    assert (row["state"], row["decided_at"], row["outcome"]) == ("held", None, "")
    assert api.get(HELD_SENDS, user_id=office.user_id, state="recalled").json() == []


def test_the_user_recalls(office: Office, api: Api, held_send: HeldSend) -> None:
    path, body = f"{HELD_SENDS}/{held_send.id}/recall", {"user_id": office.user_id}
    first, again = api.post(path, body), api.post(path, body)
    assert (first.status_code, first.json()) == (200, again.json())
    assert first.json()["state"] == "recalled"
    assert first.json()["outcome"] == "It was recalled before it was carried out."
    HeldSend.objects.update(until=timezone.now())
    assert release_due(now=timezone.now()) == 0
    assert office.calls() == []


def test_too_late_is_a_conflict(office: Office, api: Api, held_send: HeldSend) -> None:
    HeldSend.objects.update(until=timezone.now())
    release_due(now=timezone.now())
    answer = api.post(f"{HELD_SENDS}/{held_send.id}/recall", {"user_id": office.user_id})
    assert error(answer) == (409, "conflict")
    assert len(office.calls()) == 1


def test_nobody_else_sees_or_recalls_it(office: Office, api: Api, held_send: HeldSend) -> None:
    path, body = f"{HELD_SENDS}/{held_send.id}/recall", {"user_id": office.user_id}
    other = Api(office.organisation, "approvals", users=("omar",))
    without = Api(office.organisation, "policy")
    assert error(api.post(path, {"user_id": "omar"})) == (404, "unknown_held_send")
    assert error(api.post(f"{HELD_SENDS}/{uuid4()}/recall", body)) == (404, "unknown_held_send")
    assert error(other.post(path, body)) == (404, "unknown_user")
    assert other.get(HELD_SENDS, user_id=office.user_id).status_code == 404
    assert without.post(path, body).status_code == 403
    assert api.get(HELD_SENDS, user_id="omar").json() == []
    assert api.get(HELD_SENDS, user_id=office.user_id, state="gone").status_code == 400
    assert HeldSend.objects.get().state == "held"
