"""Retention: whole months leave, in the transaction that records for each organisation what
left. Leaves and checkpoints stay, so every tree still verifies."""

from importlib import import_module

from django.db import migrations

RETENTION = """
-- Of each organisation the places in its tree whose rows lie before this month, as ranges.
CREATE FUNCTION audit_left(before date) RETURNS TABLE (tenant_id uuid, places jsonb)
LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
    WITH gone AS (
        SELECT l.tenant_id, l.leaf_index,
               l.leaf_index - row_number() OVER (PARTITION BY l.tenant_id ORDER BY l.leaf_index)
                   AS range
        FROM audit_leaf l WHERE l.action_id < audit_month_floor(before)
    ), ranges AS (
        SELECT g.tenant_id, min(g.leaf_index) AS first, max(g.leaf_index) AS last
        FROM gone g GROUP BY g.tenant_id, g.range
    )
    SELECT r.tenant_id, jsonb_agg(jsonb_build_array(r.first, r.last) ORDER BY r.first)
    FROM ranges r GROUP BY r.tenant_id
$$;

CREATE FUNCTION audit_drop_months(before date, entries jsonb) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    beginning uuid := audit_month_floor(before);
    months text[] := ARRAY(
        SELECT right(c.relname, 7) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'audit_action'::regclass
          AND to_date(right(c.relname, 7), 'YYYY_MM') < before
        ORDER BY 1);
    month text;
    whole text;
    said jsonb;
    made audit_action;
BEGIN
    IF before <> date_trunc('month', before)
       OR before > (now() AT TIME ZONE 'UTC')::date - 31 OR months = '{}' THEN
        RAISE EXCEPTION 'No month before % may leave: it must have ended 31 days ago.', before
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    -- Whoever reads for long must not make everybody who appends wait behind us.
    PERFORM set_config('lock_timeout', '2s', true);
    PERFORM pg_advisory_xact_lock(x'A0D17'::int);
    FOREACH month IN ARRAY months LOOP
        EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', 'audit_action_' || month);
    END LOOP;
    IF EXISTS (
        SELECT FROM audit_action h
        WHERE h.action_type = 'ledger.hold' AND h.status = 'pending'
          AND NOT EXISTS (SELECT FROM audit_action r
                          WHERE r.action_id = h.action_id AND r.status = 'succeeded')
          AND EXISTS (SELECT FROM audit_action a
                      WHERE a.tenant_id = h.tenant_id AND a.action_id < beginning
                        AND h.on_behalf_of IN ('', a.on_behalf_of))
    ) THEN
        RAISE EXCEPTION 'A legal hold keeps rows from before %.', before
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF EXISTS (SELECT FROM audit_action a WHERE a.action_id < beginning
               AND NOT EXISTS (SELECT FROM audit_leaf l WHERE l.row_id = a.id)) THEN
        RAISE EXCEPTION 'Rows from before % are not sealed yet.', before;
    END IF;
    -- What vanished otherwise must not leave by this record.
    IF EXISTS (SELECT FROM audit_leaf l
               WHERE l.action_id >= audit_month_floor(to_date(months[1], 'YYYY_MM'))
                 AND l.action_id < beginning
                 AND NOT EXISTS (SELECT FROM audit_action a
                                 WHERE a.action_id = l.action_id AND a.id = l.row_id)) THEN
        RAISE EXCEPTION 'Sealed rows from before % are gone. Run manage.py verify_ledger.', before;
    END IF;
    IF EXISTS (
        SELECT FROM (SELECT DISTINCT a.tenant_id FROM audit_action a
                     WHERE a.action_id < beginning) AS t
        LEFT JOIN audit_left(before) AS l USING (tenant_id)
        WHERE NOT EXISTS (
            SELECT FROM jsonb_array_elements(entries) AS e
            WHERE e #>> '{row,tenant_id}' = t.tenant_id::text
              AND (e ->> 'body')::jsonb #> '{payload,places}' = l.places)
    ) OR EXISTS (
        SELECT FROM jsonb_array_elements(entries) AS e
        LEFT JOIN audit_left(before) AS l ON l.tenant_id = (e #>> '{row,tenant_id}')::uuid
        WHERE (e #>> '{row,action_type}', e #>> '{row,phase}', e #>> '{row,status}')
              IS DISTINCT FROM ('ledger.retention', 'control', 'succeeded')
           OR (e ->> 'body')::jsonb #> '{payload,places}' IS DISTINCT FROM l.places
    ) THEN
        RAISE EXCEPTION 'The record is not of what leaves.' USING ERRCODE = 'insufficient_privilege';
    END IF;
    FOR said IN SELECT * FROM jsonb_array_elements(entries) LOOP
        INSERT INTO audit_action (COLUMNS)
        SELECT COLUMNS FROM jsonb_populate_record(NULL::audit_action, said -> 'row')
        RETURNING * INTO made;
        INSERT INTO audit_payload (row_id, action_id, tenant_id, salt, body)
        VALUES (made.id, made.action_id, made.tenant_id, decode(said ->> 'salt', 'hex'),
                said ->> 'body');
    END LOOP;
    FOREACH month IN ARRAY months LOOP
        FOREACH whole IN ARRAY ARRAY['audit_artifact', 'audit_payload', 'audit_action'] LOOP
            EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', whole, whole || '_' || month);
            EXECUTE format('DROP TABLE %I', whole || '_' || month);
        END LOOP;
    END LOOP;
    RETURN cardinality(months);
END $$;
REVOKE ALL ON FUNCTION audit_drop_months(date, jsonb) FROM PUBLIC;
"""


def columns() -> str:
    """Those that a row is given, as in the migration 0009."""
    names: str = import_module("audit.migrations.0009_end").columns()
    return names


# What left does not come back.
UNDO = """
DROP FUNCTION audit_drop_months(date, jsonb);
DROP FUNCTION audit_left(date);
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0013_checkpoint_at")]

    operations = [migrations.RunSQL(RETENTION.replace("COLUMNS", columns()), UNDO)]
