"""The ledger's rows cannot be changed: not by the ORM, not by SQL, not by an account's end."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import ProgrammingError, connection
from django.db.models import Model

from audit.ledger import ledger, policies, selectors
from audit.models import ActionArtifact, AppendOnly, ExecutedAgentAction, LedgerPayload
from tests.audit.entries import DRAFT, append_action, entry
from tests.audit.tampering import find_permitted

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)

MODELS: tuple[Any, ...] = (ExecutedAgentAction, LedgerPayload, ActionArtifact)
TABLES = ("audit_action", "audit_payload", "audit_artifact")
WRITES: tuple[Callable[[Any, Model], object], ...] = (
    lambda model, row: row.save(),
    lambda model, row: row.delete(),
    lambda model, row: model.objects.create(),
    lambda model, row: model.objects.get_or_create(pk=0),
    lambda model, row: model.objects.bulk_create([row]),
    lambda model, row: model.objects.bulk_update([row], ["tenant_id"]),
    lambda model, row: model.objects.filter(pk=row.pk).update(tenant_id=uuid4()),
    lambda model, row: model.objects.filter(pk=row.pk).delete(),
)


@pytest.mark.parametrize("model", MODELS)
def test_the_orm_refuses_to_write(model: Any) -> None:
    ledger.append(entry(artifacts=(DRAFT,)))
    row = model.objects.order_by("-pk").first()
    for write in WRITES:
        with pytest.raises(AppendOnly, match="only inserts"):
            write(model, row)


@pytest.mark.parametrize("alias", ["default", "ledger"])
def test_the_database_refuses_changes_by_sql(alias: str) -> None:
    append_action(tenant_id=uuid4())
    statements = (
        "UPDATE {} SET tenant_id = gen_random_uuid()",
        "DELETE FROM {}",
        "TRUNCATE {}",
        "TRUNCATE {} CASCADE",
        "SET session_replication_role = replica; DELETE FROM {}",
        "SET session_replication_role = replica; TRUNCATE {}",
        "MERGE INTO {} USING (SELECT 1) AS one ON true WHEN MATCHED THEN DELETE",
    )
    tried = [one.format(table) for one in statements for table in TABLES]
    assert find_permitted(tried, using=alias) == []


def test_an_upsert_cannot_change_a_row() -> None:
    ledger.append(entry())
    with (
        connection.cursor() as cursor,
        pytest.raises(ProgrammingError, match="The ledger only inserts"),
    ):
        cursor.execute(
            "INSERT INTO audit_payload SELECT * FROM audit_payload LIMIT 1 "
            "ON CONFLICT (action_id, row_id) DO UPDATE SET body = '{}'"
        )


def test_rows_outlive_what_they_name() -> None:
    user = User.objects.create(username="maya")
    action_id = append_action(tenant_id=uuid4(), on_behalf_of=str(user.pk))
    before = selectors.recorded(action_id)
    user.delete()
    assert selectors.recorded(action_id) == before


def test_the_flush_between_tests_leaves_the_ledger_alone() -> None:
    action_id = append_action(tenant_id=uuid4())
    call_command("flush", interactive=False, verbosity=0)
    assert len(selectors.recorded(action_id)) == 2


def test_no_foreign_key_leaves_or_enters_the_ledger() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conname FROM pg_constraint WHERE contype = 'f' AND "
            "(conrelid::regclass::text LIKE 'audit%%') != "
            "(confrelid::regclass::text LIKE 'audit%%')"
        )
        assert cursor.fetchall() == []


def test_going_back_is_refused_while_the_ledger_holds_rows() -> None:
    appended = entry()
    ledger.append(appended)
    policies.store(tenant_id=appended.tenant_id, digest=sha256(b"{}").hexdigest(), body="{}")
    try:
        with pytest.raises(ProgrammingError, match="The ledger holds"):
            call_command("migrate", "audit", "zero", verbosity=0)
    finally:
        call_command("migrate", verbosity=0)  # what went back before it was refused
