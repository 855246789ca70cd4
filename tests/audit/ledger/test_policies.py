"""Policies that decided are kept under lock, under their own digest, and go with the end."""

from hashlib import sha256
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, ProgrammingError, connections, transaction

from audit.keeping import end, erasure
from audit.ledger import ledger, policies, vault
from audit.models import LedgerPolicy
from audit.verification.rows import Verification
from tests.audit import sealed
from tests.audit.bundle import files as bundles
from tests.audit.entries import append_action, entry
from tests.audit.tampering import tampered

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
BODY = '{"recipient":"ada@secret.example"}'
DIGEST = sha256(BODY.encode()).hexdigest()
WHY: dict[str, Any] = {"reason": "contract 7 ended", "actor_id": "command:olga"}
REMOVE = "DELETE FROM audit_policy WHERE tenant_id = %s"
MISSING = "The policy that decided it is missing or altered."


@pytest.fixture
def tenant_id() -> UUID:
    """An organisation with a policy and a row that it decided."""
    tenant_id = uuid4()
    policies.store(tenant_id=tenant_id, digest=DIGEST, body=BODY)
    append_action(tenant_id=tenant_id, status="pending", policy_digest=DIGEST)
    return tenant_id


def body(tenant_id: UUID) -> str | None:
    return policies.body(tenant_id=tenant_id, digest=DIGEST)


def findings(tenant_id: UUID) -> list[str]:
    return [finding.sentence for finding in Verification(tenant_id=tenant_id)]


def write(statement: str, *parameters: Any, behind: tuple[str, tuple[Any, ...]] = ("", ())) -> None:
    """In one transaction, behind another statement."""
    with transaction.atomic(using="ledger"), connections["ledger"].cursor() as cursor:
        for sql, values in (behind, (statement, parameters)):
            if sql:
                cursor.execute(sql, values)


def test_a_policy_is_read_as_it_was_kept_and_lies_there_encrypted(tenant_id: UUID) -> None:
    row = LedgerPolicy.objects.get(tenant_id=tenant_id, digest=DIGEST)
    assert row.body is None
    assert b"secret" not in bytes(row.box or b"")
    assert body(tenant_id) == BODY
    assert body(uuid4()) is None
    assert policies.body(tenant_id=tenant_id, digest="0" * 64) is None
    assert findings(tenant_id) == []


def test_it_is_kept_once_and_under_its_own_digest_alone(tenant_id: UUID) -> None:
    before = LedgerPolicy.objects.get(tenant_id=tenant_id, digest=DIGEST).box
    policies.store(tenant_id=tenant_id, digest=DIGEST, body=BODY)
    assert LedgerPolicy.objects.get(tenant_id=tenant_id, digest=DIGEST).box == before
    with pytest.raises(ValueError, match="not the digest of this policy"):
        policies.store(tenant_id=tenant_id, digest="0" * 64, body=BODY)


def test_one_from_before_policies_were_encrypted_is_read_too() -> None:
    tenant_id = uuid4()
    write("INSERT INTO audit_policy (tenant_id, digest, body) VALUES (%s, %s, %s)",
          tenant_id, DIGEST, BODY)  # fmt: skip
    assert body(tenant_id) == BODY
    append_action(tenant_id=tenant_id, status="pending", policy_digest=DIGEST)
    assert findings(tenant_id) == []
    sealed.seal(tenant_id)
    bundles.make(tenant_id)
    assert end.load_state(tenant_id).bundle
    end.end(tenant_id, **WHY)
    assert not LedgerPolicy.objects.filter(tenant_id=tenant_id).exists()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_policy SET box = set_byte(box, 20, get_byte(box, 20) # 1) "
        "WHERE tenant_id = (SELECT tenant_id FROM audit_action WHERE id = %s)",
        "UPDATE audit_policy p SET box = q.box FROM audit_policy q "
        "WHERE p.tenant_id = (SELECT tenant_id FROM audit_action WHERE id = %s) "
        "AND q.tenant_id = p.tenant_id AND q.digest <> p.digest",
        "UPDATE audit_policy SET box = '' "
        "WHERE tenant_id = (SELECT tenant_id FROM audit_action WHERE id = %s)",
        "DELETE FROM audit_policy "
        "WHERE tenant_id = (SELECT tenant_id FROM audit_action WHERE id = %s)",
    ],
)
def test_a_policy_that_the_owner_of_the_database_altered_is_found(
    tenant_id: UUID, statement: str
) -> None:
    other = '{"recipient":"anybody"}'
    digest = sha256(other.encode()).hexdigest()
    policies.store(tenant_id=tenant_id, digest=digest, body=other)
    row = ledger.append(entry(tenant_id=tenant_id, policy_digest=DIGEST))
    with tampered(statement, row):
        assert findings(tenant_id) == [MISSING, MISSING]


def test_an_altered_policy_is_not_given_out(tenant_id: UUID) -> None:
    row = ledger.append(entry(tenant_id=tenant_id))
    with (
        tampered(
            "UPDATE audit_policy SET box = '' "
            "WHERE tenant_id = (SELECT tenant_id FROM audit_action WHERE id = %s)",
            row,
        ),
        pytest.raises(policies.Altered),
    ):
        body(tenant_id)


@pytest.mark.parametrize(
    ("written", "box"),
    [(None, None), (BODY, b"box")],
)
def test_the_database_takes_one_form_alone(written: str | None, box: bytes | None) -> None:
    with pytest.raises(IntegrityError):
        write("INSERT INTO audit_policy (tenant_id, digest, body, box) VALUES (%s, %s, %s, %s)",
              uuid4(), DIGEST, written, box)  # fmt: skip


def test_the_database_refuses_a_change_and_a_removal(tenant_id: UUID) -> None:
    for statement in (
        "UPDATE audit_policy SET recorded_at = now() WHERE tenant_id = %s",
        REMOVE,
    ):
        with pytest.raises(ProgrammingError, match="The ledger only inserts"):
            write(statement, tenant_id)
    with pytest.raises(ProgrammingError, match="The ledger only inserts"):
        write("TRUNCATE audit_policy")


def test_no_end_of_another_removes_it(tenant_id: UUID) -> None:
    other = uuid4()
    append_action(tenant_id=other)
    over = entry(tenant_id=other, phase="control", status="succeeded", action_type="ledger.end")
    with pytest.raises(ProgrammingError, match="The ledger only inserts"):
        write(REMOVE, tenant_id, behind=(end.END, ledger.in_the_clear(over)))
    assert body(tenant_id) == BODY


def test_a_row_that_only_says_so_removes_none(tenant_id: UUID) -> None:
    """The data key is still there, so nobody has looked for holds."""
    row = ledger.in_the_clear(
        entry(tenant_id=tenant_id, phase="redaction", status="succeeded", action_type="ledger.end")
    )
    said = (*row[:2], '{"payload":{"rows":[]}}')
    with pytest.raises(ProgrammingError, match="The ledger only inserts"):
        write(REMOVE, tenant_id, behind=(erasure.REDACT, said))
    assert body(tenant_id) == BODY


def test_it_goes_with_the_end_of_its_organisation_and_none_follows(tenant_id: UUID) -> None:
    other = uuid4()
    policies.store(tenant_id=other, digest=DIGEST, body=BODY)
    sealed.seal(tenant_id)
    bundles.make(tenant_id)
    worker = vault.DataKeys()
    worker.for_writing(tenant_id)
    end.end(tenant_id, **WHY)
    assert not LedgerPolicy.objects.filter(tenant_id=tenant_id).exists()
    assert body(tenant_id) is None
    assert body(other) == BODY
    assert findings(tenant_id) == []
    policies.store(tenant_id=tenant_id, digest=DIGEST, body=BODY)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(vault, "keys", worker)  # another process that has the key for a while
        policies.store(tenant_id=tenant_id, digest=DIGEST, body=BODY)
    assert not LedgerPolicy.objects.filter(tenant_id=tenant_id).exists()
