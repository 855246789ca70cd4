"""The ledger's tables and what keeps them append-only. Plain SQL, so that an auditor can
read it here and compare it with the database (`\\d+ audit_action`).

Rows, payloads and artifacts are partitioned by ranges of `action_id`, whose first 48 bits are a
time. All phases of an action share a month, so a phase is recorded once in the whole ledger.
There is no default partition: an id of a month that was not made is refused."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from audit.migrations._guard import guarded, unless_there_are

# What a row may be is checked by one function, because PostgreSQL reads each constraint anew from
# the catalogue for every statement.
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
"""

TABLES = """
CREATE TABLE audit_action (
    id bigint GENERATED ALWAYS AS IDENTITY,
    action_id uuid NOT NULL,
    phase text NOT NULL,
    attempt_no smallint NOT NULL,
    schema_version smallint NOT NULL,
    tenant_id uuid NOT NULL,
    account_id uuid,
    actor_type text NOT NULL,
    actor_id text NOT NULL,
    on_behalf_of text NOT NULL,
    credential_ref text NOT NULL,
    agent_id text NOT NULL,
    agent_version text NOT NULL,
    model_id text NOT NULL,
    skill_ref text NOT NULL,
    pattern_id text NOT NULL,
    "trigger" text NOT NULL,
    run_id text NOT NULL,
    trace_id text NOT NULL,
    parent_action_id uuid,
    provider text NOT NULL,
    resource_type text NOT NULL,
    resource_key text NOT NULL,
    action_type text NOT NULL,
    target_key text NOT NULL,
    target_group_id text NOT NULL,
    decision text NOT NULL,
    decision_reason text NOT NULL,
    policy_digest text NOT NULL,
    approval_id text NOT NULL,
    approved_by text NOT NULL,
    idempotency_key text NOT NULL,
    status text NOT NULL,
    error_code text NOT NULL,
    provider_request_id text NOT NULL,
    latency_ms integer,
    target_row bigint,
    payload_commitment text NOT NULL,
    artifacts_digest text NOT NULL,
    envelope_mac text NOT NULL,
    occurred_at timestamptz NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    xact xid8 NOT NULL DEFAULT pg_current_xact_id(),
    CONSTRAINT audit_action_is_entry CHECK (
        audit_is_entry(action_id, attempt_no, phase, status, actor_type, decision, action_type)),
    PRIMARY KEY (action_id, id)
) PARTITION BY RANGE (action_id);
-- Of two racing writers of one phase the first one counts.
CREATE UNIQUE INDEX audit_action_phase_once ON audit_action (action_id, attempt_no, phase)
    WHERE phase IN ('attempt', 'outcome', 'blocked');
CREATE INDEX audit_action_id ON audit_action (id);
CREATE INDEX audit_action_tenant ON audit_action (tenant_id, action_id, id);
CREATE INDEX audit_action_account ON audit_action (account_id, action_id, id);
CREATE INDEX audit_action_run ON audit_action (run_id, action_id, id) WHERE run_id <> '';
-- The sealer reads rows in the order of their transactions (audit.seals.sealer says why).
CREATE INDEX audit_action_order ON audit_action (xact, id);
-- By what an action was about (the keyed digest of a provider's id), and from the action that it
-- takes back or revises.
CREATE INDEX audit_action_resource ON audit_action (resource_key, action_id)
    WHERE resource_key <> '';
CREATE INDEX audit_action_parent ON audit_action (parent_action_id, action_id)
    WHERE parent_action_id IS NOT NULL;
-- Rows about the ledger itself are few among many. Everything from 'ledger.' to below 'ledger/'
-- begins with 'ledger.', and PostgreSQL sees that one such type lies between them.
CREATE INDEX audit_action_about ON audit_action (tenant_id, action_type, action_id, id)
    WHERE phase = 'redaction' OR (action_type >= 'ledger.' AND action_type < 'ledger/');

-- In the clear (`salt` and `body`: what the database itself reads or keeps, audit.ledger.vault) or in a
-- `box`, encrypted under the organisation's data key.
CREATE TABLE audit_payload (
    row_id bigint NOT NULL,
    action_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    salt bytea,
    body text,
    -- What is encrypted doesn't get smaller: compressing it would cost time for nothing.
    box bytea STORAGE EXTERNAL,
    CONSTRAINT audit_payload_one_form CHECK (
        num_nulls(salt, body) = CASE WHEN box IS NULL THEN 0 ELSE 2 END),
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
"""

# What a row is about may be erased, in the transaction that records which rows were erased and
# why. The row itself stays, so every proof stays good; and what says that something was erased,
# held, ended or left by retention cannot be erased.
REFUSALS = """
CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    RAISE EXCEPTION 'The ledger only inserts: % on % is refused.', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE FUNCTION audit_refuse_unless_redacted() RETURNS trigger
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    about audit_action;
BEGIN
    IF TG_OP = 'DELETE' THEN
        SELECT * INTO about FROM audit_action WHERE action_id = OLD.action_id AND id = OLD.row_id;
        IF EXISTS (
            SELECT FROM audit_action h
            WHERE h.tenant_id = OLD.tenant_id AND h.action_type = 'ledger.hold'
              AND h.status = 'pending' AND h.on_behalf_of IN ('', about.on_behalf_of)
              AND NOT EXISTS (SELECT FROM audit_action r
                              WHERE r.action_id = h.action_id AND r.status = 'succeeded')
        ) THEN
            RAISE EXCEPTION 'A legal hold keeps row %.', OLD.row_id
                USING ERRCODE = 'insufficient_privilege';
        END IF;
        IF about.phase <> 'redaction' AND about.action_type NOT IN ('ledger.hold', 'ledger.end', 'ledger.retention') AND EXISTS (
            SELECT FROM audit_action r
            JOIN audit_payload p ON p.action_id = r.action_id AND p.row_id = r.id
            WHERE r.xact = pg_current_xact_id() AND r.phase = 'redaction'
              AND r.tenant_id = OLD.tenant_id
              AND p.body::jsonb #> '{payload,rows}' @> to_jsonb(OLD.row_id)
        ) THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'The ledger only inserts: % on % is refused.', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege';
END $$;
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

SELECT audit_make_months_ahead(3);
"""

GUARDS = (
    guarded("audit_action")
    + guarded("audit_payload", function="audit_refuse_unless_redacted")
    + guarded("audit_artifact", function="audit_refuse_unless_redacted")
)

UNDO = """
DROP TABLE audit_artifact, audit_payload, audit_action;
DROP FUNCTION audit_make_months_ahead(integer);
DROP FUNCTION audit_make_month(date);
DROP FUNCTION audit_month_floor(date);
DROP FUNCTION audit_refuse_unless_redacted();
DROP FUNCTION audit_refuse();
DROP FUNCTION audit_is_entry(uuid, smallint, text, text, text, text, text);
"""

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
    initial = True

    dependencies = [("django_q", "0018_task_success_index")]

    operations = [
        migrations.RunSQL(
            CHECK + TABLES + REFUSALS + GUARDS + MONTHS,
            unless_there_are("audit_action", "rows") + UNDO,
        ),
        migrations.RunPython(create, remove),
        # Unmanaged: Django only needs to know that they exist, for permissions. The columns
        # are those of the SQL above.
        migrations.CreateModel(
            name="ExecutedAgentAction",
            fields=[("id", models.BigAutoField(primary_key=True))],
            options={
                "managed": False,
                "db_table": "audit_action",
                "verbose_name": "ledger entry",
                "verbose_name_plural": "ledger",
                "permissions": [
                    ("erase_contents", "Can erase what ledger rows are about"),
                    ("hold_contents", "Can set and release legal holds"),
                    ("drop_months", "Can propose and confirm that old months leave"),
                    ("end_ledger", "Can end an organisation's ledger"),
                ],
            },
        ),
        migrations.CreateModel(
            name="LedgerPayload",
            fields=[("id", models.BigAutoField(primary_key=True))],
            options={"managed": False, "db_table": "audit_payload"},
        ),
        migrations.CreateModel(
            name="ActionArtifact",
            fields=[("id", models.BigAutoField(primary_key=True))],
            options={
                "managed": False,
                "db_table": "audit_artifact",
                "ordering": ["row_id", "ordinal"],
            },
        ),
    ]
