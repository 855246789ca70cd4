"""Verifications that are remembered."""

from datetime import timedelta
from io import StringIO
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from audit import tasks
from audit.contracts import Recorded
from audit.ledger.selectors import about_ledger, recorded
from audit.models import ExecutedAgentAction
from audit.verification.verify import ACTION_TYPE, find_last, verify
from tests.audit.entries import append_action
from tests.audit.sealed import seal
from tests.audit.tampering import tampered

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def results(tenant_id: UUID) -> tuple[Recorded, ...]:
    return about_ledger(tenant_id, ACTION_TYPE)


def said(tenant_id: UUID, *, later: timedelta = timedelta(0)) -> str:
    return find_last(tenant_id, now=timezone.now() + later).sentence


def test_each_verification_is_a_row_with_its_result(tenant_id: UUID) -> None:
    append_action(tenant_id=tenant_id)
    append_action(tenant_id=tenant_id, status="pending")
    assert said(tenant_id) == "It was never verified."

    (one,) = verify([tenant_id])

    (row,) = results(tenant_id)
    assert (one.rows, one.findings, one.is_recorded) == (3, (), True)
    assert (row.phase, row.status, row.payload["rows"]) == ("control", "recorded", 3)
    assert row.payload["open_attempts"] == 1
    assert said(tenant_id, later=timedelta(hours=3)) == (
        "Last verified 3 h ago: 3 records, as they were appended."
    )


@pytest.fixture
def outcome(tenant_id: UUID, monkeypatch: pytest.MonkeyPatch) -> int:
    """A row that does not verify. (Really altering it needs a transaction, inside of which
    nothing is recorded.)"""
    _, found = rows_of(append_action(tenant_id=tenant_id))

    def altered(row: ExecutedAgentAction) -> list[str]:
        return ["Its columns are not what was appended."] if row.id == found else []

    monkeypatch.setattr("audit.verification.rows.find_alterations", altered)
    return found


def rows_of(action_id: UUID) -> list[int]:
    return [row.id for row in recorded(action_id)]


def test_a_ledger_that_was_altered_is_remembered_so(tenant_id: UUID, outcome: int) -> None:
    (one,) = verify([tenant_id])
    (row,) = results(tenant_id)
    assert [finding.row_id for finding in one.findings] == [outcome]
    assert (row.status, row.error_code) == ("failed", "not_as_appended")
    assert row.payload["first_findings"] == [
        f"row {outcome}: Its columns are not what was appended."
    ]
    standing = find_last(tenant_id, now=timezone.now())
    assert not standing.is_sound
    assert "it does NOT verify. 1 of 2 records are not as they were appended." in standing.sentence


def test_the_command_records_what_it_found(
    tenant_id: UUID, outcome: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CommandError, match="does NOT verify: 1 findings in 2 rows"):
        call_command("verify_ledger", f"--tenant={tenant_id}", stdout=StringIO())
    monkeypatch.undo()
    call_command("verify_ledger", f"--tenant={tenant_id}", stdout=StringIO())
    assert [row.status for row in results(tenant_id)] == ["recorded", "failed"]


def test_a_result_that_cannot_be_recorded_is_returned_all_the_same(
    tenant_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    from audit.ledger.ledger import LedgerUnavailable

    def down(*given: object, **named: object) -> UUID:
        raise LedgerUnavailable

    append_action(tenant_id=tenant_id)
    monkeypatch.setattr("audit.ledger.events.record", down)
    (one,) = verify([tenant_id])
    assert (one.rows, one.is_recorded) == (2, False)
    told, complaint = StringIO(), StringIO()
    call_command("verify_ledger", f"--tenant={tenant_id}", stdout=told, stderr=complaint)
    assert told.getvalue().startswith("The ledger verifies: 2 rows")
    assert complaint.getvalue() == "The result could not be recorded in the ledger.\n"
    assert results(tenant_id) == ()


def test_the_last_days_alone_are_looked_at_but_what_was_sealed_in_them_wholly(
    tenant_id: UUID,
) -> None:
    _, old = rows_of(append_action(tenant_id=tenant_id))
    seal(tenant_id)
    since = timezone.now()
    append_action(tenant_id=tenant_id)
    seal(tenant_id)

    (recent,) = verify([tenant_id], since=since)
    assert (recent.rows, recent.findings) == (2, ())
    assert results(tenant_id)[0].payload["since"].startswith(f"{since:%Y-%m-%d}")
    assert f"back to {since:%Y-%m-%d}" in said(tenant_id)

    with tampered("UPDATE audit_action SET status = 'failed' WHERE id = %s", old):
        (recent,) = verify([tenant_id], since=since)
        (whole,) = verify([tenant_id])
    assert recent.findings == ()
    assert {finding.row_id for finding in whole.findings} == {old}


def test_a_row_altered_in_the_last_days_is_found_by_both(tenant_id: UUID) -> None:
    append_action(tenant_id=tenant_id)
    seal(tenant_id)
    since = timezone.now()
    _, new = rows_of(append_action(tenant_id=tenant_id))
    seal(tenant_id)
    with tampered("UPDATE audit_action SET status = 'failed' WHERE id = %s", new):
        (recent,) = verify([tenant_id], since=since)
    assert {finding.row_id for finding in recent.findings} == {new}


@pytest.mark.parametrize("task", [tasks.verify_recent, tasks.verify_everything])
def test_the_schedules_record_every_organisation(
    tenant_id: UUID, monkeypatch: pytest.MonkeyPatch, task: object
) -> None:
    append_action(tenant_id=tenant_id)
    monkeypatch.setattr("audit.verification.seals.list_tenants", lambda: [tenant_id, uuid4()])
    assert callable(task)
    task()
    (row,) = results(tenant_id)
    assert (row.payload["since"] is None) == (task is tasks.verify_everything)
