"""The only way into the ledger. One entry is one statement and one durable commit."""

import secrets
from dataclasses import fields
from operator import itemgetter
from typing import Any

from django.db import DatabaseError, InterfaceError, OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from psycopg import Cursor, errors

from audit import chain, vault
from audit.contracts import Entry
from audit.ids import moment
from audit.keys import tenant_key
from audit.models import SUPPLIED, envelope
from audit.routing import LEDGER

SCHEMA_VERSION = 1
# Entry fields of the same name become columns as they are.
PLAIN = tuple(field.name for field in fields(Entry) if field.name in SUPPLIED)

in_order = itemgetter(*SUPPLIED)

ENTRY = f"""
WITH entry AS (
    INSERT INTO audit_action ({", ".join(f'"{name}"' for name in SUPPLIED)})
    SELECT {", ".join(["%s"] * len(SUPPLIED))}
    WHERE EXISTS (SELECT FROM audit_data_key WHERE tenant_id = %s AND wrapped IS NOT NULL)
    RETURNING id, tenant_id, action_id, attempt_no
), payload AS (
    INSERT INTO audit_payload (row_id, action_id, tenant_id, salt, body, box)
    SELECT id, action_id, tenant_id, %s, %s, %s FROM entry
)"""  # noqa: S608  # the names are this module's own
APPEND = f"{ENTRY} SELECT id FROM entry"  # noqa: S608
APPEND_WITH_ARTIFACTS = f"""{ENTRY}, artifacts AS (
    INSERT INTO audit_artifact (row_id, tenant_id, action_id, attempt_no,
                                ordinal, kind, provider, external_id, url_key, digest)
    SELECT entry.id, tenant_id, action_id, attempt_no, given.*
    FROM entry, unnest(%s::smallint[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[])
        AS given
)
SELECT id FROM entry
"""  # noqa: S608


class LedgerError(Exception):
    """The entry was not appended by this call. What needs a ledger row must not go on."""


class InsideTransaction(LedgerError):
    """The ledger's connection is inside a transaction: the row could be rolled back."""


class AlreadyRecorded(LedgerError):
    """This phase of this attempt is in the ledger already. The first one counts."""


class NoMonth(LedgerError):
    """The ledger has no month for this action's id: the months ahead were not made, or the
    clock that made the id is wrong by months."""


class Ended(LedgerError):
    """The organisation's ledger has ended: its data key is destroyed."""


class LedgerUnavailable(LedgerError):
    """The database could not be reached or broke off. A retry can help; where the
    connection broke off, `selectors.recorded` says whether the row is there."""


def append(entry: Entry) -> int:
    """Commit `entry` and return its row id. When this returns, the row is durable.

    It is committed on the ledger's own connection: a transaction on `default` that rolls
    back leaves it in place. Text that the database cannot hold is stored visibly escaped.
    Raises InsideTransaction, AlreadyRecorded, NoMonth, Ended, LedgerUnavailable; ValueError for
    an id that is not version 7 or a time without zone; TypeError for a payload that is not plain
    data.
    """
    if entry.action_id.version != 7:
        raise ValueError("An action id is a UUID version 7: use audit.ids.uuid7().")
    connection = connections[LEDGER]
    if connection.in_atomic_block:
        raise InsideTransaction(
            "The ledger is written outside of transactions, so that evidence is never "
            f"rolled back: leave the atomic block on {LEDGER!r} first."
        )
    try:
        return commit(entry, connection)
    except DatabaseError as error:
        if isinstance(error.__cause__, errors.UniqueViolation):
            raise AlreadyRecorded(
                f"{entry.phase} {entry.attempt_no} of action {entry.action_id} is recorded."
            ) from error
        if has_no_month(error.__cause__):
            raise NoMonth(
                f"The ledger has no month for {moment(entry.action_id):%B %Y}. Make it with: "
                "manage.py make_ledger_months"
            ) from error
        if isinstance(error, OperationalError):
            connection.close()
            raise LedgerUnavailable("The ledger's database did not answer.") from error
        raise
    except InterfaceError as error:
        connection.close()
        raise LedgerUnavailable("The ledger's database connection is broken.") from error


def commit(entry: Entry, connection: BaseDatabaseWrapper) -> int:
    try:
        vault.keys.writing(entry.tenant_id)
        values = parameters(entry)
        with prepared(connection) as cursor:
            cursor.execute(APPEND_WITH_ARTIFACTS if entry.artifacts else APPEND, values)
            appended = cursor.fetchone()
        if appended is None:  # the key that this process still had is destroyed
            vault.keys.forget(entry.tenant_id)
            vault.keys.writing(entry.tenant_id)
            raise LedgerUnavailable("The organisation's data key was made anew. Try again.")
    except vault.KeyDestroyed as error:
        raise Ended(str(error)) from error
    except vault.WrongVaultKey as error:
        raise LedgerUnavailable(str(error)) from error
    return int(appended[0])


def prepared(connection: BaseDatabaseWrapper) -> CursorWrapper:
    """A cursor that binds on the server: Django's own would write the values into the
    statement, and the server would plan it anew each time."""
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    bound_by_the_server: Any = Cursor(connection.connection)
    return connection.make_cursor(bound_by_the_server)


def has_no_month(cause: BaseException | None) -> bool:
    """A row that no partition takes violates a check without a name."""
    return isinstance(cause, errors.CheckViolation) and not cause.diag.constraint_name


def parameters(entry: Entry) -> list[Any]:
    key = tenant_key(entry.tenant_id)
    resource_id, target_id = chain.visible(entry.resource_id), chain.visible(entry.target_id)
    digests = [chain.artifact_digest(artifact) for artifact in entry.artifacts]
    content = {
        "artifacts": [vars(artifact) for artifact in entry.artifacts],
        "payload": entry.payload,
        "resource_id": resource_id,
        "target_id": target_id,
    }
    body, salt = chain.stored(content).encode(), secrets.token_bytes(chain.SALT_BYTES)
    given = vars(entry)
    row = {name: clean(given[name]) for name in PLAIN} | {
        "schema_version": SCHEMA_VERSION,
        "resource_key": chain.keyed(key, resource_id),
        "target_key": chain.keyed(key, target_id),
        "payload_commitment": chain.payload_commitment(salt, body),
        "artifacts_digest": chain.artifacts_digest(digests),
    }
    row["envelope_mac"] = chain.envelope_mac(key, envelope(row))
    values = [
        *in_order(row),
        entry.tenant_id,
        *payload(entry, salt, body, row["payload_commitment"]),
    ]
    if not entry.artifacts:
        return values
    made = [{name: clean(value) for name, value in vars(one).items()} for one in entry.artifacts]
    return [
        *values,
        list(range(1, len(made) + 1)),
        *([item[name] for item in made] for name in ("kind", "provider", "external_id")),
        [chain.keyed(key, item["url"]) for item in made],
        digests,
    ]


def in_the_clear(entry: Entry) -> tuple[str, bytes, str]:
    """What the database's own functions append: the row as JSON, and salt and body of its
    payload. Only for the kinds of rows whose payload is not encrypted."""
    values = parameters(entry)
    columns, (_, salt, body) = values[: len(SUPPLIED)], values[len(SUPPLIED) :][:3]
    return chain.stored(dict(zip(SUPPLIED, columns, strict=True))), salt, body


def payload(
    entry: Entry, salt: bytes, body: bytes, commitment: str
) -> tuple[bytes | None, str | None, bytes | None]:
    """Salt and body in the clear, or the box that holds them."""
    if vault.is_plain(phase=entry.phase, action_type=entry.action_type):
        return salt, body.decode(), None
    place = vault.Place(entry.tenant_id, entry.action_id, entry.attempt_no, entry.phase, commitment)
    return None, None, vault.encrypt(salt, body, place=place)


def clean(value: Any) -> Any:
    return chain.visible(value) if type(value) is str else value
