"""A month in numbers and sentences, counted exactly from what happened."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from audit.ledger.months import Month
from audit.verification.verify import verify
from guardrails.comply import health
from guardrails.comply.reconciliation.run import reconcile
from guardrails.contracts import ActionResult, Origin
from guardrails.execute import held_sends, undo
from guardrails.execute.executor import execute
from guardrails.models import Approval, HeldSend
from tests.audit.entries import append_action
from tests.guardrails.approvals import confirm, reject
from tests.guardrails.office import Office, interrupted

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
NOW = timezone.now


def month(office: Office) -> health.Health:
    return health.health(office.organisation.id, month=Month.of(NOW()))


def archive(office: Office) -> ActionResult:
    return execute(office.request("archive", {"email_id": office.receive()}))


def test_a_month_without_anything_says_so() -> None:
    found = health.health(uuid4(), month=Month.parse("2026-11"))
    assert found.is_empty
    assert found.sentences == ("Nothing was recorded in this month.",)
    assert (found.actions, found.refusals, found.tally.asked) == ([], [], 0)


def test_a_month_is_counted_exactly(office: Office) -> None:
    archive(office)
    interrupted(office)
    first = archive(office)
    archive(office)
    office.permit("mark_read", "ask")
    for _ in range(3):
        execute(office.request("mark_read", {"email_id": office.receive(labels=["UNREAD"])}))
    one, two, _ = Approval.objects.order_by("created_at")
    confirm(one, decided_by="operator:olga")
    reject(two, decided_by="operator:olga")
    undo.undo(organisation_id=office.organisation.id, action_id=first.action_id, by="operator:olga")
    list(verify([office.organisation.id]))
    reconcile(office.organisation, now=NOW())

    found = month(office)

    counted = {(title, status): number for title, status, number in found.actions}
    assert sum(counted.values()) == 8
    assert counted["Archive a mail", "succeeded"] == 2
    assert counted["Archive a mail", "pending"] == 1
    assert counted["Archive a mail", "blocked"] == 1
    assert found.refusals == [("No operator permits this action for this account.", 1)]
    told = found.tally
    assert (told.asked, told.approved, told.rejected, told.expired) == (3, 1, 1, 0)
    assert told.seconds_to_decide is not None
    assert 0 <= told.seconds_to_decide < 60
    assert (told.open_attempts, told.undone, told.incidents, told.clocks_apart) == (1, 1, 0, 0)
    assert "Nobody knows yet whether 1 action was done." in found.sentences
    assert "0 held sends were recalled and 1 actions undone." in found.sentences
    assert found.verified.endswith("records are as they were appended.")
    assert found.reconciled.startswith("4 of 5 accounts compared")


def test_records_whose_clocks_disagree_are_counted(office: Office) -> None:
    tenant_id = office.organisation.id
    at = datetime.now(UTC) - timedelta(seconds=3)
    append_action(tenant_id=tenant_id, status="pending", occurred_at=at)
    archive(office)

    found = month(office)

    assert ("Records with clocks more than 2 s apart", "1") in found.figures
    sentence = "Worker and database disagreed about the time, by more than 2 s, in 1 record."
    assert sentence in found.sentences


def test_recalls_and_suspended_patterns_are_counted(office: Office) -> None:
    office.permit("send_email", hold_seconds=300)
    office.list_target("send_email", "recipient_domain", "company.com", "Us")
    typed = Origin(trigger="chat", turn_id="turn-1", user_words="bob@company.com")
    mail = {"to": ["bob@company.com"], "subject": "Hello", "body": "Hello."}
    execute(office.request("send_email", mail, origin=typed))
    held_sends.recall(
        organisation_id=office.organisation.id,
        held_send_id=HeldSend.objects.get().id,
        by="operator:olga",
    )
    assert month(office).tally.recalled == 1
    assert month(office).patterns_suspended == 0


def test_other_months_and_organisations_are_not_counted(office: Office) -> None:
    office.permit("archive")
    archive(office)
    assert health.health(uuid4(), month=Month.of(NOW())).is_empty
    earlier = Month.of(NOW()).preceding
    assert health.health(office.organisation.id, month=earlier).is_empty


def test_a_csv_runs_nothing(office: Office) -> None:
    execute(office.request("=cmd()", {}))
    lines = health.as_csv(month(office)).decode().splitlines()
    assert lines[0] == "section,what,status,value"
    assert "actions,'=cmd(),blocked,1" in lines
