"""The doors through which something leaves the ledger or changes in it. Each appends the row that
says so and does it in one transaction, or neither. Nobody but the owner may call them until
`manage.py ledger_roles` says who (audit.database.grants)."""

from django.db import migrations

# Those that a row is given.
COLUMNS = """
    action_id, phase, attempt_no, schema_version, tenant_id, account_id, actor_type, actor_id,
    on_behalf_of, credential_ref, agent_id, agent_version, model_id, skill_ref, pattern_id,
    "trigger", run_id, trace_id, parent_action_id, provider, resource_type, resource_key,
    action_type, target_key, target_group_id, decision, decision_reason, policy_digest,
    approval_id, approved_by, idempotency_key, status, error_code, provider_request_id,
    latency_ms, target_row, payload_commitment, artifacts_digest, envelope_mac, occurred_at
"""

ERASE = """
-- The one thing that the role for erasure may do: append a redaction, and erase the payloads
-- and artifacts of exactly the rows that it names. All of it or nothing. Whoever sets a hold has
-- the lock too that is taken here (audit.keeping.erasure.hold).
CREATE FUNCTION audit_redact(entry jsonb, salt bytea, body text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    named bigint[] := ARRAY(SELECT jsonb_array_elements_text(body::jsonb #> '{payload,rows}'));
    made audit_action;
    erased integer;
BEGIN
    IF entry ->> 'phase' IS DISTINCT FROM 'redaction' THEN
        RAISE EXCEPTION 'Only a redaction erases.' USING ERRCODE = 'insufficient_privilege';
    END IF;
    INSERT INTO audit_action (COLUMNS)
    SELECT COLUMNS FROM jsonb_populate_record(NULL::audit_action, entry)
    RETURNING * INTO made;
    INSERT INTO audit_payload (row_id, action_id, tenant_id, salt, body)
    VALUES (made.id, made.action_id, made.tenant_id, salt, body);
    PERFORM pg_advisory_xact_lock(hashtextextended('audit_hold ' || made.tenant_id, 0));
    DELETE FROM audit_artifact a USING audit_action r
    WHERE r.id = ANY(named) AND r.tenant_id = made.tenant_id
      AND a.action_id = r.action_id AND a.row_id = r.id;
    DELETE FROM audit_payload p USING audit_action r
    WHERE r.id = ANY(named) AND r.tenant_id = made.tenant_id
      AND p.action_id = r.action_id AND p.row_id = r.id;
    GET DIAGNOSTICS erased = ROW_COUNT;
    IF erased <> cardinality(named) THEN
        RAISE EXCEPTION 'Of % rows, % have a payload to erase in this organisation.',
            cardinality(named), erased;
    END IF;
    RETURN made.id;
END $$;
REVOKE ALL ON FUNCTION audit_redact(jsonb, bytea, text) FROM PUBLIC;
"""

END = """
-- An organisation's end: its data key is destroyed, and its policies go.
CREATE FUNCTION audit_end(entry jsonb, salt bytea, body text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    made audit_action;
BEGIN
    IF entry ->> 'action_type' IS DISTINCT FROM 'ledger.end'
       OR entry ->> 'tenant_id' = '00000000-0000-0000-0000-000000000000' THEN
        RAISE EXCEPTION 'Only the end of an organisation destroys its key.'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    INSERT INTO audit_action (COLUMNS)
    SELECT COLUMNS FROM jsonb_populate_record(NULL::audit_action, entry)
    RETURNING * INTO made;
    INSERT INTO audit_payload (row_id, action_id, tenant_id, salt, body)
    VALUES (made.id, made.action_id, made.tenant_id, salt, body);
    UPDATE audit_data_key SET wrapped = NULL
    WHERE tenant_id = made.tenant_id AND wrapped IS NOT NULL;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'The organisation % has no data key.', made.tenant_id;
    END IF;
    DELETE FROM audit_policy WHERE tenant_id = made.tenant_id;
    RETURN made.id;
END $$;
REVOKE ALL ON FUNCTION audit_end(jsonb, bytea, text) FROM PUBLIC;
"""

REWRAP = """
-- For a new vault key. Only `before` is replaced.
CREATE FUNCTION audit_rewrap(entry jsonb, salt bytea, body text, before bytea, after bytea)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    made audit_action;
BEGIN
    IF entry ->> 'action_type' IS DISTINCT FROM 'ledger.rewrap' THEN
        RAISE EXCEPTION 'Only a row that says so wraps a data key anew.'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    INSERT INTO audit_action (COLUMNS)
    SELECT COLUMNS FROM jsonb_populate_record(NULL::audit_action, entry)
    RETURNING * INTO made;
    INSERT INTO audit_payload (row_id, action_id, tenant_id, salt, body)
    VALUES (made.id, made.action_id, made.tenant_id, salt, body);
    UPDATE audit_data_key SET wrapped = after
    WHERE tenant_id = made.tenant_id AND wrapped = before;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'The data key of % was changed or destroyed meanwhile.', made.tenant_id;
    END IF;
    RETURN made.id;
END $$;
REVOKE ALL ON FUNCTION audit_rewrap(jsonb, bytea, text, bytea, bytea) FROM PUBLIC;
"""

RETAIN = """
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

-- Retention: whole months leave. Leaves and checkpoints stay, so every tree still verifies.
CREATE FUNCTION audit_drop_months(before date, entries jsonb) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    beginning uuid := audit_month_floor(before);
    months text[] := ARRAY(
        SELECT right(c.relname, 7) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'audit_action'::regclass
          AND right(c.relname, 7) < to_char(before, 'YYYY_MM')
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

CLOCK = """
-- The sealer may record one kind of row: that the server's clock stepped back.
CREATE FUNCTION audit_clock_step(entry jsonb, salt bytea, body text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    made audit_action;
BEGIN
    IF (entry ->> 'action_type', entry ->> 'phase', entry ->> 'status', entry ->> 'tenant_id')
       IS DISTINCT FROM
       ('ledger.clock', 'control', 'recorded', '00000000-0000-0000-0000-000000000000') THEN
        RAISE EXCEPTION 'Only a step of the clock is recorded by this.'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    INSERT INTO audit_action (COLUMNS)
    SELECT COLUMNS FROM jsonb_populate_record(NULL::audit_action, entry)
    RETURNING * INTO made;
    INSERT INTO audit_payload (row_id, action_id, tenant_id, salt, body)
    VALUES (made.id, made.action_id, made.tenant_id, salt, body);
    RETURN made.id;
END $$;
REVOKE ALL ON FUNCTION audit_clock_step(jsonb, bytea, text) FROM PUBLIC;
"""

# What was erased, has ended or has left does not come back; the ledger goes on without the doors.
UNDO = """
DROP FUNCTION audit_clock_step(jsonb, bytea, text);
DROP FUNCTION audit_drop_months(date, jsonb);
DROP FUNCTION audit_left(date);
DROP FUNCTION audit_rewrap(jsonb, bytea, text, bytea, bytea);
DROP FUNCTION audit_end(jsonb, bytea, text);
DROP FUNCTION audit_redact(jsonb, bytea, text);
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0003_keys_and_policies")]

    operations = [
        migrations.RunSQL(
            (ERASE + END + REWRAP + RETAIN + CLOCK).replace("COLUMNS", COLUMNS.strip()), UNDO
        )
    ]
