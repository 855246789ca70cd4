"""Undoing over the API, for callers that may and callers that may not."""

from uuid import uuid4

import pytest

from guardrails.contracts import ActionResult
from guardrails.execute.executor import execute
from tests.guardrails.office import Office
from tests.guardrails.test_api import Api, error

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture
def done(office: Office) -> ActionResult:
    office.permit("archive")
    return execute(office.request("archive", {"email_id": office.receive()}))


def test_the_user_takes_an_action_back(office: Office, done: ActionResult) -> None:
    api = Api(office.organisation, "approvals")
    path, body = f"/api/v1/actions/{done.action_id}/undo", {"user_id": office.user_id}
    first, again = api.post(path, body), api.post(path, body)
    assert (first.status_code, first.json()["status"]) == (200, "succeeded")
    assert first.json()["action_id"] != str(done.action_id)
    assert (again.status_code, again.json()["reason"]) == (200, "already_undone")
    assert "INBOX" in office.email(str(done.arguments["email_id"]))["labels"]
    assert len(office.calls()) == 2


def test_nobody_else_does(office: Office, done: ActionResult) -> None:
    path, body = f"/api/v1/actions/{done.action_id}/undo", {"user_id": office.user_id}
    api = Api(office.organisation, "approvals")
    assert error(api.post(path, {"user_id": "omar"})) == (404, "unknown_action")
    assert error(api.post(f"/api/v1/actions/{uuid4()}/undo", body)) == (404, "unknown_action")
    other = Api(office.organisation, "approvals", users=("omar",))
    assert error(other.post(path, body)) == (404, "unknown_user")
    assert Api(office.organisation, "policy").post(path, body).status_code == 403
    assert len(office.calls()) == 1
