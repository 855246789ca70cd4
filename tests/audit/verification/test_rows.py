"""Tampering by somebody who can switch the triggers off is found and named by its row."""

from io import StringIO
from uuid import UUID, uuid4

import pytest
from django.core.checks import run_checks
from django.core.management import CommandError, call_command

from audit.bundle.rows import SealedRows
from audit.bundle.spool import Spool
from audit.database import guards
from audit.ledger import provider_side, selectors
from audit.models import ActionArtifact
from audit.verification.rows import Finding, Verification
from tests.audit import sealed
from tests.audit.entries import append_action
from tests.audit.tampering import tampered, undoing
from tests.commands import run_command

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def findings(tenant_id: UUID) -> list[Finding]:
    return list(Verification(tenant_id=tenant_id))


def rows_of(action_id: UUID) -> tuple[int, int]:
    attempt, outcome = selectors.recorded(action_id)
    return attempt.id, outcome.id


def test_a_ledger_that_nobody_touched_verifies(tenant_id: UUID) -> None:
    append_action(tenant_id=tenant_id, payload={"text": "a\x00b\ud800", "n": 2**70})
    left_open = append_action(tenant_id=tenant_id, status="pending")
    verification = Verification(tenant_id=tenant_id)
    assert list(verification) == []
    assert (verification.rows, verification.actions) == (3, 2)
    assert [row[1] for row in verification.open_attempts] == [left_open]


@pytest.mark.parametrize(
    "change",
    [
        "status = 'failed'",
        "decision = 'blocked'",
        "action_type = 'send_email'",
        "on_behalf_of = 'somebody'",
        "occurred_at = occurred_at - interval '1 second'",
        "latency_ms = 1",
        "target_row = 1",
        "account_id = gen_random_uuid()",
        "resource_key = ''",
        "payload_commitment = ''",
        "attempt_no = 2",
    ],
)
def test_an_altered_column_is_found_and_its_row_named(tenant_id: UUID, change: str) -> None:
    _, outcome = rows_of(append_action(tenant_id=tenant_id, resource_id="mail-1"))
    with tampered(f"UPDATE audit_action SET {change} WHERE id = %s", outcome):
        found = findings(tenant_id)
    assert f"row {outcome}: Its columns are not what was appended." in map(str, found)
    assert {finding.row_id for finding in found} == {outcome}


def test_a_row_moved_to_another_tenant_is_found_in_both(tenant_id: UUID) -> None:
    _, outcome = rows_of(append_action(tenant_id=tenant_id))
    elsewhere = uuid4()
    with tampered(f"UPDATE audit_action SET tenant_id = '{elsewhere}' WHERE id = %s", outcome):
        assert {finding.row_id for finding in findings(tenant_id)} == {outcome}
        assert "Its columns are not what was appended." in [
            finding.sentence for finding in findings(elsewhere)
        ]


@pytest.mark.parametrize(
    "change",
    [
        "box = set_byte(box, 40, get_byte(box, 40) # 1)",
        "box = substr(box, 1, 20)",
        "box = ''",
        "box = NULL, salt = '', body = '{}'",
    ],
)
def test_an_altered_payload_is_found(tenant_id: UUID, change: str) -> None:
    attempt, _ = rows_of(append_action(tenant_id=tenant_id))
    with tampered(f"UPDATE audit_payload SET {change} WHERE row_id = %s", attempt):
        (found,) = findings(tenant_id)
    assert str(found) == f"row {attempt}: Its payload is not the one that was appended."


def test_swapped_payloads_are_found(tenant_id: UUID) -> None:
    attempt, outcome = rows_of(append_action(tenant_id=tenant_id))
    with tampered(
        "UPDATE audit_payload p SET box = q.box FROM audit_payload q "
        "WHERE p.row_id IN (%s, %s) AND q.row_id IN (%s, %s) AND q.row_id <> p.row_id",
        attempt,
        outcome,
        attempt,
        outcome,
    ):
        assert [finding.row_id for finding in findings(tenant_id)] == [attempt, outcome]


def test_a_hidden_payload_is_found(tenant_id: UUID) -> None:
    _, outcome = rows_of(append_action(tenant_id=tenant_id))
    with tampered("DELETE FROM audit_payload WHERE row_id = %s", outcome):
        (found,) = findings(tenant_id)
    assert str(found) == f"row {outcome}: Its payload is missing and no redaction says why."


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_artifact SET external_id = 'other' WHERE row_id = %s",
        "UPDATE audit_artifact SET url_key = '' WHERE row_id = %s",
        "UPDATE audit_artifact SET digest = '' WHERE row_id = %s",
        "DELETE FROM audit_artifact WHERE row_id = %s",
    ],
)
def test_an_altered_or_removed_artifact_is_found(tenant_id: UUID, statement: str) -> None:
    _, outcome = rows_of(append_action(tenant_id=tenant_id))
    with tampered(statement, outcome):
        assert {finding.row_id for finding in findings(tenant_id)} == {outcome}


def test_a_removed_row_is_found_by_what_is_left_of_it(tenant_id: UUID) -> None:
    attempt, outcome = rows_of(append_action(tenant_id=tenant_id))
    with tampered("DELETE FROM audit_action WHERE id = %s", attempt):
        sentences = {str(finding) for finding in findings(tenant_id)}
    assert sentences == {
        f"row {outcome}: This outcome has no attempt before it.",
        f"row {attempt}: The row was removed: its payload is still there.",
    }


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("ALTER TABLE audit_action DISABLE TRIGGER audit_action_keep", "not ENABLE ALWAYS"),
        ("ALTER TABLE audit_action ENABLE TRIGGER audit_action_keep", "not ENABLE ALWAYS"),
        ("DROP TRIGGER audit_payload_keep_all ON audit_payload", "is missing"),
        (
            "CREATE OR REPLACE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RETURN OLD; END $$",
            "was changed",
        ),
        (
            "CREATE OR REPLACE TRIGGER audit_artifact_keep BEFORE UPDATE ON audit_artifact "
            "FOR EACH ROW EXECUTE FUNCTION audit_refuse(); "
            "ALTER TABLE audit_artifact ENABLE ALWAYS TRIGGER audit_artifact_keep",
            "was changed",
        ),
        (
            "CREATE OR REPLACE TRIGGER audit_action_keep BEFORE UPDATE OR DELETE ON audit_action "
            "FOR EACH ROW WHEN (OLD.id = 0) EXECUTE FUNCTION audit_refuse(); "
            "ALTER TABLE audit_action ENABLE ALWAYS TRIGGER audit_action_keep",
            "was changed",
        ),
    ],
)
def test_a_weakened_guard_is_found_by_the_system_check_and_by_verify(
    tenant_id: UUID, statement: str, sentence: str
) -> None:
    with undoing() as cursor:
        cursor.execute(statement)
        errors = [check for check in run_checks(databases=["default"]) if check.id == "audit.E001"]
        found = findings(tenant_id)
    assert errors
    assert all(sentence in error.msg for error in errors)
    assert [finding.sentence for finding in found] == [error.msg for error in errors]


def test_the_guards_are_as_they_should_be() -> None:
    assert guards.find_problems() == []
    assert [check for check in run_checks(databases=["default"]) if check.id == "audit.E001"] == []


def test_the_command_says_how_many_rows_verify(tenant_id: UUID) -> None:
    append_action(tenant_id=tenant_id, status="pending")
    said = run_command("verify_ledger", f"--tenant={tenant_id}")
    assert "has no outcome yet" in said
    assert said.splitlines()[-1].startswith("The ledger verifies: ")


def test_the_command_fails_and_names_the_row(tenant_id: UUID) -> None:
    _, outcome = rows_of(append_action(tenant_id=tenant_id))
    said = StringIO()
    with (
        tampered("UPDATE audit_action SET status = 'failed' WHERE id = %s", outcome),
        pytest.raises(CommandError, match="does NOT verify: 1 findings"),
    ):
        call_command("verify_ledger", f"--tenant={tenant_id}", stdout=said)
    assert f"FINDING row {outcome}: Its columns are not what was appended." in said.getvalue()


def test_artifacts_from_before_ids_were_keyed_verify_are_found_and_go_into_bundles(
    tenant_id: UUID,
) -> None:
    action_id = append_action(tenant_id=tenant_id)
    sealed.seal(tenant_id)
    artifact = ActionArtifact.objects.get(action_id=action_id)
    now = artifact_lines(tenant_id)
    assert b'"external_id":"draft-1"' in now
    assert artifact.external_id != "draft-1"
    assert provider_side.find_creators(tenant_id=tenant_id, external_ids=["draft-1"]) == {
        "draft-1": {action_id}
    }
    before = "UPDATE audit_artifact SET external_id = 'draft-1' WHERE row_id = %s"
    with tampered(before, artifact.row_id):
        assert list(Verification(tenant_id=tenant_id)) == []
        assert artifact_lines(tenant_id) == now
        assert provider_side.find_creators(tenant_id=tenant_id, external_ids=["draft-1"]) == {
            "draft-1": {action_id}
        }


def artifact_lines(tenant_id: UUID) -> bytes:
    with Spool() as artifacts:
        for _ in SealedRows(tenant_id, [0, 1]).payloads(artifacts):
            pass
        return b"".join(artifacts.chunks())
