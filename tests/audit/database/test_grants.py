"""Separate database roles: each tries everything, and may do its own work alone."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.utils import timezone

from audit.contracts import LEDGER_TENANT
from audit.database import clock, grants, start
from audit.keeping import end, erasure, rewrapping
from audit.ledger import events, ids, ledger
from audit.ledger.months import Month
from tests.audit.databases import command, connected, fresh_database, manage, url
from tests.audit.entries import DRAFT, append_by, entry

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
]
PREFIX = f"t{os.getpid()}_"
PASSWORD = "only-for-this-test"
LOG_IN = [role for role in grants.ROLES if role != "owner"]
MONTH = f"audit_action_{Month.of(timezone.now()).suffix}"
REFUSED = psycopg.errors.InsufficientPrivilege
Session = psycopg.Connection[tuple[Any, ...]]


@dataclass(frozen=True)
class Separate:
    """A database with separate roles, and one row in its ledger."""

    owner: str
    name: str

    @contextmanager
    def session(self, role: str) -> Iterator[Session]:
        with psycopg.connect(self.url(role), autocommit=True) as session:
            yield session

    def url(self, role: str) -> str:
        return url(self.name, user=PREFIX + role, password=PASSWORD)


@pytest.fixture(scope="module")
def separate(django_db_setup: None) -> Iterator[Separate]:
    try:
        with fresh_database() as database:
            for _ in range(2):  # a second time changes nothing
                said = apply(database, ",".join(f"{role}={PASSWORD}" for role in LOG_IN))
                assert "Error" not in said
            with psycopg.connect(database, autocommit=True) as session:
                for _ in range(10):
                    append(session)
            yield Separate(owner=database, name=database.rpartition("/")[2])
    finally:
        with psycopg.connect(url("postgres"), autocommit=True) as session:
            for role in grants.ROLES:
                session.execute(f"DROP ROLE IF EXISTS {PREFIX}{role}")


def apply(database: str, passwords: str) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEDGER_ROLE_PASSWORDS", passwords)
        return command("ledger_roles", "--apply", "--prefix", PREFIX, database=database)


def append(session: Session) -> None:
    wanted = entry(phase="outcome", status="succeeded", artifacts=(DRAFT,))
    append_by(session, wanted)


def redact(session: Session) -> None:
    found = session.execute(
        "SELECT id, tenant_id FROM audit_action WHERE phase = 'outcome' AND NOT EXISTS (SELECT "
        "FROM audit_action r WHERE r.phase = 'redaction' AND r.tenant_id = audit_action.tenant_id)"
    ).fetchone()
    assert found
    row_id, tenant_id = found
    said: dict[str, Any] = {"action_id": ids.uuid7(), "reason": "", "actor_id": ""}
    session.execute(erasure.REDACT, erasure.build_redaction([row_id], tenant_id=tenant_id, **said))


def end_one(session: Session) -> None:
    found = session.execute(
        "SELECT tenant_id FROM audit_action a WHERE NOT EXISTS (SELECT FROM audit_action e "
        "WHERE e.tenant_id = a.tenant_id AND e.action_type = 'ledger.end') LIMIT 1"
    ).fetchone()
    assert found
    said = entry(
        tenant_id=found[0], phase="control", status="succeeded", action_type=end.ACTION_TYPE
    )
    session.execute(end.END, ledger.in_the_clear(said))


def rewrap(session: Session) -> None:
    """Who may not read data keys names a wrong one, which the function itself refuses."""
    said = entry(phase="control", status="succeeded", action_type=rewrapping.ACTION_TYPE)
    with pytest.raises(psycopg.errors.RaiseException, match="changed or destroyed meanwhile"):
        session.execute(rewrapping.REWRAP, [*ledger.in_the_clear(said), b"one", b"other"])


def step(session: Session) -> None:
    said = events.build_entry(clock.ACTION_TYPE, tenant_id=LEDGER_TENANT, payload={})
    session.execute(clock.RECORD, ledger.in_the_clear(said))


def read(session: Session) -> None:
    for table in (
        *("action", "payload", "artifact", "leaf", "checkpoint", "policy", "signing_key"),
        *("anchor", "anchor_token"),
    ):
        session.execute(f"SELECT * FROM audit_{table}")


def set_column(column: str, value: str) -> Callable[[Session], None]:
    """Append a row and set what the database dates and numbers itself."""

    def set_it(session: Session) -> None:
        first = "INSERT INTO audit_action ("
        named = ledger.APPEND.replace(first, f"{first}{column}, ")
        overriding = "OVERRIDING SYSTEM VALUE" if column == "id" else ""
        session.execute(
            named.replace("    SELECT ", f"    {overriding} SELECT {value}, ", 1),
            ledger.parameters(entry()),
        )

    return set_it


def sql(statement: str) -> Callable[[Session], None]:
    return lambda session: session.execute(statement)  # type: ignore[return-value]


LEAF = (
    "INSERT INTO audit_leaf (row_id, action_id, tenant_id, leaf_index, xact, hash) "
    "VALUES ((random() * 1e9)::bigint, gen_random_uuid(), gen_random_uuid(), 0, '5', sha256(''))"
)
CHECKPOINT = (
    "INSERT INTO audit_checkpoint (tenant_id, size, root, frontier, note, verifier_key) "
    "VALUES (gen_random_uuid(), 1, sha256(''), ARRAY[sha256('')], '', '')"
)
ANCHOR = "INSERT INTO audit_anchor (checkpoint_id, leaves, root) VALUES (1, sha256(''), sha256(''))"
SIGNING_KEY = (
    "INSERT INTO audit_signing_key (public, statement) VALUES (sha256(random()::text::bytea), 'x')"
)
NEVER = {
    "set recorded_at": set_column("recorded_at", "now() - interval '1 day'"),
    "set xact": set_column("xact", "'3'"),
    "set id": set_column("id", "1000000"),
    "date a checkpoint": sql(
        CHECKPOINT.replace("(tenant_id", "(signed_at, tenant_id").replace(
            "VALUES (", "VALUES (now(), "
        )
    ),
    "change a data key": sql("UPDATE audit_data_key SET wrapped = NULL"),
    "delete a data key": sql("DELETE FROM audit_data_key"),
    "date an anchor": sql(
        ANCHOR.replace("(checkpoint_id", "(made_at, checkpoint_id").replace(
            "VALUES (", "VALUES (now(), "
        )
    ),
    "date a signing key": sql(
        SIGNING_KEY.replace("(public", "(named_at, public").replace("VALUES (", "VALUES (now(), ")
    ),
    "update": sql("UPDATE audit_action SET status = 'failed'"),
    "update a month": sql(f"UPDATE {MONTH} SET status = 'failed'"),
    "delete": sql("DELETE FROM audit_action"),
    "delete payloads": sql("DELETE FROM audit_payload"),
    "delete leaves": sql("DELETE FROM audit_leaf"),
    "truncate": sql("TRUNCATE audit_action"),
    "truncate a month": sql(f"TRUNCATE {MONTH}"),
    "insert into a month": sql(
        f"INSERT INTO {MONTH} OVERRIDING SYSTEM VALUE SELECT * FROM {MONTH}"
    ),
    "replica mode": sql("SET session_replication_role = replica"),
    "disable triggers": sql("ALTER TABLE audit_action DISABLE TRIGGER ALL"),
    "drop": sql(f"DROP TABLE {MONTH}"),
    "detach": sql(f"ALTER TABLE audit_action DETACH PARTITION {MONTH}"),
    "any month": sql("SELECT audit_make_month('2020-01-01')"),
    "replace the guard": sql(
        "CREATE OR REPLACE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RETURN OLD; END $$"
    ),
    "become the owner": sql(f"SET ROLE {PREFIX}owner"),
}
WORK = {
    "read data keys": sql("SELECT * FROM audit_data_key"),
    "append": append,
    "read": read,
    "leaf": sql(LEAF),
    "checkpoint": sql(CHECKPOINT),
    "signing key": sql(SIGNING_KEY),
    "anchor": sql(ANCHOR),
    "redact": redact,
    "end an organisation": end_one,
    "wrap a data key anew": rewrap,
    "clock": step,
    "make months": sql("SELECT audit_make_months_ahead(3)"),
}
MAY = {
    "app": {"append", "read", "read data keys", "make months", "signing key", "anchor"},
    "sealer": {"read", "leaf", "checkpoint", "signing key", "clock"},
    "export": {"read"},
    "privacy": {"redact", "end an organisation", "wrap a data key anew"},
}


@pytest.mark.parametrize("role", MAY)
def test_a_role_does_its_own_work_and_nothing_else(role: str, separate: Separate) -> None:
    with separate.session(role) as session:
        done = set()
        for name, attempt in (WORK | NEVER).items():
            try:
                attempt(session)
                done.add(name)
            except REFUSED:
                pass
    assert done == MAY[role]


def test_the_owner_cannot_log_in(separate: Separate) -> None:
    with psycopg.connect(separate.owner, autocommit=True) as session:
        session.execute(f"ALTER ROLE {PREFIX}owner PASSWORD '{PASSWORD}'")
        with pytest.raises(psycopg.OperationalError, match="not permitted to log in"):
            psycopg.connect(separate.url("owner"))
        session.execute(f"ALTER ROLE {PREFIX}owner PASSWORD NULL")


@pytest.mark.parametrize("year", [2001, 2099])
def test_the_application_cannot_date_an_action_far_back_or_ahead(
    year: int, separate: Separate
) -> None:
    at = ids.floor(datetime(year, 1, 1, tzinfo=UTC))
    with separate.session("app") as session, pytest.raises(psycopg.errors.CheckViolation):
        append_by(session, entry(action_id=at))
    with separate.session("app") as session, pytest.raises(psycopg.errors.CheckViolation):
        append_by(session, entry(action_id=uuid4()))


def test_a_month_made_later_by_the_application_is_the_owners_and_guarded(
    separate: Separate,
) -> None:
    with separate.session("app") as session:
        made = session.execute("SELECT * FROM audit_make_months_ahead(5)").fetchall()
        assert len(made) == 2
        owners = session.execute(
            "SELECT DISTINCT pg_get_userbyid(relowner) FROM pg_class WHERE relname ~ '^audit_.*_20'"
        ).fetchall()
        assert owners == [(f"{PREFIX}owner",)]
    said = command("check", "--database=default", database=separate.url("app"))
    assert "audit.E" not in said


def test_the_sealer_seals_under_its_own_role(separate: Separate) -> None:
    sealed = command(
        "seal_ledger",
        "--once",
        database=separate.url("sealer"),
        PROCESS="sealer",
        LEDGER_SIGNING_KEY="A" * 43 + "=",
    )
    assert sealed.startswith("Sealed ")


@pytest.mark.parametrize(
    ("weaken", "mend", "sentence"),
    [
        (
            f"GRANT UPDATE ON audit_action TO {PREFIX}app",
            f"REVOKE UPDATE ON audit_action FROM {PREFIX}app",
            f'REVOKE UPDATE ON audit_action FROM "{PREFIX}app"',
        ),
        (
            "GRANT DELETE ON audit_payload TO PUBLIC",
            "REVOKE DELETE ON audit_payload FROM PUBLIC",
            "REVOKE DELETE ON audit_payload FROM PUBLIC",
        ),
        (
            f"GRANT TRUNCATE ON {MONTH} TO {PREFIX}export",
            f"REVOKE TRUNCATE ON {MONTH} FROM {PREFIX}export",
            f'REVOKE TRUNCATE ON {MONTH} FROM "{PREFIX}export"',
        ),
        (
            f"GRANT INSERT (recorded_at) ON audit_action TO {PREFIX}app",
            f"REVOKE INSERT (recorded_at) ON audit_action FROM {PREFIX}app",
            f'REVOKE INSERT (recorded_at) ON audit_action FROM "{PREFIX}app"',
        ),
        (
            f"GRANT INSERT ON audit_action TO {PREFIX}sealer",
            f"REVOKE INSERT (recorded_at), INSERT ON audit_action FROM {PREFIX}sealer",
            f'REVOKE INSERT ON audit_action FROM "{PREFIX}sealer"',
        ),
        (
            f"GRANT INSERT ON audit_leaf TO {PREFIX}app",
            f"REVOKE INSERT ON audit_leaf FROM {PREFIX}app",
            f'REVOKE INSERT ON audit_leaf FROM "{PREFIX}app"',
        ),
        (
            "GRANT INSERT (tenant_id) ON audit_action TO PUBLIC",
            "REVOKE INSERT (tenant_id) ON audit_action FROM PUBLIC",
            "REVOKE INSERT (tenant_id) ON audit_action FROM PUBLIC",
        ),
        (
            f"GRANT EXECUTE ON FUNCTION audit_drop_months(date, jsonb) TO {PREFIX}app",
            f"REVOKE EXECUTE ON FUNCTION audit_drop_months(date, jsonb) FROM {PREFIX}app",
            f"The role {PREFIX}app may call audit_drop_months(date, jsonb).",
        ),
        (
            f"ALTER ROLE {PREFIX}owner LOGIN",
            f"ALTER ROLE {PREFIX}owner NOLOGIN",
            "owns the ledger and can log in",
        ),
        (
            f"ALTER TABLE {MONTH} ENABLE TRIGGER audit_action_keep",
            f"ALTER TABLE {MONTH} ENABLE ALWAYS TRIGGER audit_action_keep",
            f"on {MONTH} is not ENABLE ALWAYS",
        ),
    ],
    ids=[
        "update",
        "delete",
        "truncate",
        "date",
        "insert",
        "seal",
        "public",
        "call",
        "owner",
        "trigger",
    ],
)
def test_a_weakened_ledger_keeps_the_processes_from_starting(
    weaken: str, mend: str, sentence: str, separate: Separate
) -> None:
    with (
        psycopg.connect(separate.owner, autocommit=True) as session,
        connected(separate.url("app")),
    ):
        assert start.find_refusals() == []
        session.execute(weaken)
        refused = start.find_refusals()
        session.execute(mend)
        assert start.find_refusals() == []
    assert sentence in "\n".join(refused)


def test_a_refusal_ends_the_process(separate: Separate) -> None:
    with psycopg.connect(separate.owner, autocommit=True) as session:
        session.execute(f"GRANT UPDATE ON audit_action TO {PREFIX}app")
        cluster = manage("check", database=separate.url("app"), REMIT_PROCESS="cluster")
        session.execute(f"REVOKE UPDATE ON audit_action FROM {PREFIX}app")
    assert cluster.returncode
    assert f'REVOKE UPDATE ON audit_action FROM "{PREFIX}app"' in cluster.stdout
    assert "audit.E003" in cluster.stdout


def test_one_role_for_everything_works_and_the_command_says_what_is_missing(
    separate: Separate,
) -> None:
    said = command("ledger_roles", database=separate.owner)
    assert "which is a superuser: it can switch the triggers off" in said
    assert "GRANT SELECT ON audit_action" in said
    assert "audit.E" not in command("check", database=separate.owner, PROCESS="cluster")


def test_passwords_are_stored_as_hashes_and_none_is_given_to_the_owner(separate: Separate) -> None:
    with psycopg.connect(separate.owner) as session:
        stored: dict[str, str] = dict(
            session.execute(
                "SELECT rolname, rolpassword FROM pg_authid WHERE starts_with(rolname, %s)",
                [PREFIX],
            ).fetchall()
        )
    assert stored.pop(f"{PREFIX}owner") is None
    assert sorted(stored) == sorted(PREFIX + role for role in LOG_IN)
    assert all(password.startswith("SCRAM-SHA-256$") for password in stored.values())

    for wrong in ("owner", "admin"):
        said = apply(separate.owner, f"{wrong}={PASSWORD}")
        assert f"LEDGER_ROLE_PASSWORDS names {wrong}" in said
        assert PASSWORD not in said


def test_a_prefix_that_is_no_name_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot begin the names of roles"):
        grants.statements('x"; DROP TABLE audit_action; --')
