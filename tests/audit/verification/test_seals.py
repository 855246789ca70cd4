"""What rows cannot tell about themselves: whole actions that are gone, rows mended with the
ledger's own key, seals that were changed."""

from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command

from audit.ledger import chain, selectors
from audit.ledger.keys import tenant_key
from audit.models import ExecutedAgentAction, envelope
from audit.verification import seals
from audit.verification.rows import Verification
from tests.audit import sealed
from tests.audit.entries import append_action
from tests.audit.tampering import tampered

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture
def tenant_id() -> UUID:
    """Two actions, sealed one after the other."""
    tenant_id = uuid4()
    for _ in range(2):
        append_action(tenant_id=tenant_id)
        sealed.seal(tenant_id)
    return tenant_id


def sentences(tenant_id: UUID) -> list[str]:
    return [str(finding) for finding in Verification(tenant_id=tenant_id)]


def outcome_of(tenant_id: UUID) -> ExecutedAgentAction:
    rows = ExecutedAgentAction.objects.filter(tenant_id=tenant_id, phase="outcome")
    first: ExecutedAgentAction = rows.earliest("id")
    return first


def test_a_sealed_ledger_verifies_also_page_by_page(
    tenant_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sentences(tenant_id) == []
    monkeypatch.setattr(seals, "PAGE", 1)
    assert sentences(tenant_id) == []


def test_a_row_mended_with_the_ledgers_own_key_is_found(tenant_id: UUID) -> None:
    row = outcome_of(tenant_id)
    row.status = "failed"
    mac = chain.envelope_mac(tenant_key(tenant_id), chain.storable(envelope(row)))
    change = f"UPDATE audit_action SET status = 'failed', envelope_mac = '{mac}' WHERE id = %s"
    with tampered(change, row.id):
        assert sentences(tenant_id) == [f"row {row.id}: Its columns are not what was sealed."]


def test_what_only_the_database_dates_is_covered_too(tenant_id: UUID) -> None:
    row = outcome_of(tenant_id)
    change = "UPDATE audit_action SET recorded_at = recorded_at - interval '1 h' WHERE id = %s"
    with tampered(change, row.id):
        assert sentences(tenant_id) == [f"row {row.id}: Its columns are not what was sealed."]


def test_an_action_removed_with_all_its_rows_is_found(tenant_id: UUID) -> None:
    ids = [row.id for row in selectors.recorded(outcome_of(tenant_id).action_id)]
    with tampered(
        "WITH gone AS (SELECT id FROM audit_action WHERE id = ANY(ARRAY[%s, %s])),"
        " a AS (DELETE FROM audit_artifact WHERE row_id IN (SELECT id FROM gone)),"
        " b AS (DELETE FROM audit_payload WHERE row_id IN (SELECT id FROM gone))"
        " DELETE FROM audit_action WHERE id IN (SELECT id FROM gone)",
        *ids,
    ):
        assert sentences(tenant_id) == [
            f"row {row_id}: The row at place {place} was sealed and is gone."
            for place, row_id in enumerate(ids)
        ]
        with pytest.raises(CommandError, match="does NOT verify: 2 findings"):
            call_command("verify_ledger", f"--tenant={tenant_id}")


def test_a_leaf_changed_along_with_its_row_no_longer_fits_the_checkpoints(tenant_id: UUID) -> None:
    row = outcome_of(tenant_id)
    with tampered("UPDATE audit_leaf SET hash = sha256('x') WHERE row_id = %s", row.id):
        found = sentences(tenant_id)
    assert f"row {row.id}: Its columns are not what was sealed." in found
    assert f"The checkpoint of {tenant_id} with 2 rows does not fit the leaves." in found
    assert f"The checkpoint of {tenant_id} with 4 rows does not fit the leaves." in found


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("DELETE FROM audit_leaf WHERE row_id = %s", "The places 1 to 1 of {} are empty."),
        (
            "DELETE FROM audit_leaf WHERE row_id >= %s",
            "The leaves of {} end at 1, its checkpoints later.",
        ),
        (
            "DELETE FROM audit_checkpoint WHERE tenant_id = "
            "(SELECT tenant_id FROM audit_action WHERE id = %s)",
            "The leaves of {} go on behind its newest checkpoint.",
        ),
        (
            "UPDATE audit_checkpoint SET note = replace(note, E'\\n4\\n', E'\\n5\\n') "
            "WHERE size = 4 AND tenant_id = (SELECT tenant_id FROM audit_action WHERE id = %s)",
            "The checkpoint of {} with 4 rows: The checkpoint is not signed by this key.",
        ),
        (
            "UPDATE audit_checkpoint c SET note = d.note FROM audit_checkpoint d "
            "WHERE c.size = 4 AND d.size = 2 AND c.tenant_id = d.tenant_id "
            "AND c.tenant_id = (SELECT tenant_id FROM audit_action WHERE id = %s)",
            "The checkpoint of {} with 4 rows: its note says something else.",
        ),
    ],
)
def test_seals_that_were_changed_are_found(tenant_id: UUID, statement: str, sentence: str) -> None:
    with tampered(statement, outcome_of(tenant_id).id):
        assert sentence.format(tenant_id) in sentences(tenant_id)


def test_a_row_slipped_in_below_sealed_ones_is_found(tenant_id: UUID) -> None:
    late = append_action(tenant_id=tenant_id, status="pending")
    (row,) = selectors.recorded(late)
    with tampered("UPDATE audit_action SET xact = '1' WHERE id = %s", row.id):
        assert sentences(tenant_id) == [
            f"row {row.id}: It was slipped in below rows that are sealed."
        ]
