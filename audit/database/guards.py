"""Are the triggers that keep the ledger append-only in place, and the check of what a row may be?
Read from the catalogue."""

import hashlib

from django.db import connections

from audit.ledger.routing import LEDGER

TABLES = (
    *("audit_action", "audit_payload", "audit_artifact"),
    *("audit_leaf", "audit_checkpoint", "audit_policy"),
    *("audit_data_key", "audit_signing_key"),
    *("audit_anchor", "audit_anchor_token"),
)
# Kind of trigger, as bits of pg_trigger.tgtype.
ROW, BEFORE, DELETE, UPDATE, TRUNCATE = 1, 2, 8, 16, 32
KINDS = {"keep": ROW | BEFORE | UPDATE | DELETE, "keep_all": BEFORE | TRUNCATE}
CHECK = "audit_action_is_entry"
CHECKS = (
    "CHECK (audit_is_entry(action_id, attempt_no, phase, status, actor_type, decision, "
    "action_type))"
)
# Of the functions' sources, so that one that lets rows pass is found.
SOURCES = {
    "audit_is_entry": "691e15ca70e63c5c9cb6f613af8777be1e88e21588509b1dac77dc4ef83323b4",
    "audit_refuse": "4a06dbf2278e57cec51b5d372bc0f8e302c02597c879ca232eda4dabe9724fac",
    "audit_refuse_unless_redacted": (
        "ab8e54ca493820f1ff28db15a9915a6214f348ebdd630cb3f3a6090a1ccb3fd8"
    ),
    "audit_refuse_until_the_end": (
        "8ee7f01b9d62f1ec1fa156c6b62ce3552de34aef4715b4663f29c62c14cfd25d"
    ),
    "audit_refuse_unless_recorded": (
        "3be0b0f6691f6b665f4d2b9daeaef34d73179cf3f47979df17a257872c963530"
    ),
}

# The ledger's tables that exist so far, and their months.
GUARDED = """
SELECT whole, whole::regclass::text FROM unnest(%s::text[]) AS whole
WHERE to_regclass(whole) IS NOT NULL
UNION ALL
SELECT whole, i.inhrelid::regclass::text
FROM unnest(%s::text[]) AS whole JOIN pg_inherits i ON i.inhparent = to_regclass(whole)
ORDER BY 1, 2
"""
FOUND = """
SELECT t.tgrelid::regclass::text, t.tgname, t.tgtype, t.tgenabled::text, p.proname, p.prosrc,
       t.tgqual IS NULL AND t.tgattr::text = ''
FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
WHERE t.tgrelid = ANY(%s::regclass[]) AND NOT t.tgisinternal
"""
CHECKED = """
SELECT c.conrelid::regclass::text, pg_get_constraintdef(c.oid), p.prosrc
FROM pg_constraint c
JOIN pg_depend d ON d.classid = 'pg_constraint'::regclass AND d.objid = c.oid
    AND d.refclassid = 'pg_proc'::regclass
JOIN pg_proc p ON p.oid = d.refobjid
WHERE c.conname = %s AND c.contype = 'c'
"""


def guarded() -> list[tuple[str, str]]:
    """Every table that must be guarded, after the ledger's table that it is or is a month of."""
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(GUARDED, [list(TABLES), list(TABLES)])
        return list(cursor.fetchall())


def find_problems() -> list[str]:
    """A sentence for each trigger and check that is missing, switched off or not what it should
    be. Tables that a migration has yet to make are left out.
    """
    tables = guarded()
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(FOUND, [[table for _, table in tables]])
        found = {(row[0], row[1]): row[2:] for row in cursor.fetchall()}
        cursor.execute(CHECKED, [CHECK])
        checked = {row[0] for row in cursor.fetchall() if is_check(*row[1:])}
    return [
        f"The check {CHECK} on {table} is missing or was changed: rows that are not entries "
        "could be appended."
        for whole, table in tables
        if whole == "audit_action" and table not in checked
    ] + [
        sentence
        for whole, table in tables
        for name, kind in KINDS.items()
        if (sentence := problem(f"{whole}_{name}", table, kind, found))
    ]


def is_check(definition: str, source: str) -> bool:
    """Whether it is the check of the migrations; what is not valid or not enforced says so."""
    return definition == CHECKS and digest(source) == SOURCES["audit_is_entry"]


def problem(
    trigger: str, table: str, kind: int, found: dict[tuple[str, str], tuple[object, ...]]
) -> str:
    if (table, trigger) not in found:
        return f"The trigger {trigger} on {table} is missing: rows could be changed."
    found_kind, enabled, function, source, unconditional = found[table, trigger]
    if enabled != "A":
        return f"The trigger {trigger} on {table} is not ENABLE ALWAYS: it can be switched off."
    wanted = wanted_function(trigger)
    is_its_own = digest(str(source)) == SOURCES[wanted]
    if (found_kind, function, unconditional, is_its_own) != (kind, wanted, True, True):
        return f"The trigger {trigger} on {table} was changed: it may let changes pass."
    return ""


def digest(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()


def wanted_function(trigger: str) -> str:
    """Payloads and artifacts may be erased, data keys destroyed or wrapped anew, and policies go
    with their organisation's key, together with the row that says so."""
    return {
        "audit_payload_keep": "audit_refuse_unless_redacted",
        "audit_artifact_keep": "audit_refuse_unless_redacted",
        "audit_data_key_keep": "audit_refuse_unless_recorded",
        "audit_policy_keep": "audit_refuse_until_the_end",
    }.get(trigger, "audit_refuse")


def are_installed() -> bool:
    """Whether the ledger's tables exist yet."""
    with connections[LEDGER].cursor() as cursor:
        cursor.execute("SELECT to_regclass('audit_action') IS NOT NULL")
        return bool(cursor.fetchone()[0])
