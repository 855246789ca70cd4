"""What may be done, what people decided about it, and what was learned from that."""

import uuid

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.core.validators
import django.db.models.deletion
from django.db import migrations, models

import audit.ledger.ids
import guardrails.models.base
import guardrails.actions.registry
import integrations.ports.registry


class Migration(migrations.Migration):
    initial = True

    dependencies = [("integrations", "0001_accounts_budgets_servers")]

    operations = [
        migrations.CreateModel(
            name="LearnedPattern",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("name", models.CharField(help_text="For people.", max_length=200)),
                ("sender_address", models.CharField(blank=True, help_text="The exact address of the sender.", max_length=254)),
                ("sender_domain", models.CharField(blank=True, help_text="The exact domain of the sender. A subdomain is another domain.", max_length=253)),
                ("list_id", models.CharField(blank=True, help_text="The exact id of the mailing list.", max_length=300)),
                ("subject", models.CharField(blank=True, help_text="The whole subject. Numbers, case and reply marks are ignored.", max_length=300)),
                ("content_type", models.CharField(choices=[("email", "E-mail")], default="email", help_text="What kind of item.", max_length=32)),
                ("digest", models.CharField(editable=False, help_text="Equal for patterns that match the same.", max_length=64)),
                ("reason", models.TextField(blank=True, help_text="Why it was proposed. Quoted, never evidence.", max_length=2000)),
                (
                    "state",
                    models.CharField(
                        choices=[("proposed", "Proposed"), ("approved", "Approved"), ("suspended", "Suspended")], default="proposed", help_text="Only an approved pattern does anything.", max_length=16
                    ),
                ),
                ("approved_by", models.CharField(blank=True, editable=False, help_text="The operator who approved it.", max_length=200)),
                ("approved_at", models.DateTimeField(blank=True, editable=False, help_text="When it was approved.", null=True)),
                ("hits", models.PositiveIntegerField(default=0, editable=False, help_text="How many items it matched.")),
                ("last_hit_at", models.DateTimeField(blank=True, editable=False, help_text="When it last matched.", null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("account", models.ForeignKey(help_text="Whose mail.", on_delete=django.db.models.deletion.CASCADE, related_name="patterns", to="integrations.account")),
                ("corrections", models.PositiveIntegerField(default=0, editable=False, help_text="How many of them somebody put back.")),
                ("example_id", models.CharField(blank=True, editable=False, help_text="The mail that the proposal was made from.", max_length=500)),
                ("expires_at", models.DateTimeField(blank=True, help_text="From then on it matches nothing, until it is renewed.", null=True)),
                (
                    "proposed_by",
                    models.CharField(
                        choices=[
                            ("operator", "An operator"),
                            ("chat", "The agent, asked by the user in a chat"),
                            ("webhook", "The agent, working through a mail that nobody asked about"),
                            ("repetition", "Remit, after the same decision came again and again"),
                        ],
                        default="operator",
                        editable=False,
                        help_text="Where the proposal comes from.",
                        max_length=16,
                    ),
                ),
                ("suspended_at", models.DateTimeField(blank=True, editable=False, help_text="When it was suspended.", null=True)),
                ("suspended_why", models.CharField(blank=True, editable=False, help_text="Why it was suspended.", max_length=500)),
            ],
            options={
                "ordering": ["account", "name"],
                "constraints": [
                    models.UniqueConstraint(fields=("account", "digest"), name="pattern_once"),
                    models.CheckConstraint(condition=models.Q(("list_id", ""), ("sender_address", ""), ("sender_domain", ""), _negated=True), name="pattern_names_a_sender_or_list"),
                    models.CheckConstraint(condition=models.Q(("state__in", ["proposed", "approved", "suspended"])), name="pattern_state"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "approved"), _negated=True),
                            models.Q(models.Q(("approved_by", ""), _negated=True), ("approved_at__isnull", False), ("expires_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="pattern_approved_by_somebody_for_a_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "suspended"), ("suspended_at__isnull", False)),
                            models.Q(models.Q(("state", "suspended"), _negated=True), ("suspended_at__isnull", True), ("suspended_why", "")),
                            _connector="OR",
                        ),
                        name="pattern_suspended_at_a_time",
                    ),
                ],
            },
            managers=[("objects", guardrails.models.base.ValidatedManager())],
        ),
        migrations.CreateModel(
            name="PatternAction",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("order", models.PositiveSmallIntegerField(default=0, help_text="Lower numbers come first.")),
                ("action_type", models.CharField(choices=guardrails.actions.registry.pattern_action_choices, help_text="What is done. It needs an allowed action of its own.", max_length=64)),
                ("arguments", models.JSONField(blank=True, default=dict, help_text='The arguments without the item, for example {"label_id": "Label_3"}; {} for archive.')),
                ("pattern", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="actions", to="guardrails.learnedpattern")),
            ],
            options={"ordering": ["pattern", "order"], "constraints": [models.UniqueConstraint(fields=("pattern", "order"), name="pattern_action_once")]},
            managers=[("objects", guardrails.models.base.ValidatedManager())],
        ),
        migrations.CreateModel(
            name="Skill",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("name", models.SlugField(help_text="How the agent asks for it.", max_length=100)),
                ("description", models.CharField(help_text="When to use it, in one sentence. The agent always sees this.", max_length=300)),
                ("content", models.TextField(help_text="The instructions. The agent sees them when it asks.", max_length=20000)),
                ("version", models.PositiveIntegerField(default=1, editable=False, help_text="Counts up with every change.")),
                ("enabled", models.BooleanField(default=True, help_text="The newest version decides whether the skill is offered.")),
                ("use_count", models.PositiveIntegerField(default=0, editable=False, help_text="How often this version was loaded.")),
                ("last_used_at", models.DateTimeField(blank=True, editable=False, help_text="When it was last loaded.", null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "account",
                    models.ForeignKey(
                        blank=True,
                        help_text="Empty: shared by all accounts of the organisation.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="skills",
                        to="integrations.account",
                    ),
                ),
                ("organisation", models.ForeignKey(help_text="Whose skill it is.", on_delete=django.db.models.deletion.CASCADE, related_name="skills", to="integrations.organisation")),
                ("decided_by", models.CharField(blank=True, editable=False, help_text="The operator who approved or rejected a proposed version.", max_length=200)),
                ("reason", models.CharField(blank=True, editable=False, help_text="Why the agent proposed it. Quoted, never evidence.", max_length=500)),
                (
                    "state",
                    models.CharField(
                        choices=[("proposed", "Proposed"), ("published", "Published"), ("rejected", "Rejected")],
                        default="published",
                        editable=False,
                        help_text="Agents see published versions only.",
                        max_length=16,
                    ),
                ),
                (
                    "proposed_by",
                    models.CharField(
                        blank=True,
                        choices=[("", "An operator"), ("chat", "The agent, asked by the user in a chat"), ("webhook", "The agent, working through a mail that nobody asked about")],
                        default="",
                        editable=False,
                        help_text="Where this version comes from.",
                        max_length=16,
                    ),
                ),
            ],
            options={
                "ordering": ["organisation", "name", "-version"],
                "constraints": [
                    models.UniqueConstraint(fields=("organisation", "account", "name", "version"), name="skill_version_once", nulls_distinct=False),
                    models.CheckConstraint(condition=models.Q(("version__gte", 1)), name="skill_version_counts_from_one"),
                    models.CheckConstraint(condition=models.Q(("state__in", ["proposed", "published", "rejected"])), name="skill_state"),
                ],
            },
            managers=[("objects", guardrails.models.base.ValidatedManager())],
        ),
        migrations.CreateModel(
            name="TargetGroup",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("name", models.CharField(help_text="For people, for example “Thread status”.", max_length=100)),
                (
                    "cardinality",
                    models.CharField(
                        choices=[("single", "One at a time"), ("multi", "Several at once")],
                        default="multi",
                        help_text="One at a time: setting one target takes the others of the group off.",
                        max_length=8,
                    ),
                ),
                ("account", models.ForeignKey(help_text="Whose targets these are.", on_delete=django.db.models.deletion.CASCADE, related_name="target_groups", to="integrations.account")),
            ],
            options={
                "ordering": ["account", "name"],
                "constraints": [
                    models.UniqueConstraint(fields=("account", "name"), name="target_group_once"),
                    models.CheckConstraint(condition=models.Q(("cardinality__in", ["single", "multi"])), name="target_group_cardinality"),
                ],
            },
            managers=[("objects", guardrails.models.base.ValidatedManager())],
        ),
        migrations.CreateModel(
            name="AllowedActionOption",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("action_type", models.CharField(choices=guardrails.actions.registry.action_choices, help_text="For which action.", max_length=64)),
                (
                    "resource_type",
                    models.CharField(
                        blank=True, choices=guardrails.actions.registry.resource_type_choices, default="", help_text="Only when the action is done to this type of thing. Empty: always.", max_length=32
                    ),
                ),
                ("source", models.CharField(choices=integrations.ports.registry.source_choices, help_text="Where the target exists.", max_length=32)),
                (
                    "kind",
                    models.CharField(
                        choices=guardrails.actions.registry.target_kind_choices,
                        help_text="Recipient: one exact address. Recipient domain: every address of exactly this domain, but never as a blind copy.",
                        max_length=32,
                    ),
                ),
                ("external_id", models.CharField(help_text="The target's identity: the id at the provider, the address or the domain. Only this is compared.", max_length=500)),
                (
                    "name",
                    models.CharField(
                        help_text="For people. For labels and projects it must be the present name at the provider: a renamed target is refused until somebody looks at it.", max_length=500
                    ),
                ),
                ("account", models.ForeignKey(help_text="Whose agent may use this target.", on_delete=django.db.models.deletion.CASCADE, related_name="listed_targets", to="integrations.account")),
                (
                    "group",
                    models.ForeignKey(
                        blank=True,
                        help_text="Optional. In a one-at-a-time group, setting this target takes the others off.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="listed_targets",
                        to="guardrails.targetgroup",
                    ),
                ),
            ],
            options={
                "ordering": ["account", "action_type", "kind", "name"],
                "constraints": [
                    models.UniqueConstraint(fields=("account", "action_type", "resource_type", "source", "kind", "external_id"), name="option_once"),
                    models.CheckConstraint(condition=models.Q(models.Q(("external_id", ""), _negated=True), models.Q(("kind", ""), _negated=True)), name="option_names_a_target"),
                ],
            },
            managers=[("objects", guardrails.models.base.ValidatedManager())],
        ),
        migrations.CreateModel(
            name="AllowedAction",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("action_type", models.CharField(choices=guardrails.actions.registry.action_choices, help_text="What the agent may do.", max_length=64)),
                (
                    "resource_type",
                    models.CharField(
                        blank=True,
                        choices=guardrails.actions.registry.resource_type_choices,
                        default="",
                        help_text="On what. Empty means on everything; an allowed action for one type of thing beats the general one.",
                        max_length=32,
                    ),
                ),
                ("enabled", models.BooleanField(default=True, help_text="Switch it off to stop this action at once.")),
                (
                    "approval_mode",
                    models.CharField(
                        choices=[("auto", "Automatic"), ("ask", "Ask a person"), ("draft_only", "Draft only"), ("never", "Never")],
                        default="ask",
                        help_text="Automatic: done when all conditions hold. Ask: waits for a person each time. Draft only: the agent has to propose a draft instead. Never: always refused.",
                        max_length=16,
                    ),
                ),
                ("conditions", guardrails.models.base.ConditionsField(blank=True, default=list)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "account",
                    models.ForeignKey(
                        help_text="Whose agent may do this, and at which source.", on_delete=django.db.models.deletion.CASCADE, related_name="allowed_actions", to="integrations.account"
                    ),
                ),
                (
                    "patterns_unapproved",
                    models.BooleanField(
                        default=False,
                        help_text="A proposed pattern may do this before anybody approves it, if a person treated at least five mails like that and none otherwise. What the agent proposes while it works through a mail always waits for approval.",
                        verbose_name="Patterns without approval",
                    ),
                ),
                (
                    "confirm_in_words",
                    models.BooleanField(
                        default=False,
                        help_text="The user may confirm this by typing a short “yes, do it” in the conversation that asks, not only with its button.",
                        verbose_name="Confirming in words",
                    ),
                ),
                (
                    "hold_seconds",
                    models.PositiveIntegerField(
                        default=0,
                        help_text="What reaches other people or destroys something is held for so many seconds first, and can be recalled until then. 0: not held.",
                        validators=[django.core.validators.MaxValueValidator(604800)],
                    ),
                ),
            ],
            options={
                "ordering": ["account", "action_type", "resource_type"],
                "constraints": [
                    models.UniqueConstraint(fields=("account", "action_type", "resource_type"), name="allowed_action_once"),
                    models.CheckConstraint(condition=models.Q(("approval_mode__in", ["auto", "ask", "draft_only", "never"])), name="allowed_action_mode"),
                ],
            },
            managers=[("objects", guardrails.models.base.ValidatedManager())],
        ),
        migrations.CreateModel(
            name="Approval",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("action_id", models.UUIDField(help_text="The action's id in the ledger.", unique=True)),
                ("question", models.UUIDField(help_text="Like actions of one run are one question: the id of its first approval.")),
                ("asked", models.JSONField(help_text="What makes it like others, and what brought it up.")),
                ("external_user_id", models.CharField(help_text="The user who is asked.", max_length=200)),
                ("exposures", models.JSONField(default=list, help_text="What others get to see by it, and who they are.")),
                ("turn_id", models.CharField(blank=True, help_text="The turn that proposed it.", max_length=64)),
                ("call_id", models.CharField(blank=True, max_length=200)),
                ("action_type", models.CharField(choices=guardrails.actions.registry.action_choices, max_length=64)),
                ("arguments", models.JSONField(help_text="The canonical arguments: exactly these are executed.")),
                ("origin", models.JSONField(help_text="Where the request came from, to decide it again.")),
                ("provenance", models.JSONField(default=dict, help_text="Where each value came from.")),
                ("readings", models.JSONField(default=dict, help_text="How the user's words were read as a value, by path.")),
                ("side_effects", models.JSONField(default=list, help_text="What happens besides.")),
                ("digest", models.CharField(help_text="Binds the person's word to exactly this action.", max_length=64)),
                ("policy_digest", models.CharField(help_text="The policy when it was asked.", max_length=64)),
                ("description", models.TextField(help_text="The action in one line.")),
                ("reason", models.TextField(blank=True, help_text="Why a person is asked.")),
                ("wordings", models.JSONField(default=dict, help_text="How Remit's own lines were made, to say them in other languages.")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "Waiting"),
                            ("approved", "Confirmed, being done"),
                            ("executed", "Confirmed and done"),
                            ("failed", "Confirmed, but failed"),
                            ("refused", "Confirmed, but refused"),
                            ("rejected", "Rejected"),
                            ("expired", "Expired"),
                            ("superseded", "Changed by a person"),
                        ],
                        default="pending",
                        max_length=16,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                ("decided_by", models.CharField(blank=True, max_length=200)),
                ("said_in", models.CharField(blank=True, help_text="The chat message in which it was confirmed in words.", max_length=64)),
                ("decision_reason", models.TextField(blank=True, help_text="What the person said about it.")),
                ("executed", models.JSONField(default=dict, help_text="What became of it.")),
                ("account", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="approvals", to="integrations.account")),
                ("organisation", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="approvals", to="integrations.organisation")),
                (
                    "revises",
                    models.OneToOneField(
                        blank=True, help_text="What a person changed into this.", null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="revision", to="guardrails.approval"
                    ),
                ),
                ("decided_as", models.CharField(blank=True, help_text="The user for whom the word was given.", max_length=200)),
                ("delegated_at", models.DateTimeField(blank=True, null=True)),
                ("delegated_by", models.CharField(blank=True, max_length=200)),
                ("delegated_to", models.CharField(blank=True, help_text="user:…, operator:… or group:…: who decides now.", max_length=200)),
                ("differences", models.JSONField(default=list, help_text="What is there now and what there would be: [what, before, after].")),
                ("escalated_at", models.DateTimeField(blank=True, help_text="When it was brought to the operators' attention.", null=True)),
                ("escalated_by", models.CharField(blank=True, max_length=200)),
                ("first_seen", models.JSONField(default=dict, help_text="Where values came up that nobody typed or listed, by path.")),
                ("in_ledger", models.BooleanField(default=False, editable=False, help_text="Whether the decision is a row of the ledger.")),
                ("shown_at", models.DateTimeField(blank=True, help_text="When it was first before the person who decides.", null=True)),
                ("reached", models.JSONField(default=dict, help_text="Whom and what it reaches though no argument says so, by path.")),
                ("delegated_as", models.CharField(blank=True, help_text="The user for whom it was handed on.", max_length=200)),
            ],
            options={
                "ordering": ["-created_at"],
                "indexes": [
                    models.Index(fields=["organisation", "external_user_id", "-created_at"], name="approval_inbox"),
                    models.Index(fields=["turn_id"], name="approval_turn"),
                    models.Index(condition=models.Q(("state", "pending")), fields=["expires_at"], name="approval_open"),
                    models.Index(condition=models.Q(("state", "approved")), fields=["decided_at"], name="approval_unfinished"),
                    models.Index(condition=models.Q(("in_ledger", False), models.Q(("state__in", ["pending", "approved"]), _negated=True)), fields=["decided_at"], name="approval_unrecorded"),
                    models.Index(condition=models.Q(("state", "pending")), fields=["account", "turn_id"], name="approval_waiting"),
                    models.Index(condition=models.Q(("delegated_to", ""), _negated=True), fields=["delegated_to", "-created_at"], name="approval_delegated"),
                    models.Index(
                        models.Case(models.When(state="pending", then=models.Value(0)), default=models.Value(1)), models.OrderBy(models.F("created_at"), descending=True), name="approval_waiting_first"
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("state__in", ["pending", "approved", "executed", "failed", "refused", "rejected", "expired", "superseded"])), name="approval_state"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("decided_at__isnull", True), ("state", "pending")), models.Q(models.Q(("state", "pending"), _negated=True), ("decided_at__isnull", False)), _connector="OR"
                        ),
                        name="approval_decided_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CeilingLimit",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("action_type", models.CharField(blank=True, choices=guardrails.actions.registry.action_choices, default="", help_text="Which action. Empty means every action.", max_length=64)),
                (
                    "at_most",
                    models.CharField(
                        choices=[("never", "Forbidden"), ("draft_only", "At most as a draft"), ("ask", "At most after asking a person"), ("auto", "Only under these conditions")],
                        default="ask",
                        help_text="The most that any account may permit.",
                        max_length=16,
                    ),
                ),
                ("conditions", guardrails.models.base.ConditionsField(blank=True, default=list)),
                ("note", models.CharField(blank=True, help_text="Why, for people.", max_length=300)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "organisation",
                    models.ForeignKey(help_text="Whose accounts it holds for: all of them.", on_delete=django.db.models.deletion.CASCADE, related_name="ceiling", to="integrations.organisation"),
                ),
                (
                    "hold_seconds",
                    models.PositiveIntegerField(
                        default=0,
                        help_text="What reaches other people or destroys something is held for at least so many seconds first, and can be recalled until then. 0: not held.",
                        validators=[django.core.validators.MaxValueValidator(604800)],
                    ),
                ),
            ],
            options={
                "verbose_name": "ceiling limit",
                "ordering": ["organisation", "action_type", "at_most"],
                "constraints": [models.CheckConstraint(condition=models.Q(("at_most__in", ["never", "draft_only", "ask", "auto"])), name="ceiling_at_most")],
            },
            managers=[("objects", guardrails.models.base.ValidatedManager())],
        ),
        migrations.CreateModel(
            name="KillSwitch",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("action_type", models.CharField(blank=True, choices=guardrails.actions.registry.action_choices, default="", max_length=64)),
                ("source", models.CharField(blank=True, choices=integrations.ports.registry.source_choices, default="", max_length=32)),
                ("why", models.CharField(max_length=300)),
                ("thrown_by", models.CharField(max_length=200)),
                ("thrown_at", models.DateTimeField(auto_now_add=True)),
                ("lifted_by", models.CharField(blank=True, max_length=200)),
                ("lifted_at", models.DateTimeField(blank=True, null=True)),
                ("lifted_why", models.CharField(blank=True, max_length=300)),
                (
                    "account",
                    models.ForeignKey(blank=True, help_text="Empty: every account.", null=True, on_delete=django.db.models.deletion.CASCADE, related_name="switches", to="integrations.account"),
                ),
                (
                    "organisation",
                    models.ForeignKey(
                        blank=True, help_text="Empty: every organisation.", null=True, on_delete=django.db.models.deletion.CASCADE, related_name="switches", to="integrations.organisation"
                    ),
                ),
            ],
            options={
                "verbose_name": "switch",
                "verbose_name_plural": "switches",
                "ordering": ["-thrown_at"],
                "constraints": [
                    models.UniqueConstraint(condition=models.Q(("lifted_at", None)), fields=("organisation", "account", "action_type", "source"), name="switch_thrown_once", nulls_distinct=False),
                    models.CheckConstraint(
                        condition=models.Q(models.Q(("lifted_at", None), ("lifted_by", "")), models.Q(("lifted_at__isnull", False), models.Q(("lifted_by", ""), _negated=True)), _connector="OR"),
                        name="switch_lifted_by_somebody",
                    ),
                ],
            },
            managers=[("objects", guardrails.models.base.ValidatedManager())],
        ),
        migrations.CreateModel(
            name="Usage",
            fields=[
                ("action_id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ("action_type", models.CharField(max_length=64)),
                ("run", models.CharField(blank=True, max_length=64)),
                ("receivers", django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=254), default=list, size=None)),
                ("new_receivers", django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=254), default=list, size=None)),
                ("destructive", models.BooleanField(default=False)),
                ("hidden", models.BooleanField(default=False)),
                ("amounts", models.JSONField(default=dict)),
                ("asked_at", models.DateTimeField(null=True)),
                ("counted_at", models.DateTimeField(null=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("account", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="usage", to="integrations.account")),
            ],
            options={
                "indexes": [
                    models.Index(fields=["account", "counted_at"], name="usage_window"),
                    models.Index(fields=["account", "run"], name="usage_run"),
                    models.Index(fields=["updated_at"], name="usage_sweep"),
                ]
            },
        ),
        migrations.CreateModel(
            name="PatternEvidence",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("item_id", models.CharField(help_text="The provider's id of the mail.", max_length=500)),
                ("thread_id", models.CharField(blank=True, max_length=500)),
                ("subject", models.CharField(blank=True, max_length=500)),
                ("occurred_at", models.DateTimeField(help_text="When the mail was sent.")),
                ("side", models.CharField(choices=[("supporting", "Treated like that"), ("contradicting", "Treated otherwise"), ("undecided", "Not looked at yet")], max_length=16)),
                ("by_person", models.BooleanField(default=False, help_text="A person did it with their own hands, or confirmed it.")),
                ("sentence", models.CharField(help_text="What was done with it, in words.", max_length=1000)),
                ("pattern", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="evidence", to="guardrails.learnedpattern")),
            ],
            options={"ordering": ["-occurred_at", "item_id"], "constraints": [models.UniqueConstraint(fields=("pattern", "item_id"), name="pattern_evidence_once")]},
        ),
        migrations.CreateModel(
            name="PatternHit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("item_id", models.CharField(help_text="The provider's id of the mail.", max_length=500)),
                ("subject", models.CharField(blank=True, max_length=500)),
                ("turn_id", models.CharField(help_text="The turn it acted in.", max_length=64)),
                ("at", models.DateTimeField()),
                ("corrected_at", models.DateTimeField(blank=True, null=True)),
                ("correction", models.CharField(blank=True, help_text="What somebody put back, in words.", max_length=500)),
                ("account", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="integrations.account")),
                ("pattern", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="hit_rows", to="guardrails.learnedpattern")),
            ],
            options={
                "ordering": ["-at"],
                "indexes": [models.Index(fields=["account", "item_id"], name="pattern_hit_of_item")],
                "constraints": [models.UniqueConstraint(fields=("pattern", "item_id"), name="pattern_hit_once")],
            },
        ),
        migrations.CreateModel(
            name="HeldSend",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("action_id", models.UUIDField(help_text="The action's id in the ledger.", unique=True)),
                ("external_user_id", models.CharField(help_text="On whose behalf.", max_length=200)),
                ("turn_id", models.CharField(blank=True, max_length=64)),
                ("action_type", models.CharField(choices=guardrails.actions.registry.action_choices, max_length=64)),
                ("arguments", models.JSONField(help_text="The canonical arguments: exactly these are executed.")),
                ("origin", models.JSONField(help_text="Where the request came from, to decide it again.")),
                ("confirmation", models.JSONField(default=dict, help_text="The person's word, if one was asked.")),
                ("description", models.TextField(help_text="The action in one line.")),
                ("seen", models.JSONField(default=list, help_text="The object when it was decided: each part with its digest.")),
                ("until", models.DateTimeField(help_text="When it is carried out, if nobody recalls it.")),
                (
                    "state",
                    models.CharField(
                        choices=[("held", "Held"), ("released", "Released"), ("recalled", "Recalled"), ("refused", "Released, but refused"), ("failed", "Released, but failed")],
                        default="held",
                        max_length=16,
                    ),
                ),
                ("held_at", models.DateTimeField(auto_now_add=True)),
                ("decided_at", models.DateTimeField(blank=True, help_text="When it was released or recalled.", null=True)),
                ("decided_by", models.CharField(blank=True, max_length=200)),
                ("finished_at", models.DateTimeField(blank=True, help_text="When what became of it was in the ledger.", null=True)),
                ("outcome", models.TextField(blank=True, help_text="What became of it, for people.")),
                ("account", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="held_sends", to="integrations.account")),
                ("organisation", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="held_sends", to="integrations.organisation")),
            ],
            options={
                "verbose_name": "held send",
                "ordering": ["-held_at"],
                "indexes": [
                    models.Index(condition=models.Q(("state", "held")), fields=["until"], name="held_send_due"),
                    models.Index(condition=models.Q(("finished_at", None), ("state__in", ["released", "recalled"])), fields=["decided_at"], name="held_send_unfinished"),
                    models.Index(fields=["organisation", "external_user_id", "-held_at"], name="held_send_inbox"),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("state__in", ["held", "released", "recalled", "refused", "failed"])), name="held_send_state"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("decided_at__isnull", True), ("state", "held")), models.Q(models.Q(("state", "held"), _negated=True), ("decided_at__isnull", False)), _connector="OR"
                        ),
                        name="held_send_decided_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ShadowPolicy",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("content", models.JSONField(help_text="A whole policy file, as plain data.")),
                ("since", models.DateTimeField(auto_now_add=True)),
                ("by", models.CharField(help_text="Who put it there.", max_length=200)),
                ("note", models.CharField(blank=True, help_text="What for.", max_length=300)),
                ("account", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="shadow", to="integrations.account")),
            ],
            options={"verbose_name": "shadow policy", "verbose_name_plural": "shadow policies"},
        ),
        migrations.CreateModel(
            name="Undo",
            fields=[
                ("undone_action_id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ("action_id", models.UUIDField(help_text="The undoing action's id in the ledger.", unique=True)),
                ("description", models.TextField(help_text="The action that is taken back, in one line.")),
                ("commanded_by", models.CharField(max_length=200)),
                ("commanded_at", models.DateTimeField(auto_now=True)),
                ("state", models.CharField(blank=True, help_text="What became of it.", max_length=16)),
                ("outcome", models.TextField(blank=True, help_text="The same, for people.")),
                ("account", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="undos", to="integrations.account")),
                ("organisation", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="undos", to="integrations.organisation")),
            ],
            options={"ordering": ["-commanded_at"]},
        ),
        migrations.CreateModel(
            name="CheckpointRecipient",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("kind", models.CharField(choices=[("webhook", "Webhook"), ("mail", "Mail")], default="mail", max_length=16)),
                ("address", models.CharField(help_text="A mail address, or the https:// address of a webhook.", max_length=500)),
                ("added_by", models.CharField(editable=False, max_length=200)),
                ("added_at", models.DateTimeField(auto_now_add=True)),
                ("code_digest", models.CharField(blank=True, editable=False, max_length=64)),
                ("code_sent_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("code_tries", models.PositiveSmallIntegerField(default=0, editable=False)),
                ("confirmed_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("next_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("failures", models.PositiveIntegerField(default=0, editable=False)),
                ("error_code", models.CharField(blank=True, editable=False, max_length=64)),
                ("delivered_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("delivered_size", models.BigIntegerField(blank=True, editable=False, null=True)),
                ("organisation", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="checkpoint_recipients", to="integrations.organisation")),
            ],
            options={
                "verbose_name": "checkpoint recipient",
                "ordering": ["organisation", "address"],
                "indexes": [models.Index(condition=models.Q(("confirmed_at__isnull", False)), fields=["next_at"], name="recipient_due")],
                "constraints": [models.UniqueConstraint(fields=("organisation", "kind", "address"), name="recipient_once")],
            },
        ),
        migrations.CreateModel(
            name="AgentMail",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("action_id", models.UUIDField(editable=False)),
                ("address", models.CharField(help_text="In small letters.", max_length=254)),
                ("account", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="agent_mails", to="integrations.account")),
            ],
            options={"indexes": [models.Index(fields=["account", "address"], name="agent_mail_to")], "constraints": [models.UniqueConstraint(fields=("action_id", "address"), name="agent_mail_once")]},
        ),
        migrations.CreateModel(
            name="AgentFiling",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("action_id", models.UUIDField(editable=False)),
                ("item_id", models.CharField(help_text="The provider's id of the mail.", max_length=500)),
                ("account", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="agent_filings", to="integrations.account")),
            ],
            options={"indexes": [models.Index(fields=["account", "item_id"], name="agent_filing_of")], "constraints": [models.UniqueConstraint(fields=("action_id", "item_id"), name="agent_filing_once")]},
        ),
        migrations.CreateModel(
            name="AssistantDraft",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("action_id", models.UUIDField(editable=False, help_text="Its id in the ledger.", unique=True)),
                ("draft_id", models.CharField(blank=True, help_text="The provider's id; empty until it is known.", max_length=500)),
                ("message_id", models.TextField(blank=True)),
                ("revision", models.TextField(blank=True, help_text="As it was written, where that is known.")),
                ("digest", models.CharField(help_text="Of what was written.", max_length=64)),
                ("thread_id", models.CharField(max_length=500)),
                ("reply_to_id", models.CharField(help_text="The mail it answers.", max_length=500)),
                ("receivers", models.JSONField(default=list, help_text="Addresses in small letters.")),
                ("of_own_accord", models.BooleanField(help_text="A mail set it off: nobody asked for it.")),
                ("state", models.CharField(choices=[("pending", "Waits for the user"), ("sent", "Sent by the user"), ("edited", "Edited by the user"), ("superseded", "Taken back, untouched"), ("missing", "Gone")], default="pending", max_length=16)),
                ("answer_id", models.CharField(blank=True, help_text="The mail that the user sent instead, or from it.", max_length=500)),
                ("nearness", models.FloatField(help_text="How much of that mail and the draft is the same, from 0 to 1.", null=True)),
                ("withdrawal_id", models.UUIDField(editable=False, help_text="The action that takes it back, in the ledger.", null=True)),
                ("written_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                ("account", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="assistant_drafts", to="integrations.account")),
            ],
            options={"ordering": ["-written_at"], "indexes": [models.Index(condition=models.Q(("state", "pending")), fields=["account", "thread_id"], name="assistant_draft_pending")]},
        ),
        migrations.CreateModel(
            name="ChangeRequest",
            fields=[
                ("id", models.UUIDField(default=audit.ledger.ids.uuid7, editable=False, help_text="Its id in the ledger too.", primary_key=True, serialize=False)),
                ("external_user_id", models.CharField(help_text="Who asks.", max_length=200, verbose_name="user")),
                ("action_id", models.UUIDField(help_text="The refused action's id in the ledger.")),
                ("turn_id", models.CharField(blank=True, help_text="The turn it was refused in.", max_length=64)),
                ("action_type", models.CharField(choices=guardrails.actions.registry.action_choices, max_length=64)),
                ("description", models.TextField(help_text="The refused action in one line.")),
                ("fingerprint", models.CharField(help_text="Equal for equal changes: the same wish is one request.", max_length=64)),
                ("differences", models.JSONField(default=list, help_text="What would change in words, or what was changed: one text each.")),
                ("wordings", models.JSONField(default=dict, help_text="How Remit's own lines were made, to say them in other languages.")),
                ("times_refused", models.PositiveIntegerField(default=1, help_text="Refusals among the account's latest decisions that it would end.")),
                ("first_refused_at", models.DateTimeField(help_text="When the first of those was.")),
                ("state", models.CharField(choices=[("open", "Waiting"), ("approved", "Approved"), ("declined", "Declined")], default="open", max_length=16)),
                ("asked_by", models.CharField(help_text="The caller that the user asked through.", max_length=200)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                ("decided_by", models.CharField(blank=True, max_length=200)),
                ("answer", models.TextField(blank=True, help_text="What the operator says to the user.")),
                ("last_news", models.CharField(blank=True, editable=False, help_text="The news that was sent out last.", max_length=16)),
                ("account", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="change_requests", to="integrations.account")),
                ("organisation", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="change_requests", to="integrations.organisation")),
            ],
            options={
                "ordering": ["-created_at"],
                "indexes": [
                    models.Index(fields=["organisation", "external_user_id", "-created_at"], name="change_request_of_user"),
                    models.Index(fields=["state", "created_at"], name="change_request_waiting"),
                ],
                "constraints": [
                    models.UniqueConstraint(condition=models.Q(("state", "open")), fields=("account", "fingerprint"), name="change_request_one_open"),
                    models.CheckConstraint(condition=models.Q(models.Q(("decided_at__isnull", True), ("state", "open")), models.Q(("state__in", ["approved", "declined"]), ("decided_at__isnull", False)), _connector="OR"), name="change_request_decided_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="AskedRefusal",
            fields=[
                ("action_id", models.UUIDField(editable=False, help_text="The refused action's id in the ledger.", primary_key=True, serialize=False)),
                ("asked_at", models.DateTimeField(auto_now_add=True)),
                ("change_request", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="refusals", to="guardrails.changerequest")),
            ],
            options={"ordering": ["asked_at"]},
        ),
        migrations.CreateModel(
            name="Person",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("address", models.CharField(help_text="One plain address, exactly as it is written to.", max_length=254)),
                ("name", models.CharField(help_text="First name and surname.", max_length=200)),
                (
                    "other_names",
                    django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), blank=True, default=list, help_text="What else colleagues call this person, separated by commas.", size=10),
                ),
                (
                    "is_group",
                    models.BooleanField(
                        default=False, help_text="Many people read what is sent there: a person is asked each time, and no name in a user's words means it.", verbose_name="Mailing list or group"
                    ),
                ),
                ("source", models.CharField(choices=[("operator", "Entered or imported by an operator"), ("provider", "Read from a provider")], default="operator", editable=False, max_length=16)),
                ("words", django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, editable=False, size=None)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("organisation", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="people", to="integrations.organisation")),
            ],
            options={
                "verbose_name_plural": "people",
                "ordering": ["name", "address"],
                "indexes": [django.contrib.postgres.indexes.GinIndex(fields=["words"], name="person_words")],
                "constraints": [models.UniqueConstraint(fields=("organisation", "address"), name="person_once", violation_error_message="This address is in the directory already.")],
            },
            managers=[("objects", guardrails.models.base.ValidatedManager())],
        ),
        migrations.CreateModel(
            name="DirectorySync",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("enabled", models.BooleanField(default=True)),
                ("tried_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("done_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("problem", models.TextField(blank=True, editable=False, help_text="What went wrong last time.")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "account",
                    models.ForeignKey(
                        help_text="The mailbox whose provider keeps the organisation's directory.", on_delete=django.db.models.deletion.CASCADE, related_name="+", to="integrations.account"
                    ),
                ),
                ("organisation", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="directory_sync", to="integrations.organisation")),
            ],
            options={"ordering": ["organisation"]},
            managers=[("objects", guardrails.models.base.ValidatedManager())],
        ),
        migrations.CreateModel(
            name="OwnDomain",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("domain", models.CharField(help_text="Such as company.com. Only exactly this one: subdomains are other domains.", max_length=253)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("organisation", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="own_domains", to="integrations.organisation")),
            ],
            options={
                "ordering": ["domain"],
                "constraints": [models.UniqueConstraint(fields=("organisation", "domain"), name="own_domain_once", violation_error_message="This domain is listed already.")],
            },
            managers=[("objects", guardrails.models.base.ValidatedManager())],
        ),
        migrations.CreateModel(
            name="Errand",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("action_id", models.UUIDField(help_text="The action's id in the ledger.", unique=True)),
                ("action_type", models.CharField(max_length=64)),
                ("arguments", models.JSONField()),
                ("origin", models.JSONField()),
                ("confirmation", models.JSONField(default=dict, help_text="The person's word, if one was asked.")),
                ("asked_at", models.DateTimeField(auto_now_add=True)),
                ("account", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="errands", to="integrations.account")),
            ],
        ),
    ]
