"""Conversations, the turns that are worked through in them, and what is handed on."""

import uuid
from decimal import Decimal

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models

import audit.ledger.ids


class Migration(migrations.Migration):
    initial = True

    dependencies = [("integrations", "0001_accounts_budgets_servers")]

    operations = [
        migrations.CreateModel(
            name="Conversation",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("external_user_id", models.CharField(max_length=200)),
                ("title", models.CharField(blank=True, max_length=120)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("organisation", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="conversations", to="integrations.organisation")),
            ],
            options={
                "ordering": ["-updated_at"],
                "indexes": [models.Index(fields=["organisation", "external_user_id", "-updated_at"], name="conversation_recent"), models.Index(fields=["-updated_at"], name="conversation_newest")],
            },
        ),
        migrations.CreateModel(
            name="Turn",
            fields=[
                ("id", models.UUIDField(default=audit.ledger.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ("external_user_id", models.CharField(max_length=200)),
                ("kind", models.CharField(choices=[("chat", "Chat"), ("inbound", "Inbound item")], max_length=16)),
                ("item_source_id", models.CharField(blank=True, max_length=500)),
                ("principal", models.CharField(blank=True, help_text="Who started it.", max_length=200)),
                ("language", models.CharField(default="en", help_text="In which Remit speaks to the user: a BCP 47 tag.", max_length=35)),
                ("state", models.CharField(choices=[("queued", "Queued"), ("running", "Running"), ("finished", "Finished"), ("failed", "Failed")], default="queued", max_length=16)),
                (
                    "ending",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("reply", "Reply"),
                            ("question", "Question to the user"),
                            ("escalated", "Handed to a person"),
                            ("limit", "A limit was reached"),
                            ("stopped", "Stopped by a person"),
                            ("pattern", "A learned pattern acted"),
                            ("error", "Something broke"),
                        ],
                        max_length=16,
                    ),
                ),
                ("error_code", models.CharField(blank=True, max_length=64)),
                ("decisions", models.JSONField(blank=True, default=list)),
                ("actions", models.JSONField(blank=True, default=list)),
                ("context", models.JSONField(blank=True, default=list)),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("last_event", models.PositiveIntegerField(default=0, help_text="How many events it has.")),
                ("lease_owner", models.UUIDField(blank=True, null=True)),
                ("lease_expires_at", models.DateTimeField(blank=True, null=True)),
                ("prompt_tokens", models.PositiveIntegerField(default=0)),
                ("completion_tokens", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("account", models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="turns", to="integrations.account")),
                ("conversation", models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name="turns", to="agents.conversation")),
                ("delivery", models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="turn", to="integrations.delivery")),
                ("organisation", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="turns", to="integrations.organisation")),
                ("stop_asked_at", models.DateTimeField(blank=True, null=True)),
                ("stop_asked_by", models.CharField(blank=True, max_length=200)),
            ],
            options={
                "ordering": ["-created_at"],
                "indexes": [
                    models.Index(condition=models.Q(("state__in", ["queued", "running"])), fields=["lease_expires_at"], name="turn_unfinished"),
                    models.Index(fields=["conversation", "-created_at"], name="turn_of_conversation"),
                    models.Index(fields=["organisation", "-created_at"], name="turn_recent"),
                ],
                "constraints": [
                    models.UniqueConstraint(condition=models.Q(("state__in", ["queued", "running"])), fields=("conversation",), name="turn_one_open_a_conversation"),
                    models.UniqueConstraint(condition=models.Q(("kind", "inbound")), fields=("account", "item_source_id"), name="turn_one_an_inbound_item"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Message",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("role", models.CharField(choices=[("user", "User"), ("assistant", "Assistant"), ("person", "A person"), ("tool", "Tool")], max_length=16)),
                ("content", models.TextField()),
                ("metadata", models.JSONField(blank=True, default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("conversation", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="messages", to="agents.conversation")),
                ("turn", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="messages", to="agents.turn")),
            ],
            options={
                "ordering": ["created_at"],
                "indexes": [models.Index(fields=["conversation", "-created_at"], name="message_recent"), models.Index(fields=["-created_at"], name="message_newest")],
                "constraints": [models.UniqueConstraint(fields=("turn", "role"), name="message_once_a_turn_and_role")],
            },
        ),
        migrations.CreateModel(
            name="TurnEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sequence", models.PositiveIntegerField()),
                ("type", models.CharField(max_length=32)),
                ("data", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("turn", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="events", to="agents.turn")),
            ],
            options={"ordering": ["sequence"], "constraints": [models.UniqueConstraint(fields=("turn", "sequence"), name="turn_event_once")]},
        ),
        migrations.CreateModel(
            name="Plan",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("content", models.JSONField()),
                ("finished", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("conversation", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="plan", to="agents.conversation")),
            ],
            options={"ordering": ["-updated_at"]},
        ),
        migrations.CreateModel(
            name="CustomAgent",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "name",
                    models.CharField(
                        help_text="Its name in prompts and pages.",
                        max_length=60,
                        validators=[django.core.validators.RegexValidator("^[\\w][\\w .-]*$", "Use letters, digits, spaces, . and -.")],
                    ),
                ),
                ("description", models.CharField(help_text="What it is good at. Queries are matched against this.", max_length=500)),
                ("capabilities", models.JSONField(blank=True, default=list, help_text="Short names of what it can do, one per line.")),
                ("prompt", models.TextField(help_text="Its instructions. They grant nothing.", max_length=8000)),
                ("tools", models.JSONField(default=list, help_text="What it may use. Actions stay inside the limits of the user.")),
                ("sources", models.JSONField(default=list, help_text="Whose data it may see.")),
                ("model", models.CharField(blank=True, help_text="Of the model provider; empty: the usual one.", max_length=100)),
                ("enabled", models.BooleanField(default=False, help_text="Whether agents may run it.")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("organisation", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="custom_agents", to="integrations.organisation")),
            ],
            options={"ordering": ["name"], "constraints": [models.UniqueConstraint(fields=("organisation", "name"), name="custom_agent_once_a_name")]},
        ),
        migrations.CreateModel(
            name="CustomAgentRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("call_id", models.UUIDField(unique=True)),
                ("succeeded", models.BooleanField()),
                ("steps", models.PositiveIntegerField()),
                ("latency_ms", models.PositiveIntegerField()),
                ("prompt_tokens", models.PositiveIntegerField()),
                ("completion_tokens", models.PositiveIntegerField()),
                ("cost", models.DecimalField(decimal_places=6, default=Decimal("0"), help_text="US dollars", max_digits=12)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("agent", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="runs", to="agents.customagent")),
                ("turn", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="custom_agent_runs", to="agents.turn")),
            ],
            options={"ordering": ["-created_at"], "indexes": [models.Index(fields=["agent", "-created_at"], name="custom_agent_run_recent")]},
        ),
        migrations.CreateModel(
            name="Escalation",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("external_user_id", models.CharField(max_length=200, verbose_name="user")),
                ("call_id", models.UUIDField(editable=False, unique=True)),
                ("reason", models.TextField(help_text="In the agent's words.")),
                ("tried", models.TextField(blank=True, help_text="In the agent's words.", verbose_name="what was tried")),
                ("state", models.CharField(choices=[("open", "Waiting"), ("taken", "Taken"), ("done", "Done")], default="open", max_length=16)),
                ("taken_by", models.CharField(blank=True, max_length=200)),
                ("taken_at", models.DateTimeField(blank=True, null=True)),
                ("done_by", models.CharField(blank=True, max_length=200)),
                ("done_at", models.DateTimeField(blank=True, null=True)),
                ("note", models.TextField(blank=True, help_text="For colleagues. The user does not see it.")),
                ("last_news", models.CharField(blank=True, help_text="The news that was sent out last.", max_length=16)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("conversation", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="escalations", to="agents.conversation")),
                ("organisation", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="escalations", to="integrations.organisation")),
                ("turn", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="escalations", to="agents.turn")),
            ],
            options={
                "ordering": ["-created_at"],
                "indexes": [models.Index(fields=["organisation", "state", "-created_at"], name="escalation_open"), models.Index(fields=["-created_at"], name="escalation_newest")],
                "constraints": [models.UniqueConstraint(condition=models.Q(("state__in", ["open", "taken"])), fields=("conversation",), name="escalation_one_open_a_conversation")],
            },
        ),
        migrations.CreateModel(
            name="ConversationSummary",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.TextField()),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("conversation", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="summary", to="agents.conversation")),
                ("until", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="agents.turn")),
            ],
            options={"verbose_name_plural": "conversation summaries"},
        ),
        migrations.CreateModel(
            name="Step",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("agent", models.CharField(max_length=64)),
                ("number", models.PositiveIntegerField()),
                ("text", models.TextField(blank=True)),
                ("model", models.CharField(blank=True, max_length=100)),
                ("finish_reason", models.CharField(blank=True, max_length=32)),
                ("prompt_tokens", models.PositiveIntegerField(default=0)),
                ("completion_tokens", models.PositiveIntegerField(default=0)),
                ("latency_ms", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={"ordering": ["id"]},
        ),
        migrations.CreateModel(
            name="ToolCall",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("position", models.PositiveIntegerField()),
                ("name", models.CharField(max_length=100)),
                ("arguments", models.TextField(help_text="As the model wrote them: maybe not JSON.")),
                ("action_id", models.UUIDField(default=audit.ledger.ids.uuid7, editable=False)),
                ("result", models.JSONField(blank=True, null=True)),
                ("latency_ms", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("step", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="calls", to="agents.step")),
                ("turn", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="calls", to="agents.turn")),
                ("cost", models.DecimalField(decimal_places=8, default=0, help_text="US dollars for models that it asked, those of a specialist included.", max_digits=14)),
            ],
            options={"ordering": ["step_id", "position"], "constraints": [models.UniqueConstraint(fields=("step", "position"), name="tool_call_once")]},
        ),
        migrations.AddField(
            model_name="step", name="parent_call", field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name="steps", to="agents.toolcall")
        ),
        migrations.AddField(model_name="step", name="turn", field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="steps", to="agents.turn")),
        migrations.AddField(model_name="step", name="cost", field=models.DecimalField(decimal_places=8, default=0, help_text="US dollars.", max_digits=14)),
        migrations.AddConstraint(model_name="step", constraint=models.UniqueConstraint(fields=("turn", "parent_call", "number"), name="step_once", nulls_distinct=False)),
    ]
