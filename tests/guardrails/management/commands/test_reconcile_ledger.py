import io

import httpx
import pytest
from django.core.management import CommandError, call_command
from django_q.models import OrmQ

from agents import tasks
from audit.ledger.selectors import about_ledger
from guardrails.comply.reconciliation import run as reconciliation
from guardrails.comply.reconciliation.rows import STEP, SUMMARY
from tests.commands import run_command
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def run(*arguments: str) -> str:
    return run_command("reconcile_ledger", *arguments)


def test_it_says_that_all_agrees(office: Office) -> None:
    slug = office.organisation.slug
    told = run("--organisation", slug, "--days", "3")
    assert told.splitlines() == [
        f"{slug}: 4 of 5 accounts compared, 0 effects: provider and ledger agree.",
        f"  {office.user_id} mcp: not compared. This provider keeps no history: what was done "
        "cannot be compared.",
    ]


def test_a_disagreement_ends_it_with_an_error(office: Office) -> None:
    email_id = office.receive()
    httpx.post(
        f"{office.sandbox.url}/users/{office.user_id}/emails/{email_id}/archive",
        headers=office.sandbox.headers,
        verify=False,
    ).raise_for_status()
    out = io.StringIO()
    with pytest.raises(CommandError, match="disagree: 1 incidents"):
        call_command("reconcile_ledger", "--organisation", office.organisation.slug, stdout=out)
    assert f"INCIDENT {office.user_id} gmail: email {email_id} changed at" in out.getvalue()


@pytest.mark.parametrize("arguments", [("--days", "0"), ("--organisation", "none")])
def test_what_is_not_there_is_refused(office: Office, arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        run(*arguments)
    assert about_ledger(office.organisation.id, SUMMARY) == ()


def test_the_schedule_runs_it_once_when_it_is_due(office: Office) -> None:
    for _ in range(2):
        tasks.reconcile()
        OrmQ.objects.all().delete()
        tasks.reconcile_organisation(str(office.organisation.id))
    assert len(about_ledger(office.organisation.id, SUMMARY)) == 1
    tasks.reconcile()
    queued = [row.task["args"] for row in OrmQ.objects.all()]
    assert (str(office.organisation.id),) not in queued


def test_a_large_organisation_is_compared_in_tasks_that_follow_each_other(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconciliation, "ACCOUNTS", 2)
    for waiting in (1, 1, 0):
        OrmQ.objects.all().delete()
        tasks.reconcile_organisation(str(office.organisation.id))
        assert OrmQ.objects.count() == waiting
    rows = about_ledger(office.organisation.id, SUMMARY, STEP)
    assert [row.action_type for row in rows] == [SUMMARY, STEP, STEP]
    assert len({row.action_id for row in rows}) == 1
    tasks.reconcile_organisation(str(office.organisation.id))
    assert len(about_ledger(office.organisation.id, SUMMARY, STEP)) == 3
