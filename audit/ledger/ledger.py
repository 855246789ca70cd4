"""The only way into the ledger. One entry is one statement and one durable commit."""

import secrets
from operator import itemgetter
from typing import Any

from django.db import DatabaseError, InterfaceError, OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import errors

from audit.contracts import Entry, LedgerError
from audit.ledger import chain, vault
from audit.ledger.ids import moment
from audit.ledger.keys import tenant_key
from audit.ledger.prepared import Prepared
from audit.ledger.routing import LEDGER
from audit.models import ENVELOPE, SUPPLIED

SCHEMA_VERSION = 1

in_order = itemgetter(*SUPPLIED)
in_envelope, envelope_text = itemgetter(*ENVELOPE), chain.flat_of(ENVELOPE)

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
    FROM entry, json_to_recordset(%s) AS given(
        ordinal smallint, kind text, provider text, external_id text, url_key text, digest text)
)
SELECT id FROM entry
"""  # noqa: S608
append_row = Prepared("audit_append", APPEND)
append_with_artifacts = Prepared("audit_append_with_artifacts", APPEND_WITH_ARTIFACTS)


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
        raise ValueError("An action id is a UUID version 7: use audit.ledger.ids.uuid7().")
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
        vault.keys.for_writing(entry.tenant_id)
        statement = append_with_artifacts if entry.artifacts else append_row
        appended = statement.first(connection, parameters(entry))
        if appended is None:  # the key that this process still had is destroyed
            vault.keys.forget(entry.tenant_id)
            vault.keys.for_writing(entry.tenant_id)
            raise LedgerUnavailable("The organisation's data key was made anew. Try again.")
    except vault.KeyDestroyed as error:
        raise Ended(str(error)) from error
    except vault.WrongVaultKey as error:
        raise LedgerUnavailable(str(error)) from error
    return int(appended)


def has_no_month(cause: BaseException | None) -> bool:
    """A row that no partition takes violates a check without a name."""
    return isinstance(cause, errors.CheckViolation) and not cause.diag.constraint_name


def parameters(entry: Entry) -> list[Any]:
    key = tenant_key(entry.tenant_id)
    resource_id, target_id = chain.visible(entry.resource_id), chain.visible(entry.target_id)
    texts = [chain.artifact_text(artifact) for artifact in entry.artifacts]
    digests = [chain.text_digest(text) for text in texts]
    body = (
        f'{{"artifacts":[{",".join(texts)}],"payload":{chain.stored(entry.payload)},'
        f'"resource_id":{chain.quoted(resource_id)},"target_id":{chain.quoted(target_id)}}}'
    ).encode()
    salt = secrets.token_bytes(chain.SALT_BYTES)
    row = vars(entry) | {
        "tenant_id": str(entry.tenant_id),
        "action_id": str(entry.action_id),
        "account_id": entry.account_id and str(entry.account_id),
        "parent_action_id": entry.parent_action_id and str(entry.parent_action_id),
        "occurred_at": chain.timestamp(entry.occurred_at),
        "schema_version": SCHEMA_VERSION,
        "resource_key": chain.keyed(key, resource_id),
        "target_key": chain.keyed(key, target_id),
        "payload_commitment": chain.payload_commitment(salt, body),
        "artifacts_digest": chain.artifacts_digest(digests),
    }
    text = envelope_text(in_envelope(row))
    if not chain.is_plain(text):
        row = {name: clean(value) for name, value in row.items()}
        text = envelope_text(in_envelope(row))
    row["envelope_mac"] = chain.row_mac(key, text)
    values = [
        *in_order(row),
        row["tenant_id"],
        *box_payload(entry, salt, body, row["payload_commitment"]),
    ]
    if entry.artifacts:
        values.append(artifacts(entry, key, digests))
    return values


def artifacts(entry: Entry, key: bytes, digests: list[str]) -> str:
    """What the table of artifacts is given, as JSON."""
    rows = [
        f'{{"ordinal":{ordinal},"kind":{chain.quoted(one.kind)},'
        f'"provider":{chain.quoted(one.provider)},'
        f'"external_id":"{chain.keyed(key, chain.visible(one.external_id))}",'
        f'"url_key":"{chain.keyed(key, chain.visible(one.url))}","digest":"{digest}"}}'
        for ordinal, (one, digest) in enumerate(zip(entry.artifacts, digests, strict=True), start=1)
    ]
    return f"[{','.join(rows)}]"


def in_the_clear(entry: Entry) -> tuple[str, bytes, str]:
    """What the database's own functions append: the row as JSON, and salt and body of its
    payload. Only for the kinds of rows whose payload is not encrypted."""
    values = parameters(entry)
    columns, (_, salt, body) = values[: len(SUPPLIED)], values[len(SUPPLIED) :][:3]
    return chain.stored(dict(zip(SUPPLIED, columns, strict=True))), salt, body


def box_payload(
    entry: Entry, salt: bytes, body: bytes, commitment: str
) -> tuple[bytes | None, str | None, bytes | None]:
    """Salt and body in the clear, or the box that holds them."""
    if vault.is_plain(phase=entry.phase, action_type=entry.action_type):
        return salt, body.decode(), None
    place = vault.Place(entry.tenant_id, entry.action_id, entry.attempt_no, entry.phase, commitment)
    return None, None, vault.encrypt(salt, body, place=place)


def clean(value: Any) -> Any:
    return chain.visible(value) if type(value) is str else value
