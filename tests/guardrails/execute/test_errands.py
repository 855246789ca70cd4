"""What a person wants done in a process that cannot open the account's secret: carried out by one
that can."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django_q.models import OrmQ

from guardrails.approve import approvals
from guardrails.execute import errands
from guardrails.execute.undo import undo
from guardrails.models import Approval, Errand
from integrations.accounts import reads
from tests.guardrails.approvals import ask, confirm
from tests.guardrails.office import Office
from tests.office import run_next_task

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
WISH = {"project_key": "PROJ", "summary": "User Auth", "type": "task"}


@pytest.fixture(autouse=True)
def permitted(office: Office) -> None:
    office.permit("create_jira_task", "ask")
    office.list_target("create_jira_task", "project", "PROJ", "Customer Portal")


def edited(waiting: Approval) -> Approval:
    result = approvals.edit(
        organisation_id=waiting.organisation_id,
        approval_id=waiting.id,
        decided_by="operator:olga",
        changes={"summary": "Log-in"},
    )
    assert result.status == "pending"
    return Approval.objects.get(action_id=result.action_id)


def test_an_edit_is_decided_by_the_cluster_and_its_card_is_given(
    office: Office, not_here: None, cluster: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(reads, "can_be_asked_here", lambda _: True)
        waiting = ask(office, "create_jira_task", WISH)

    new = edited(waiting)

    assert (new.arguments["summary"], new.state) == ("Log-in", "pending")
    assert Approval.objects.get(pk=waiting.pk).state == "superseded"
    assert not Errand.objects.exists()
    assert office.calls() == []


def trashed(office: Office) -> Approval:
    office.permit("trash_email", "ask")
    office.receive(id="mail-1", labels=["INBOX", "UNREAD"])
    waiting = ask(office, "trash_email", {"email_id": "mail-1"})
    assert confirm(waiting).status == "succeeded"
    assert "TRASH" in office.email("mail-1")["labels"]
    return waiting


def test_undo_is_carried_out_by_the_cluster(
    office: Office, not_here: None, cluster: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(reads, "can_be_asked_here", lambda _: True)
        done = trashed(office)

    result = undo(
        organisation_id=done.organisation_id, action_id=done.action_id, by="operator:olga"
    )

    assert result.status == "succeeded"
    assert set(office.email("mail-1")["labels"]) == {"INBOX", "UNREAD"}
    assert not Errand.objects.exists()


def test_what_the_ledger_tells_asks_nobody(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = ask(office, "create_jira_task", WISH)
    assert confirm(waiting).status == "succeeded"
    monkeypatch.setattr(reads, "can_be_asked_here", lambda _: False)

    assert confirm(waiting).status == "succeeded"

    assert (Errand.objects.count(), OrmQ.objects.count()) == (0, 0)
    assert len(office.calls()) == 1


def test_what_nobody_waits_for_any_more_is_not_carried_out(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = trashed(office)
    monkeypatch.setattr(reads, "can_be_asked_here", lambda _: False)
    monkeypatch.setattr(errands, "WAIT_SECONDS", 0.0)
    result = undo(
        organisation_id=done.organisation_id, action_id=done.action_id, by="operator:olga"
    )
    assert (result.status, result.reason) == ("unknown", "outcome_unknown")
    # The task carries an id and nothing of what is to be done.
    (task,) = OrmQ.objects.all()
    assert task.task["args"] == (str(Errand.objects.get().id),)

    errands.forget_old(now=timezone.now() + timedelta(minutes=11))
    monkeypatch.setattr(reads, "can_be_asked_here", lambda _: True)
    while run_next_task():
        pass

    assert "TRASH" in office.email("mail-1")["labels"]
