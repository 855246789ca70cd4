"""The page from which an action is undone, without a browser."""

import pytest
from django.test import Client
from django.urls import reverse

from guardrails.contracts import ActionResult
from guardrails.execute.executor import execute
from tests.clients import log_in
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture
def done(office: Office) -> ActionResult:
    office.permit("archive")
    return execute(office.request("archive", {"email_id": office.receive(subject="<b>")}))


def address(result: ActionResult) -> str:
    return reverse("admin:guardrails_undo_of", args=[result.action_id])


def test_one_button_undoes(office: Office, client: Client, done: ActionResult) -> None:
    before = client.get(address(done)).content.decode()
    told = client.post(address(done), follow=True).content.decode()
    listed = client.get(reverse("admin:guardrails_undo_changelist")).content.decode()

    assert "Archive</h2>" in before
    assert "<bdi>“&lt;b&gt;”</bdi>" in before
    assert "What that does: Put the mail back into the inbox." in before
    assert 'aria-label="Undo: Archive' in before
    assert "Operator olga asked to undo it" in told
    assert "It was undone." in told
    assert 'aria-label="Undo: Archive' not in told
    assert "“&lt;b&gt;”" in listed
    assert "INBOX" in office.email(str(done.arguments["email_id"]))["labels"]


def test_what_was_not_done_has_no_button(office: Office, client: Client) -> None:
    refused = execute(office.request("archive", {"email_id": office.receive()}))
    text = client.get(address(refused)).content.decode()
    assert "This cannot be undone" in text
    assert 'aria-label="Undo' not in text


def test_who_may_only_look_cannot_undo(office: Office, done: ActionResult) -> None:
    looking = log_in("vera", "view_undo")
    assert 'aria-label="Undo: Archive' not in looking.get(address(done)).content.decode()
    assert looking.post(address(done)).status_code == 403
    assert len(office.calls()) == 1
