"""What keeps the ledger's tables append-only."""


def guarded(table: str, *, function: str = "audit_refuse") -> str:
    """SQL for the guards of a table: `function` is asked about each change of a row.

    ENABLE ALWAYS: session_replication_role = replica does not switch them off.
    """
    return f"""
CREATE TRIGGER {table}_keep BEFORE UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION {function}();
CREATE TRIGGER {table}_keep_all BEFORE TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_keep;
ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_keep_all;
"""


def unless_there_are(rows: str, what: str) -> str:
    """SQL that refuses to go back while there is something to lose."""
    return f"""
DO $$ BEGIN
    IF EXISTS (SELECT FROM {rows}) THEN
        RAISE EXCEPTION 'The ledger holds {what}. They are not dropped.';
    END IF;
END $$;
"""
