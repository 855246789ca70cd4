"""Agents that administrators define, and what their runs took."""

import uuid
from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models

from agents.models.turns import Turn
from integrations.models import Organisation
from integrations.ports.registry import BY_SOURCE

CAPABILITIES = 20


class CustomAgent(models.Model):
    """An agent with a prompt, tools and sources of its own. It acts under the same limits as
    every agent, and sees the sources it is given and no other."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(
        Organisation, on_delete=models.PROTECT, related_name="custom_agents"
    )
    name = models.CharField(
        max_length=60,
        validators=[RegexValidator(r"^[\w][\w .-]*$", "Use letters, digits, spaces, . and -.")],
        help_text="Its name in prompts and pages.",
    )
    description = models.CharField(
        max_length=500, help_text="What it is good at. Queries are matched against this."
    )
    capabilities = models.JSONField(
        default=list, blank=True, help_text="Short names of what it can do, one per line."
    )
    prompt = models.TextField(max_length=8000, help_text="Its instructions. They grant nothing.")
    tools = models.JSONField(
        default=list, help_text="What it may use. Actions stay inside the limits of the user."
    )
    sources = models.JSONField(default=list, help_text="Whose data it may see.")
    model = models.CharField(
        max_length=100, blank=True, help_text="Of the model provider; empty: the usual one."
    )
    enabled = models.BooleanField(default=False, help_text="Whether agents may run it.")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "name"], name="custom_agent_once_a_name"
            )
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Without a source or a tool it could do nothing, which nobody means by it."""
        problems: dict[str, Any] = {}
        if not self.tools:
            problems["tools"] = "Choose at least one tool."
        if not self.sources:
            problems["sources"] = "Choose at least one source."
        elif strange := [source for source in self.sources if source not in BY_SOURCE]:
            problems["sources"] = f"Unknown: {', '.join(map(str, strange))}."
        if len(self.capabilities) > CAPABILITIES:
            problems["capabilities"] = f"At most {CAPABILITIES}."
        if problems:
            raise ValidationError(problems)


class CustomAgentRun(models.Model):
    """One run of a custom agent, once a call."""

    agent = models.ForeignKey(CustomAgent, on_delete=models.CASCADE, related_name="runs")
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="custom_agent_runs")
    call_id = models.UUIDField(unique=True)
    succeeded = models.BooleanField()
    steps = models.PositiveIntegerField()
    latency_ms = models.PositiveIntegerField()
    prompt_tokens = models.PositiveIntegerField()
    completion_tokens = models.PositiveIntegerField()
    cost = models.DecimalField(
        max_digits=12, decimal_places=6, default=Decimal(0), help_text="US dollars"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["agent", "-created_at"], name="custom_agent_run_recent")]

    def __str__(self) -> str:
        return f"{self.agent} in {self.latency_ms} ms"
