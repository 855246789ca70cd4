"""The ledger in months: rows, payloads and artifacts are partitioned by ranges of `action_id`,
whose first 48 bits are a time. All phases of an action share a month, so a phase is still
recorded once in the whole ledger. There is no default partition: an id of a month that
was not made is refused."""

from importlib import import_module

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

# The tables so far step aside, and are dropped once their rows are in the new ones. Inserting
# and dropping is all that happens here, so no guard is ever switched off.
ASIDE = """
CREATE SCHEMA audit_before;
ALTER TABLE audit_action SET SCHEMA audit_before;
ALTER TABLE audit_payload SET SCHEMA audit_before;
ALTER TABLE audit_artifact SET SCHEMA audit_before;
ALTER TABLE audit_leaf SET SCHEMA audit_before;
"""

TABLES = """
CREATE TABLE audit_action (
    LIKE audit_before.audit_action INCLUDING CONSTRAINTS INCLUDING DEFAULTS,
    PRIMARY KEY (action_id, id)
) PARTITION BY RANGE (action_id);
ALTER TABLE audit_action ALTER id ADD GENERATED ALWAYS AS IDENTITY;
-- Of two racing writers of one phase the first one counts.
CREATE UNIQUE INDEX audit_action_phase_once ON audit_action (action_id, attempt_no, phase)
    WHERE phase IN ('attempt', 'outcome', 'blocked');
CREATE INDEX audit_action_id ON audit_action (id);
CREATE INDEX audit_action_tenant ON audit_action (tenant_id, action_id, id);
CREATE INDEX audit_action_account ON audit_action (account_id, action_id, id);
CREATE INDEX audit_action_run ON audit_action (run_id, action_id, id) WHERE run_id <> '';
-- The sealer reads rows in the order of their transactions (audit.seals.seals says why).
CREATE INDEX audit_action_order ON audit_action (xact, id);

CREATE TABLE audit_payload (
    row_id bigint NOT NULL,
    action_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    salt bytea NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (action_id, row_id)
) PARTITION BY RANGE (action_id);

CREATE TABLE audit_artifact (
    id bigint GENERATED ALWAYS AS IDENTITY,
    row_id bigint NOT NULL,
    tenant_id uuid NOT NULL,
    action_id uuid NOT NULL,
    attempt_no smallint NOT NULL,
    ordinal smallint NOT NULL,
    kind text NOT NULL,
    provider text NOT NULL,
    external_id text NOT NULL,
    url_key text NOT NULL,
    digest text NOT NULL,
    PRIMARY KEY (action_id, row_id, ordinal)
) PARTITION BY RANGE (action_id);
CREATE INDEX audit_artifact_external ON audit_artifact (tenant_id, external_id);

-- Not in months: leaves stay when the rows of a month have gone.
CREATE TABLE audit_leaf (
    row_id bigint PRIMARY KEY,
    action_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    leaf_index bigint NOT NULL CHECK (leaf_index >= 0),
    xact xid8 NOT NULL,
    hash bytea NOT NULL CHECK (octet_length(hash) = 32),
    -- Two sealers cannot both give out a place.
    UNIQUE (tenant_id, leaf_index)
);
CREATE INDEX audit_leaf_order ON audit_leaf (xact, row_id);
"""

MONTHS = """
CREATE FUNCTION audit_month_floor(month date) RETURNS uuid
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog AS $$
    -- The smallest id of the month: its first millisecond in 48 bits, then zeros.
    SELECT (lpad(to_hex((extract(epoch FROM month::timestamp) * 1000)::bigint), 12, '0')
            || repeat('0', 20))::uuid
$$;

CREATE FUNCTION audit_make_month(month date) RETURNS boolean
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    first date := date_trunc('month', month)::date;
    following date := (first + interval '1 month')::date;
    whole text;
    part text;
BEGIN
    PERFORM pg_advisory_xact_lock(x'A0D17'::int);
    IF to_regclass('audit_action' || to_char(first, '_YYYY_MM')) IS NOT NULL THEN
        RETURN false;
    END IF;
    FOREACH whole IN ARRAY ARRAY['audit_action', 'audit_payload', 'audit_artifact'] LOOP
        part := whole || to_char(first, '_YYYY_MM');
        -- Made apart and attached: appending goes on meanwhile.
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL EXCLUDING IDENTITY)', part, whole);
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                       whole, part, audit_month_floor(first), audit_month_floor(following));
        -- Attaching brings the guard of the rows along, but not the one against TRUNCATE.
        EXECUTE format('CREATE TRIGGER %I BEFORE TRUNCATE ON %I FOR EACH STATEMENT '
                       'EXECUTE FUNCTION audit_refuse()', whole || '_keep_all', part);
        EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER %I', part, whole || '_keep');
        EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER %I', part, whole || '_keep_all');
    END LOOP;
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION audit_make_month(date) FROM PUBLIC;

-- The one that other roles may call: it makes nothing in the past, where rows could be backdated.
CREATE FUNCTION audit_make_months_ahead(months integer) RETURNS SETOF date
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT month::date
    FROM generate_series(date_trunc('month', now() AT TIME ZONE 'UTC'),
                         date_trunc('month', now() AT TIME ZONE 'UTC')
                             + make_interval(months => least(months, 24)),
                         interval '1 month') AS month
    WHERE audit_make_month(month::date)
$$;
REVOKE ALL ON FUNCTION audit_make_months_ahead(integer) FROM PUBLIC;
"""

GUARD = "".join(
    f"""
CREATE TRIGGER {table}_keep BEFORE UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION audit_refuse();
CREATE TRIGGER {table}_keep_all BEFORE TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_keep;
ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_keep_all;
"""
    for table in ("audit_action", "audit_payload", "audit_artifact", "audit_leaf")
)

ACTION_COLUMNS = """
    action_id, phase, attempt_no, schema_version, tenant_id, account_id, actor_type, actor_id,
    on_behalf_of, credential_ref, agent_id, agent_version, model_id, skill_ref, pattern_id,
    "trigger", run_id, trace_id, parent_action_id, provider, resource_type, resource_key,
    action_type, target_key, target_group_id, decision, decision_reason, policy_digest,
    approval_id, approved_by, idempotency_key, status, error_code, provider_request_id,
    latency_ms, target_row, payload_commitment, artifacts_digest, envelope_mac, occurred_at,
    recorded_at, xact
"""

COPY = f"""
-- The first 12 hexadecimal digits of an id are milliseconds since 1970.
SELECT audit_make_month(month) FROM (
    SELECT DISTINCT date_trunc('month', to_timestamp(
        ('x' || lpad(left(replace(action_id::text, '-', ''), 12), 16, '0'))::bit(64)::bigint
        / 1000.0) AT TIME ZONE 'UTC')::date AS month
    FROM audit_before.audit_action
) AS months;
SELECT audit_make_months_ahead(3);

INSERT INTO audit_action (id, {ACTION_COLUMNS}) OVERRIDING SYSTEM VALUE
    SELECT id, {ACTION_COLUMNS} FROM audit_before.audit_action ORDER BY id;
INSERT INTO audit_payload (row_id, action_id, tenant_id, salt, body)
    SELECT p.row_id, a.action_id, p.tenant_id, p.salt, p.body
    FROM audit_before.audit_payload p JOIN audit_before.audit_action a ON a.id = p.row_id;
INSERT INTO audit_artifact (id, row_id, tenant_id, action_id, attempt_no, ordinal, kind,
                            provider, external_id, url_key, digest) OVERRIDING SYSTEM VALUE
    SELECT id, row_id, tenant_id, action_id, attempt_no, ordinal, kind, provider, external_id,
           url_key, digest
    FROM audit_before.audit_artifact ORDER BY id;
INSERT INTO audit_leaf (row_id, action_id, tenant_id, leaf_index, xact, hash)
    SELECT l.row_id, a.action_id, l.tenant_id, l.leaf_index, l.xact, l.hash
    FROM audit_before.audit_leaf l JOIN audit_before.audit_action a ON a.id = l.row_id;
SELECT setval(pg_get_serial_sequence('audit_action', 'id'), max(id)) FROM audit_action
    HAVING max(id) IS NOT NULL;
SELECT setval(pg_get_serial_sequence('audit_artifact', 'id'), max(id)) FROM audit_artifact
    HAVING max(id) IS NOT NULL;

-- Parts whose row is gone would be left behind unseen: then somebody must look first.
DO $$ BEGIN
    IF (SELECT count(*) FROM audit_before.audit_payload) <> (SELECT count(*) FROM audit_payload)
    OR (SELECT count(*) FROM audit_before.audit_leaf) <> (SELECT count(*) FROM audit_leaf) THEN
        RAISE EXCEPTION 'The ledger holds payloads or leaves without their row. '
            'Run manage.py verify_ledger of the version before, and look into it first.';
    END IF;
END $$;
DROP SCHEMA audit_before CASCADE;
"""

# As in 0001: only while there is nothing to lose.
UNDO = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM audit_action) THEN
        RAISE EXCEPTION 'The ledger holds rows. It is not dropped.';
    END IF;
END $$;
DROP TABLE audit_checkpoint, audit_leaf, audit_artifact, audit_payload, audit_action;
DROP FUNCTION audit_make_months_ahead(integer);
DROP FUNCTION audit_make_month(date);
DROP FUNCTION audit_month_floor(date);
"""


def before() -> str:
    """The SQL that makes the tables as they were: that of the migrations 0001 and 0002."""
    ledger = import_module("audit.migrations.0001_ledger")
    seals = import_module("audit.migrations.0002_seals")
    tables: str = ledger.TABLES + ledger.GUARD + seals.TABLES + seals.GUARD
    return tables.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")


NAME = "ledger months"


def create(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    schedule = apps.get_model("django_q", "Schedule")
    schedule.objects.get_or_create(
        name=NAME,
        defaults={"func": "audit.tasks.keep_months_ahead", "schedule_type": "H", "repeats": -1},
    )


def remove(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("django_q", "Schedule").objects.filter(name=NAME).delete()


class Migration(migrations.Migration):
    dependencies = [("audit", "0003_policies"), ("django_q", "0018_task_success_index")]

    operations = [
        migrations.RunSQL(ASIDE + TABLES + GUARD + MONTHS + COPY, UNDO + before()),
        migrations.RunPython(create, remove),
    ]
