"""What a row may be is checked by one function instead of nine constraints, which PostgreSQL
reads anew from the catalogue for every statement. And rows of the ledger about itself are found
by one index instead of four: each index costs every statement its opening, also where it leaves
the row out."""

from django.db import migrations

CHECK = """
CREATE FUNCTION audit_is_entry(action_id uuid, attempt_no smallint, phase text, status text,
                               actor_type text, decision text, action_type text)
RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog AS $$
BEGIN
    RETURN substr(action_id::text, 15, 1) = '7' AND attempt_no > 0 AND action_type <> ''
        AND CASE phase
            WHEN 'attempt' THEN status = 'pending'
            WHEN 'outcome' THEN status IN ('succeeded', 'noop', 'failed', 'unknown')
            ELSE phase IN ('blocked', 'control', 'redaction')
                AND status IN ('pending', 'succeeded', 'noop', 'failed', 'blocked', 'waiting',
                               'denied', 'unknown', 'recorded')
        END
        AND actor_type IN ('agent', 'user', 'admin', 'recovery', 'maintenance', 'system')
        AND decision IN ('allowed', 'blocked', 'approved', 'none');
END $$;
ALTER TABLE audit_action
    ADD CONSTRAINT audit_action_is_entry CHECK (
        audit_is_entry(action_id, attempt_no, phase, status, actor_type, decision, action_type)),
    DROP CONSTRAINT audit_action_action_id_check,
    DROP CONSTRAINT audit_action_attempt_no_check,
    DROP CONSTRAINT audit_action_phase_check,
    DROP CONSTRAINT audit_action_status_check,
    DROP CONSTRAINT audit_action_actor_type_check,
    DROP CONSTRAINT audit_action_decision_check,
    DROP CONSTRAINT audit_action_action_type_check,
    DROP CONSTRAINT audit_action_attempt_is_pending,
    DROP CONSTRAINT audit_action_outcome_is_final;
"""
# Everything from 'ledger.' to below 'ledger/' begins with 'ledger.', and PostgreSQL sees that
# one such type lies between them. The migrations 0005, 0007 and 0009 made the others.
INDEX = """
DROP INDEX audit_action_hold, audit_action_redaction, audit_action_end, audit_action_about;
CREATE INDEX audit_action_about ON audit_action (tenant_id, action_type, action_id, id)
    WHERE phase = 'redaction' OR (action_type >= 'ledger.' AND action_type < 'ledger/');
"""
UNDO = """
DROP INDEX audit_action_about;
CREATE INDEX audit_action_about ON audit_action (tenant_id, action_type, action_id, id)
    WHERE action_type LIKE 'ledger.%';
CREATE INDEX audit_action_hold ON audit_action (tenant_id) WHERE action_type = 'ledger.hold';
CREATE INDEX audit_action_redaction ON audit_action (tenant_id) WHERE phase = 'redaction';
CREATE INDEX audit_action_end ON audit_action (tenant_id) WHERE action_type = 'ledger.end';
ALTER TABLE audit_action
    ADD CONSTRAINT audit_action_action_id_check CHECK (substr(action_id::text, 15, 1) = '7'),
    ADD CONSTRAINT audit_action_attempt_no_check CHECK (attempt_no > 0),
    ADD CONSTRAINT audit_action_phase_check
        CHECK (phase IN ('attempt', 'outcome', 'blocked', 'control', 'redaction')),
    ADD CONSTRAINT audit_action_status_check
        CHECK (status IN ('pending', 'succeeded', 'noop', 'failed', 'blocked', 'waiting',
                          'denied', 'unknown', 'recorded')),
    ADD CONSTRAINT audit_action_actor_type_check CHECK (
        actor_type IN ('agent', 'user', 'admin', 'recovery', 'maintenance', 'system')),
    ADD CONSTRAINT audit_action_decision_check
        CHECK (decision IN ('allowed', 'blocked', 'approved', 'none')),
    ADD CONSTRAINT audit_action_action_type_check CHECK (action_type <> ''),
    ADD CONSTRAINT audit_action_attempt_is_pending
        CHECK (phase <> 'attempt' OR status = 'pending'),
    ADD CONSTRAINT audit_action_outcome_is_final CHECK (
        phase <> 'outcome' OR status IN ('succeeded', 'noop', 'failed', 'unknown')),
    DROP CONSTRAINT audit_action_is_entry;
DROP FUNCTION audit_is_entry(uuid, smallint, text, text, text, text, text);
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0018_clock")]

    operations = [migrations.RunSQL(CHECK + INDEX, UNDO)]
