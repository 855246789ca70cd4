"""Asking for what was refused over the API, for callers that may and callers that may not."""

from typing import Any
from uuid import uuid4

import pytest

from audit.ledger.selectors import recorded
from guardrails.contracts import ActionResult
from guardrails.execute.executor import execute
from guardrails.models import ChangeRequest
from integrations.models import Organisation
from tests.guardrails.change_requests import refuse
from tests.guardrails.office import CHAT, Office, webhook
from tests.guardrails.test_api import Api, error
from tests.guardrails.values import ADA

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
PATH = "/api/v1/change-requests"
MAIL = {"subject": "Hello", "body": "Text."}


@pytest.fixture
def api(office: Office) -> Api:
    return Api(office.organisation, "approvals")


def wish(office: Office, result: ActionResult) -> dict[str, str]:
    return {"user_id": office.user_id, "action_id": str(result.action_id)}


def test_a_user_asks_for_what_was_refused(office: Office, api: Api) -> None:
    result = refuse(office)

    answer = api.post(PATH, wish(office, result))

    assert answer.status_code == 201
    row = answer.json()
    assert row["action_id"] == str(result.action_id)
    assert (row["type"], row["state"], row["turn_id"]) == ("archive", "open", "turn-1")
    assert row["description"] == "Archive: “Lunch on Friday?”"
    assert row["differences"] == [
        "Allowed action “Archive a mail” added: a person is asked each time, only if a person in "
        "the chat set it off"
    ]
    assert row["sentence"].endswith("It waits for an operator.")
    assert api.get(PATH, user_id=office.user_id, state="open").json() == [row]
    assert api.get(PATH, user_id=office.user_id, state="declined").json() == []
    assert office.calls() == []


def test_asking_is_a_row_of_the_ledger_about_the_refusal(office: Office, api: Api) -> None:
    result = refuse(office)
    row = api.post(PATH, wish(office, result)).json()

    [asked] = recorded(ChangeRequest.objects.get().id)

    assert str(asked.action_id) == row["id"]
    assert (asked.action_type, asked.parent_action_id) == ("policy.request", result.action_id)
    assert asked.on_behalf_of == office.user_id
    assert asked.actor_id.startswith("token:")
    assert asked.payload["said"] == "asked"
    assert asked.payload["differences"] == row["differences"]


def test_the_same_wish_twice_is_one(office: Office, api: Api) -> None:
    first, second = refuse(office), refuse(office)

    answers = [api.post(PATH, wish(office, one)) for one in (first, first, second)]

    assert [one.status_code for one in answers] == [201, 200, 200]
    assert len({one.json()["id"] for one in answers}) == 1
    request = ChangeRequest.objects.get()
    assert request.times_refused == 2
    assert len(recorded(request.id)) == 2  # one row of the ledger for each refusal


def test_a_user_asks_only_so_often_within_a_day(office: Office, api: Api, settings: Any) -> None:
    settings.CHANGE_REQUESTS_PER_DAY = 1
    office.permit("send_email", "ask")
    one, other = (
        refuse(office, "send_email", {"to": [to], **MAIL}) for to in (ADA, "bob@client.com")
    )
    assert api.post(PATH, wish(office, one)).status_code == 201

    refused = api.post(PATH, wish(office, other))

    assert error(refused) == (429, "too_many_change_requests")
    assert api.post(PATH, wish(office, one)).status_code == 200
    assert ChangeRequest.objects.count() == 1


def test_what_no_change_permits_is_not_asked_for(office: Office, api: Api) -> None:
    invalid = refuse(office, "archive", {"email_id": "a b"})
    gone = refuse(office, "archive", {"email_id": "mail-nowhere"})
    email_id = office.receive()
    by_mail = refuse(
        office, "archive", {"email_id": email_id}, origin=webhook(email_id, "thread-1")
    )

    for one in (invalid, gone, by_mail):
        assert error(api.post(PATH, wish(office, one))) == (409, "no_change_permits_it")
    assert ChangeRequest.objects.count() == 0
    assert office.calls() == []


def test_what_was_done_is_not_asked_for(office: Office, api: Api) -> None:
    office.permit("archive")
    done = execute(office.request("archive", {"email_id": office.receive()}))
    assert error(api.post(PATH, wish(office, done))) == (409, "no_change_permits_it")


def test_what_is_permitted_by_now_is_not_asked_for(office: Office, api: Api) -> None:
    result = refuse(office)
    office.permit("archive")

    answer = api.post(PATH, wish(office, result))

    assert error(answer) == (409, "no_change_permits_it")
    assert "Ask the agent again" in answer.json()["error"]["message"]


def test_nobody_else_asks(office: Office, api: Api) -> None:
    result = refuse(office)
    body = wish(office, result)
    stranger = Organisation.objects.create(slug=f"org-{uuid4().hex[:8]}", name="Others")
    foreign = Api(stranger, "approvals")

    assert error(foreign.post(PATH, body)) == (404, "unknown_action")
    assert foreign.get(PATH, user_id=office.user_id).json() == []
    assert error(api.post(PATH, body | {"user_id": "omar"})) == (404, "unknown_action")
    assert error(api.post(PATH, body | {"action_id": str(uuid4())})) == (404, "unknown_action")
    omar = Api(office.organisation, "approvals", users=("omar",))
    assert error(omar.post(PATH, body)) == (404, "unknown_user")
    assert error(omar.get(PATH, user_id=office.user_id)) == (404, "unknown_user")
    assert Api(office.organisation, "policy").post(PATH, body).status_code == 403
    assert ChangeRequest.objects.count() == 0


def test_another_users_refusal_is_unknown(office: Office, api: Api) -> None:
    theirs = refuse(office, origin=CHAT)
    office.mailbox.external_user_id = "omar"
    office.mailbox.save()
    assert error(api.post(PATH, wish(office, theirs))) == (404, "unknown_action")


@pytest.mark.parametrize(
    "changes", [{"action_id": "x"}, {"user_id": ""}, {"user_id": 1}, {"mode": "auto"}]
)
def test_a_request_that_is_not_understood_is_refused(
    office: Office, api: Api, changes: dict[str, Any]
) -> None:
    body = {"user_id": office.user_id, "action_id": str(uuid4())}
    assert api.post(PATH, body | changes).status_code == 400
    assert api.get(PATH, user_id=office.user_id, state="x").status_code == 400
