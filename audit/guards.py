"""Are the triggers that keep the ledger append-only in place? Read from the catalogue."""

import hashlib

from django.db import connections

from audit.routing import LEDGER

TABLES = (
    *("audit_action", "audit_payload", "audit_artifact"),
    *("audit_leaf", "audit_checkpoint", "audit_policy"),
)
# Kind of trigger, as bits of pg_trigger.tgtype.
ROW, BEFORE, DELETE, UPDATE, TRUNCATE = 1, 2, 8, 16, 32
TRIGGERS = {
    f"{table}_{name}": (table, kind)
    for table in TABLES
    for name, kind in (("keep", ROW | BEFORE | UPDATE | DELETE), ("keep_all", BEFORE | TRUNCATE))
}
# Of the source of audit_refuse(), so that a function that lets rows pass is found.
REFUSE_DIGEST = "4a06dbf2278e57cec51b5d372bc0f8e302c02597c879ca232eda4dabe9724fac"

QUERY = """
SELECT t.tgname, t.tgrelid::regclass::text, t.tgtype, t.tgenabled::text, p.proname, p.prosrc,
       t.tgqual IS NULL AND t.tgattr::text = ''
FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
WHERE t.tgname = ANY(%s) AND NOT t.tgisinternal
"""


def problems() -> list[str]:
    """A sentence for each trigger that is missing, switched off or not what it should be.

    Tables that a migration has yet to make are left out.
    """
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(
            "SELECT t FROM unnest(%s::text[]) t WHERE to_regclass(t) IS NOT NULL", [list(TABLES)]
        )
        tables = {row[0] for row in cursor.fetchall()}
        cursor.execute(QUERY, [list(TRIGGERS)])
        found = {row[0]: row[1:] for row in cursor.fetchall()}
    return [
        sentence
        for trigger, (table, kind) in TRIGGERS.items()
        if table in tables and (sentence := problem(trigger, table, kind, found.get(trigger)))
    ]


def problem(trigger: str, table: str, kind: int, found: tuple[object, ...] | None) -> str:
    if found is None or found[0] != table:
        return f"The trigger {trigger} on {table} is missing: rows could be changed."
    _, found_kind, enabled, function, source, unconditional = found
    if enabled != "A":
        return f"The trigger {trigger} on {table} is not ENABLE ALWAYS: it can be switched off."
    digest = hashlib.sha256(str(source).encode()).hexdigest()
    if (found_kind, function, unconditional, digest) != (kind, "audit_refuse", True, REFUSE_DIGEST):
        return f"The trigger {trigger} on {table} was changed: it may let changes pass."
    return ""


def installed() -> bool:
    """Whether the ledger's tables were made yet."""
    with connections[LEDGER].cursor() as cursor:
        cursor.execute("SELECT to_regclass('audit_action') IS NOT NULL")
        return bool(cursor.fetchone()[0])
