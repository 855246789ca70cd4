"""Which database role may do what to the ledger, and whether it is so. Read from the catalogue.

With one role for everything (`make run`) that role owns the tables: it may switch triggers
off, and only the seals would show it. `manage.py ledger_roles` sets up separate roles.
"""

import re
from dataclasses import dataclass

from django.db import connections

from audit.database import guards
from audit.ledger.routing import LEDGER

# What the database sets itself: no role but the owner may.
SET_BY_DATABASE = {
    "audit_action": ("id", "recorded_at", "xact"),
    "audit_artifact": ("id",),
    "audit_checkpoint": ("id", "signed_at"),
    "audit_policy": ("recorded_at",),
    "audit_data_key": ("made_at",),
    "audit_signing_key": ("number", "named_at"),
    "audit_anchor": ("id", "made_at"),
    "audit_anchor_token": ("id", "kept_at"),
}
# Which of the ledger's tables each role inserts into; these may read all of it but the data
# keys, which only those who write them need.
INSERTS = {
    "app": (
        *("audit_action", "audit_payload", "audit_artifact", "audit_policy"),
        "audit_data_key",
        *("audit_anchor", "audit_anchor_token"),
        "audit_signing_key",  # a rotation; what the key before has not signed counts for nothing
    ),
    "sealer": ("audit_leaf", "audit_checkpoint", "audit_signing_key"),
    "export": (),
}
SEALS = ("audit_leaf", "audit_checkpoint")  # who writes rows does not seal them
FUNCTIONS = {
    "app": ("audit_make_months_ahead(integer)",),
    "sealer": ("audit_clock_step(jsonb, bytea, text)",),
    "privacy": (
        *("audit_redact(jsonb, bytea, text)", "audit_end(jsonb, bytea, text)"),
        "audit_rewrap(jsonb, bytea, text, bytea, bytea)",
        "audit_drop_months(date, jsonb)",
    ),
}
OWNED = (
    *("audit_refuse()", "audit_refuse_unless_redacted()", "audit_refuse_unless_recorded()"),
    "audit_refuse_until_the_end()",
    "audit_is_entry(uuid, smallint, text, text, text, text, text)",
    *("audit_month_floor(date)", "audit_make_month(date)", "audit_left(date)"),
)
# Erasure has to find the rows, but never reads what they are about.
PRIVACY_READS = ("audit_action", "audit_payload (row_id, action_id, tenant_id)")
KEYS = "audit_data_key"
ROLES = (*INSERTS, "privacy", "owner")
NAME = re.compile("[a-z_][a-z0-9_]{0,40}")

COLUMNS = """
SELECT attrelid::regclass::text, array_agg(attname::text ORDER BY attnum) FROM pg_attribute
WHERE attrelid = ANY(%s::regclass[]) AND attnum > 0 AND NOT attisdropped GROUP BY 1
"""
# Every other table and free sequence of the application.
OTHERS = """
SELECT c.oid::regclass::text, c.relkind::text FROM pg_class c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'S')
  AND c.oid::regclass::text <> ALL(%s)
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype IN ('e', 'i', 'a')
                  AND (d.deptype = 'e' OR c.relkind = 'S'))
ORDER BY 1
"""
ROLE = """
SELECT current_user, o.rolname, o.rolcanlogin,
       (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),
       pg_has_role(current_user, o.oid, 'MEMBER')
FROM pg_class c JOIN pg_roles o ON o.oid = c.relowner WHERE c.oid = 'audit_action'::regclass
"""
# What anybody but the owner may do with the ledger's tables and columns.
GRANTED = """
WITH ledger AS (SELECT oid, relowner, relacl FROM pg_class WHERE oid = ANY(%s::regclass[]))
SELECT l.oid::regclass::text, '', g.privilege_type,
       CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(g.grantee) END
FROM ledger l, aclexplode(l.relacl) g WHERE g.grantee <> l.relowner
UNION ALL
SELECT l.oid::regclass::text, a.attname, g.privilege_type,
       CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(g.grantee) END
FROM ledger l JOIN pg_attribute a ON a.attrelid = l.oid, aclexplode(a.attacl) g
WHERE g.grantee <> l.relowner
ORDER BY 1, 2, 3, 4
"""
# Who may call the functions that write past the grants.
CALLERS = """
SELECT name, CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(g.grantee) END
FROM unnest(%s::text[]) AS name JOIN pg_proc p ON p.oid = to_regprocedure(name),
    aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) g
WHERE g.grantee <> p.proowner
ORDER BY 1, 2
"""


@dataclass(frozen=True)
class Role:
    """Who this process is to the ledger's tables."""

    role: str
    owner: str
    owner_can_log_in: bool
    is_superuser: bool
    is_member: bool

    @property
    def is_separate(self) -> bool:
        """Whether this role is another than the one that may change the tables."""
        return not (self.is_superuser or self.is_member)


def load_role() -> Role:
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(ROLE)
        return Role(*cursor.fetchone())


def find_problems() -> list[str]:
    """A sentence for each right that weakens the ledger. That the role which does everything
    owns the tables is none (`find_missing_layers` says so)."""
    who = load_role()
    found = find_extra_rights()
    if who.is_separate and who.owner_can_log_in:
        found.append(
            f"The role {who.owner} owns the ledger and can log in. Take that from it: "
            f'ALTER ROLE "{who.owner}" NOLOGIN'
        )
    return found


def find_extra_rights() -> list[str]:
    """Rights that nobody but the owner should have on the ledger's tables and their months, or
    that everybody has; rights to seal of a role that writes rows; and functions that everybody
    may call, or that erase and a role that writes rows may call."""
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(GRANTED, [[table for _, table in guards.guarded()]])
        held = cursor.fetchall()
    inserted = {(table, grantee) for table, _, right, grantee in held if right == "INSERT"}
    sentences = []
    for table, column, right, grantee in held:
        seals_its_own = table in SEALS and ("audit_action", grantee) in inserted
        if right == "SELECT" or (may_insert(table, column, right, grantee) and not seals_its_own):
            continue
        what = f"{right} ({column})" if column else right
        sentences.append(
            f"The role {grantee} has {what} on {table}. Take it away: "
            f'REVOKE {what} ON {table} FROM "{grantee}"'.replace('"PUBLIC"', "PUBLIC")
        )
    return sentences + find_extra_callers({grantee for _, grantee in inserted})


def may_insert(table: str, column: str, right: str, grantee: str) -> bool:
    """Whether that is a right to insert, but for what the database sets itself."""
    automatic = SET_BY_DATABASE.get(table, ())
    whole = not automatic and table in guards.TABLES
    return (
        right == "INSERT" and grantee != "PUBLIC" and (column not in automatic if column else whole)
    )


def find_extra_callers(writers: set[str]) -> list[str]:
    names = {name for names in FUNCTIONS.values() for name in names} | {"audit_make_month(date)"}
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(CALLERS, [sorted(names)])
        found = cursor.fetchall()
    return [
        f"The role {caller} may call {name}. Take it away: "
        f'REVOKE EXECUTE ON FUNCTION {name} FROM "{caller}"'.replace('"PUBLIC"', "PUBLIC")
        for name, caller in found
        if caller == "PUBLIC" or (name in FUNCTIONS["privacy"] and caller in writers)
    ]


def find_missing_layers() -> list[str]:
    """What the set-up as it is cannot keep anybody from, in sentences."""
    who = load_role()
    if who.is_separate:
        return []
    why = "is a superuser" if who.is_superuser else f"has the rights of {who.owner}, their owner"
    return [
        f"This process is the role {who.role}, which {why}: it can switch the triggers off, "
        "and only the seals, and checkpoints elsewhere, would show it.",
        "Nothing keeps a role from setting a row's id, time or transaction by hand.",
    ]


def statements(prefix: str) -> list[str]:
    """The SQL that sets up the roles `<prefix>app`, `<prefix>sealer` and so on, for a
    superuser to run; running it twice changes nothing. Run it again after every migration.

    Raises ValueError for a prefix that is no plain name.
    """
    if not NAME.fullmatch(prefix):
        raise ValueError(f"“{prefix}” cannot begin the names of roles: use a to z, 0 to 9 and _.")
    guarded = guards.guarded()
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(COLUMNS, [[whole for whole, table in guarded if whole == table]])
        columns = dict(cursor.fetchall())
        cursor.execute(OTHERS, [[table for _, table in guarded]])
        others = cursor.fetchall()
    return [
        *roles(prefix),
        *ownership(prefix, [table for _, table in guarded], others),
        *ledger_rights(prefix, [table for _, table in guarded], columns),
        *application_rights(prefix, others),
    ]


def roles(prefix: str) -> list[str]:
    return [
        f"DO $$ BEGIN CREATE ROLE {prefix}{role} {'NOLOGIN' if role == 'owner' else 'LOGIN'}; "
        "EXCEPTION WHEN duplicate_object THEN NULL; END $$"
        for role in ROLES
    ] + [
        f"GRANT USAGE ON SCHEMA public TO {', '.join(prefix + role for role in ROLES)}",
        f"GRANT CREATE ON SCHEMA public TO {prefix}owner",
    ]


def ownership(prefix: str, ledger: list[str], others: list[tuple[str, str]]) -> list[str]:
    functions = {*OWNED, *(name for names in FUNCTIONS.values() for name in names)}
    kinds = {"S": "SEQUENCE", "v": "VIEW"}
    return [
        *(f"ALTER TABLE {table} OWNER TO {prefix}owner" for table in ledger),
        *(f"ALTER FUNCTION {name} OWNER TO {prefix}owner" for name in sorted(functions)),
        *(
            f"ALTER {kinds.get(kind, 'TABLE')} {name} OWNER TO {prefix}owner"
            for name, kind in others
        ),
    ]


def ledger_rights(prefix: str, tables: list[str], columns: dict[str, list[str]]) -> list[str]:
    everybody = ", ".join(prefix + role for role in ROLES if role != "owner")
    found = [f"REVOKE ALL ON {', '.join(tables)} FROM PUBLIC, {everybody}"]
    for role, inserted in INSERTS.items():
        read = [table for table in columns if table != KEYS or table in inserted]
        found.append(f"GRANT SELECT ON {', '.join(read)} TO {prefix}{role}")
        for table in inserted:
            given = [name for name in columns[table] if name not in SET_BY_DATABASE.get(table, ())]
            names = ", ".join(f'"{name}"' for name in given)
            found.append(f"GRANT INSERT ({names}) ON {table} TO {prefix}{role}")
    for table in PRIVACY_READS:
        name, _, names = table.partition(" ")
        found.append(f"GRANT SELECT {names} ON {name} TO {prefix}privacy")
    for role, functions in FUNCTIONS.items():
        found += [f"GRANT EXECUTE ON FUNCTION {name} TO {prefix}{role}" for name in functions]
    return found


def application_rights(prefix: str, others: list[tuple[str, str]]) -> list[str]:
    """Web and worker work on the application's other tables as before."""
    return [
        f"GRANT {'USAGE, SELECT' if kind == 'S' else 'SELECT, INSERT, UPDATE, DELETE'} "
        f"ON {'SEQUENCE ' if kind == 'S' else ''}{name} TO {prefix}app"
        for name, kind in others
    ]
