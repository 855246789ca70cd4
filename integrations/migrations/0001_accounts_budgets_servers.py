"""Who there is, what comes in, what it costs, and the servers that are reached."""

import uuid

import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
import django.db.models.functions
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import integrations.models.accounts
import integrations.models.preferences
import integrations.ports.registry


class Migration(migrations.Migration):
    initial = True

    dependencies = [migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.CreateModel(
            name="Organisation",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("slug", models.SlugField(help_text="Names this organisation in web addresses and in the environment (DATA_SERVICES, WEBHOOK_SECRETS). The first one is “default”.", unique=True)),
                ("name", models.CharField(max_length=200)),
                ("paused", models.BooleanField(default=False, help_text="Stops every action of every account at once.")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={"ordering": ["slug"]},
        ),
        migrations.CreateModel(
            name="Account",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("external_user_id", models.CharField(help_text="The user's id in your frontend and in the data service.", max_length=200)),
                ("source", models.CharField(choices=integrations.ports.registry.source_choices, max_length=32)),
                ("kind", models.CharField(editable=False, max_length=16)),
                ("provider", models.CharField(editable=False, max_length=32)),
                ("address", models.CharField(blank=True, help_text="The user's own address at this source.", max_length=320)),
                ("display_name", models.CharField(blank=True, max_length=200)),
                ("time_zone", models.CharField(default="UTC", max_length=64, validators=[integrations.models.accounts.validate_time_zone])),
                ("paused", models.BooleanField(default=False, help_text="Stops every action of this account at once, and takes its address out of the directory of colleagues.")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("organisation", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="accounts", to="integrations.organisation")),
                (
                    "features",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            max_length=50, validators=[django.core.validators.RegexValidator("^[a-z0-9]+(?:-[a-z0-9]+)*\\Z", "Use small letters, digits and hyphens, such as auto-drafts.")]
                        ),
                        blank=True,
                        default=list,
                        help_text="The features this account has opted in to.",
                        size=None,
                    ),
                ),
            ],
            options={"ordering": ["external_user_id", "source"], "constraints": [models.UniqueConstraint(condition=models.Q(("provider__in", ("data_service", "imports", "mcp"))), fields=("organisation", "external_user_id", "source"), name="account_once", violation_error_message="This user has an account of this source already.")]},
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "organisation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to="integrations.organisation",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("user", "organisation"),
                        name="membership_once",
                        violation_error_message="They are a member of this organisation already.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ProviderResource",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("resource_type", models.CharField(max_length=32)),
                ("external_id", models.CharField(max_length=500)),
                ("name", models.CharField(blank=True, max_length=500)),
                ("metadata", models.JSONField(blank=True, default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("account", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="resources", to="integrations.account")),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("account", "resource_type", "external_id"), name="resource_once")]},
        ),
        migrations.CreateModel(
            name="ServiceToken",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("name", models.CharField(help_text="Who holds it, for example “web frontend”.", max_length=100)),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                (
                    "scopes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("chat", "Chat and conversations, deciding nothing"),
                                ("sync", "Syncs"),
                                ("accounts", "Connect and disconnect mailboxes of its users"),
                                ("approvals", "Decide what waits, in a chat too"),
                                ("audit:read", "Read and export the ledger"),
                                ("policy", "Read policies"),
                                ("mcp", "Search and act over MCP, as another agent"),
                            ],
                            max_length=32,
                        ),
                        default=list,
                        size=None,
                    ),
                ),
                (
                    "user_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=200), blank=True, default=list, help_text="The users it may act for. Empty: every user of the organisation.", size=None
                    ),
                ),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ("last_used_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("organisation", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="tokens", to="integrations.organisation")),
            ],
            options={"ordering": ["name"]},
        ),
        migrations.CreateModel(
            name="Delivery",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("webhook_id", models.CharField(max_length=200)),
                ("kind", models.CharField(max_length=16)),
                ("source", models.CharField(max_length=32)),
                ("source_id", models.CharField(max_length=500)),
                ("body", models.JSONField(help_text="The event as it was sent.")),
                (
                    "size",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Func(django.db.models.functions.Cast("body", models.TextField()), function="octet_length"),
                        help_text="Bytes of the event.",
                        output_field=models.IntegerField(),
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("queued", "Queued"), ("running", "Running"), ("processed", "Processed"), ("skipped", "Skipped"), ("dead", "Dead letter")], default="queued", max_length=16
                    ),
                ),
                ("reason", models.CharField(blank=True, max_length=64)),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("stalls", models.PositiveIntegerField(default=0, help_text="How often work on it began and did not end in any way.")),
                ("waiting_since", models.DateTimeField(blank=True, help_text="Since when it waits for what does not answer.", null=True)),
                ("is_alone", models.BooleanField(default=False, help_text="It fails while others of its account do not: nobody waits behind it.")),
                ("lease_expires_at", models.DateTimeField(blank=True, help_text="When another process may take it: the lease of who works on it, or the wait before the next try.", null=True)),
                ("received_at", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("account", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="deliveries", to="integrations.account")),
                ("organisation", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="deliveries", to="integrations.organisation")),
            ],
            options={
                "verbose_name_plural": "deliveries",
                "ordering": ["-received_at"],
                "indexes": [
                    models.Index(condition=models.Q(("state__in", ["queued", "running"])), fields=["lease_expires_at"], name="delivery_unfinished"),
                    models.Index(fields=["organisation", "-received_at"], name="delivery_recent"),
                    models.Index(fields=["account", "source_id"], name="delivery_item"),
                    models.Index(condition=models.Q(("state__in", ["queued", "running"])), fields=["account", "received_at"], name="delivery_in_order"),
                    models.Index(fields=["-received_at"], name="delivery_newest"),
                    models.Index(condition=models.Q(("state", "dead")), fields=["-received_at"], name="delivery_dead"),
                ],
                "constraints": [models.UniqueConstraint(fields=("organisation", "webhook_id"), name="delivery_once")],
            },
        ),
        migrations.CreateModel(
            name="Outage",
            fields=[
                (
                    "account",
                    models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name="outage", serialize=False, to="integrations.account"),
                ),
                ("code", models.CharField(help_text="What the last try met.", max_length=64)),
                ("since", models.DateTimeField(default=django.utils.timezone.now)),
                ("due_at", models.DateTimeField(help_text="When it is tried again.")),
            ],
            options={"ordering": ["since"]},
        ),
        migrations.CreateModel(
            name="Upstream",
            fields=[
                ("name", models.SlugField(help_text="The organisation's slug.", primary_key=True, serialize=False)),
                ("next_at", models.DateTimeField(help_text="Until when its pace is used up by requests.")),
                ("blocked_until", models.DateTimeField(blank=True, help_text="It asked Remit to wait until then.", null=True)),
                ("failures", models.PositiveIntegerField(default=0, help_text="Requests in a row that it did not answer, of all processes.")),
                ("opened_until", models.DateTimeField(blank=True, help_text="Until then nothing is sent; then one request tries it.", null=True)),
                ("last_error", models.CharField(blank=True, max_length=200)),
                ("last_error_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={"verbose_name": "data service", "ordering": ["name"]},
        ),
        migrations.CreateModel(
            name="Budget",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "external_user_id",
                    models.CharField(blank=True, help_text="Empty: each user of the organisation who has no budget of their own.", max_length=200, verbose_name="user"),
                ),
                ("max_tokens", models.PositiveBigIntegerField(blank=True, help_text="Empty: any number.", null=True, verbose_name="tokens in 24 hours")),
                (
                    "max_cost",
                    models.DecimalField(
                        blank=True, decimal_places=2, help_text="Empty: any amount.", max_digits=10, null=True, validators=[django.core.validators.MinValueValidator(0)], verbose_name="US$ in 24 hours"
                    ),
                ),
                (
                    "account",
                    models.ForeignKey(
                        blank=True,
                        help_text="Only what is done for this account without a person: its incoming mail and its syncs.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="budgets",
                        to="integrations.account",
                    ),
                ),
                ("organisation", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="budgets", to="integrations.organisation")),
            ],
            options={
                "ordering": ["organisation", "external_user_id"],
                "constraints": [
                    models.UniqueConstraint(fields=("organisation", "external_user_id", "account"), name="budget_once", nulls_distinct=False),
                    models.CheckConstraint(
                        condition=models.Q(("account", None), ("external_user_id", ""), _connector="OR"),
                        name="budget_of_user_or_account",
                        violation_error_message="Choose a user or an account, not both.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ModelCall",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("external_user_id", models.CharField(max_length=200, verbose_name="user")),
                ("run_id", models.UUIDField(blank=True, null=True, verbose_name="turn")),
                ("purpose", models.CharField(help_text="The agent or the task that asked.", max_length=64)),
                ("model", models.CharField(max_length=100)),
                ("prompt_tokens", models.PositiveIntegerField(default=0)),
                ("cached_tokens", models.PositiveIntegerField(default=0, help_text="Of the prompt's tokens, those the provider had cached.")),
                ("answer_tokens", models.PositiveIntegerField(default=0)),
                ("cost", models.DecimalField(decimal_places=8, default=0, max_digits=14, verbose_name="cost (US$)")),
                ("latency_ms", models.PositiveIntegerField(default=0)),
                ("error_code", models.CharField(blank=True, max_length=64)),
                ("at", models.DateTimeField(auto_now_add=True, verbose_name="time")),
                ("account", models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="model_calls", to="integrations.account")),
                ("organisation", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="model_calls", to="integrations.organisation")),
            ],
            options={
                "verbose_name": "model call",
                "ordering": ["-at"],
                "indexes": [
                    models.Index(fields=["run_id"], name="model_call_run"),
                    models.Index(fields=["organisation", "external_user_id", "at"], name="model_call_user"),
                    models.Index(fields=["account", "at"], name="model_call_account"),
                    models.Index(fields=["-at"], name="model_call_newest"),
                ],
            },
        ),
        migrations.CreateModel(
            name="McpServer",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "slug",
                    models.CharField(
                        help_text="Names its tools: tracker makes tracker:create_issue and plan_tracker_tools.",
                        max_length=30,
                        validators=[django.core.validators.RegexValidator("^[a-z][a-z0-9_]{0,29}\\Z", "Use small letters, digits and underscores.")],
                        verbose_name="short name",
                    ),
                ),
                ("name", models.CharField(help_text="For people, for example “Issue tracker”.", max_length=100)),
                ("url", models.CharField(help_text="Its streamable HTTP endpoint, for example https://mcp.example.com/mcp.", max_length=500, verbose_name="address")),
                (
                    "token_variable",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="The environment variable that holds its bearer token, for example MCP_TOKEN_TRACKER. The token itself is not stored. Empty: none is sent.",
                        max_length=60,
                        validators=[django.core.validators.RegexValidator("^MCP_TOKEN_[A-Z0-9_]{1,50}\\Z", "Use a name such as MCP_TOKEN_TRACKER, in capitals.")],
                        verbose_name="token from",
                    ),
                ),
                ("enabled", models.BooleanField(default=True, help_text="Switch it off to stop all of its tools at once.")),
                ("looked_at", models.DateTimeField(blank=True, editable=False, null=True, verbose_name="tools last read")),
                ("problem", models.CharField(blank=True, default="", editable=False, max_length=300)),
                (
                    "organisation",
                    models.ForeignKey(
                        help_text="Whose agents may use its tools, once they are enabled and permitted.",
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="mcp_servers",
                        to="integrations.organisation",
                    ),
                ),
            ],
            options={"verbose_name": "MCP server", "ordering": ["organisation", "slug"], "constraints": [models.UniqueConstraint(fields=("organisation", "slug"), name="mcp_server_once")]},
        ),
        migrations.CreateModel(
            name="McpTool",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("name", models.CharField(editable=False, max_length=200)),
                ("title", models.CharField(blank=True, default="", editable=False, max_length=200)),
                ("description", models.TextField(blank=True, default="", editable=False)),
                ("input_schema", models.JSONField(blank=True, default=dict, editable=False)),
                ("hints", models.JSONField(blank=True, default=dict, editable=False)),
                ("fingerprint", models.CharField(editable=False, max_length=64)),
                ("unusable", models.CharField(blank=True, default="", editable=False, max_length=200)),
                ("enabled", models.BooleanField(default=False, help_text="Enable it when you have read what its server says above. It is switched off automatically when that changes.")),
                (
                    "effect",
                    models.CharField(
                        choices=[
                            ("acting", "Acts: a person is always asked"),
                            ("undoable", "Acts, and can be taken back there: as the policy says"),
                            ("reading", "Only reads: as the policy says"),
                        ],
                        default="acting",
                        help_text="What you know that it does. What is sent to it leaves the organisation, even if the tool only reads.",
                        max_length=10,
                    ),
                ),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("changed_at", models.DateTimeField(blank=True, editable=False, help_text="Its server changed it after it was enabled.", null=True)),
                ("seen", models.TextField(blank=True, default="", editable=False, help_text="What its server said when it was last enabled.")),
                ("gone_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("server", models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name="tools", to="integrations.mcpserver")),
            ],
            options={
                "verbose_name": "MCP tool",
                "ordering": ["server", "name"],
                "constraints": [
                    models.UniqueConstraint(fields=("server", "name"), name="mcp_tool_once"),
                    models.CheckConstraint(condition=models.Q(("enabled", False), ("unusable", ""), _connector="OR"), name="mcp_tool_usable"),
                ],
            },
        ),
        migrations.CreateModel(
            name="UserPreferences",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("external_user_id", models.CharField(help_text="The user's id in your frontend and in the data service.", max_length=200, verbose_name="user")),
                ("name", models.CharField(blank=True, help_text="As they sign. Empty: the name of the account they connected first.", max_length=200, validators=[integrations.models.preferences.validate_line])),
                ("language", models.CharField(blank=True, help_text="A tag such as de or pt-BR. Empty: the language they write in.", max_length=35, validators=[integrations.models.preferences.validate_language])),
                ("time_zone", models.CharField(blank=True, help_text="Such as Europe/Berlin. Empty: the zone of the account they connected first.", max_length=64, validators=[integrations.models.accounts.validate_time_zone])),
                ("working_hours", models.JSONField(blank=True, default=dict, validators=[integrations.models.preferences.validate_hours])),
                ("signature", models.TextField(blank=True, help_text="Ends the mails that are drafted for them.", max_length=1000, validators=[integrations.models.preferences.validate_lines, django.core.validators.MaxLengthValidator(1000)])),
                ("organisation", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="preferences", to="integrations.organisation")),
            ],
            options={
                "verbose_name": "preferences",
                "verbose_name_plural": "preferences",
                "ordering": ["external_user_id"],
                "constraints": [models.UniqueConstraint(fields=("organisation", "external_user_id"), name="preferences_once", violation_error_message="This user has preferences already.")],
            },
        ),
        # Written at every request and worth nothing after a crash: no write-ahead log for it.
        migrations.RunSQL("ALTER TABLE integrations_upstream SET UNLOGGED", "ALTER TABLE integrations_upstream SET LOGGED"),
        migrations.CreateModel(
            name='Credential',
            fields=[
                ('account', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='credential', serialize=False, to='integrations.account')),
                ('user_name', models.CharField(max_length=320)),
                ('servers', models.JSONField(default=dict, help_text='Where the account is, as its provider needs to know.')),
                ('sealed', models.BinaryField()),
                ('key_id', models.CharField(db_index=True, max_length=16)),
                ('state', models.CharField(choices=[('good', 'Signed in'), ('sign_in', 'Sign in again')], default='good', max_length=16)),
                ('changed_at', models.DateTimeField(auto_now=True)),
                ('looked_at', models.DateTimeField(blank=True, help_text='When somebody last began to look for what is new.', null=True)),
                ('seen_at', models.DateTimeField(blank=True, help_text='All that was new until then has been seen.', null=True)),
                ('watched_by', models.UUIDField(blank=True, help_text='Which process listens there.', null=True)),
                ('watched_until', models.DateTimeField(blank=True, null=True)),
                ('failure', models.CharField(blank=True, help_text='Why the last look failed.', max_length=64)),
                ('failed_at', models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.CreateModel(
            name='CalendarMark',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('path', models.CharField(max_length=1000)),
                ('token', models.CharField(blank=True, max_length=1000)),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='calendar_marks', to='integrations.account')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('account', 'path'), name='calendar_mark_once')],
            },
        ),
        migrations.CreateModel(
            name='CalendarPlace',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('event_id', models.CharField(max_length=40)),
                ('path', models.CharField(max_length=1000)),
                ('etag', models.CharField(blank=True, help_text='As it was last read in.', max_length=500)),
                ('parts', models.JSONField(default=list, help_text='The ids of the events in it that were read in.')),
                ('changes', models.BigIntegerField(default=0, help_text='How often it came out changed.')),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='calendar_places', to='integrations.account')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('account', 'event_id'), name='calendar_place_once')],
            },
        ),
        migrations.CreateModel(
            name='CalendarWrite',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=200)),
                ('operation', models.CharField(max_length=40)),
                ('event_id', models.CharField(max_length=80)),
                ('path', models.CharField(max_length=1000)),
                ('etag_before', models.CharField(blank=True, max_length=500)),
                ('answer', models.JSONField(default=dict)),
                ('done', models.BooleanField(default=False)),
                ('begun_at', models.DateTimeField(auto_now_add=True)),
                ('changed_at', models.DateTimeField(auto_now=True)),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='calendar_writes', to='integrations.account')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('account', 'key'), name='calendar_write_once')],
            },
        ),
        migrations.CreateModel(
            name='MailMark',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('folder', models.CharField(max_length=500)),
                ('validity', models.BigIntegerField()),
                ('next_uid', models.BigIntegerField()),
                ('modseq', models.BigIntegerField(default=0)),
                ('mails', models.BigIntegerField(default=0)),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='mail_marks', to='integrations.account')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('account', 'folder'), name='mail_mark_once')],
            },
        ),
        migrations.CreateModel(
            name='MailState',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(max_length=1000)),
                ('begun_at', models.DateTimeField(auto_now_add=True)),
                ('account', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='mail_state', to='integrations.account')),
            ],
        ),
        migrations.CreateModel(
            name='MailPlace',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('mail_id', models.CharField(max_length=40)),
                ('thread_id', models.CharField(max_length=40)),
                ('message_id', models.CharField(blank=True, max_length=260)),
                ('folder', models.CharField(blank=True, help_text='Empty: nobody knows.', max_length=500)),
                ('validity', models.BigIntegerField()),
                ('uid', models.BigIntegerField()),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='mail_places', to='integrations.account')),
            ],
            options={
                'indexes': [models.Index(fields=['account', 'mail_id'], name='mail_place_of_mail'), models.Index(fields=['account', 'thread_id'], name='mail_place_of_thread')],
                'constraints': [models.UniqueConstraint(fields=('account', 'folder', 'validity', 'uid'), name='mail_place_once')],
            },
        ),
        migrations.CreateModel(
            name='MailWrite',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=200)),
                ('operation', models.CharField(blank=True, help_text='Empty: none had begun.', max_length=40)),
                ('mail_id', models.CharField(blank=True, max_length=40)),
                ('target', models.JSONField(default=dict)),
                ('answer', models.JSONField(default=dict)),
                ('state', models.CharField(choices=[('started', 'Started'), ('submitting', 'The last byte of a mail is under way'), ('done', 'Done'), ('given_up', 'Given up: nothing is sent under this key any more')], default='started', max_length=16)),
                ('begun_at', models.DateTimeField(auto_now_add=True)),
                ('changed_at', models.DateTimeField(auto_now=True)),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='mail_writes', to='integrations.account')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('account', 'key'), name='mail_write_once')],
            },
        ),
    ]
