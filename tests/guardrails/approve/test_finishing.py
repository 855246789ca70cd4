"""Confirmed in a process that cannot open the account's secret: carried out by one that can."""

import pytest

from guardrails.execute import errands
from guardrails.models import Approval
from integrations.accounts import reads
from tests.guardrails.approvals import ask, confirm
from tests.guardrails.office import Office
from tests.office import run_next_task

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture
def waiting(office: Office) -> Approval:
    office.permit("create_jira_task", "ask")
    office.list_target("create_jira_task", "project", "PROJ", "Customer Portal")
    wish = {"project_key": "PROJ", "summary": "User Auth", "type": "task"}
    return ask(office, "create_jira_task", wish)


def test_the_cluster_carries_it_out_and_its_result_is_given(
    office: Office, waiting: Approval, not_here: None, cluster: None
) -> None:
    result = confirm(waiting)

    assert (result.status, set(result.result)) == ("succeeded", {"task_key", "url"})
    assert [call["body"]["summary"] for call in office.calls()] == ["User Auth"]
    assert Approval.objects.get(pk=waiting.pk).state == "executed"


def test_while_the_cluster_is_away_it_is_under_way_and_done_once_later(
    office: Office, waiting: Approval, not_here: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(errands, "WAIT_SECONDS", 0.0)

    result = confirm(waiting)

    assert (result.status, result.reason) == ("unknown", "outcome_unknown")
    assert office.calls() == []
    monkeypatch.setattr(reads, "can_be_asked_here", lambda _: True)
    while run_next_task():
        pass
    assert [call["body"]["summary"] for call in office.calls()] == ["User Auth"]
    assert confirm(waiting).status == "succeeded"
    assert len(office.calls()) == 1
