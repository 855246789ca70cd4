"""MCP servers that an organisation uses, and the tools they offer."""

import json
import uuid

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models

from integrations.exceptions import ProviderError
from integrations.models.accounts import Account, Organisation
from integrations.network import outgoing
from integrations.ports.tools import tool_id

# No other secret of the environment can be named, and so sent to a server.
VARIABLE = RegexValidator(
    r"^MCP_TOKEN_[A-Z0-9_]{1,50}\Z", "Use a name such as MCP_TOKEN_TRACKER, in capitals."
)
SLUG = RegexValidator(r"^[a-z][a-z0-9_]{0,29}\Z", "Use small letters, digits and underscores.")


class McpServer(models.Model):
    """One server, spoken to over streamable HTTP. It never grants anything by what it says."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(
        Organisation,
        on_delete=models.CASCADE,
        related_name="mcp_servers",
        help_text="Whose agents may use its tools, once they are enabled and permitted.",
    )
    slug = models.CharField(
        "short name",
        max_length=30,
        validators=[SLUG],
        help_text="Names its tools: tracker makes tracker:create_issue and plan_tracker_tools.",
    )
    name = models.CharField(max_length=100, help_text="For people, for example “Issue tracker”.")
    url = models.CharField(
        "address",
        max_length=500,
        help_text="Its streamable HTTP endpoint, for example https://mcp.example.com/mcp.",
    )
    token_variable = models.CharField(
        "token from",
        max_length=60,
        blank=True,
        default="",
        validators=[VARIABLE],
        help_text="The environment variable that holds its bearer token, for example "
        "MCP_TOKEN_TRACKER. The token itself is not stored. Empty: none is sent.",
    )
    enabled = models.BooleanField(
        default=True, help_text="Switch it off to stop all of its tools at once."
    )
    looked_at = models.DateTimeField("tools last read", null=True, blank=True, editable=False)
    problem = models.CharField(max_length=300, blank=True, default="", editable=False)

    class Meta:
        verbose_name = "MCP server"
        ordering = ["organisation", "slug"]
        constraints = [
            models.UniqueConstraint(fields=["organisation", "slug"], name="mcp_server_once")
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        try:
            outgoing.check_form(self.url)
        except ProviderError as error:
            raise ValidationError({"url": str(error)}) from error


class McpTool(models.Model):
    """One tool as its server described it when its tools were last read. Off until an operator
    looked at it, and off again when the description changes."""

    class Effect(models.TextChoices):
        ACTING = "acting", "Acts: a person is always asked"
        UNDOABLE = "undoable", "Acts, and can be taken back there: as the policy says"
        READING = "reading", "Only reads: as the policy says"
        KNOWN = "known", "A known tool: as its reviewed description and the policy say"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    server = models.ForeignKey(
        McpServer, on_delete=models.CASCADE, related_name="tools", editable=False
    )
    name = models.CharField(max_length=200, editable=False)
    title = models.CharField(max_length=200, blank=True, default="", editable=False)
    description = models.TextField(blank=True, default="", editable=False)
    input_schema = models.JSONField(default=dict, blank=True, editable=False)
    hints = models.JSONField(default=dict, blank=True, editable=False)
    fingerprint = models.CharField(max_length=64, editable=False)
    unusable = models.CharField(max_length=200, blank=True, default="", editable=False)
    enabled = models.BooleanField(
        default=False,
        help_text="Enable it when you have read what its server says above. It is switched off "
        "automatically when that changes.",
    )
    effect = models.CharField(
        max_length=10,
        choices=Effect,
        default=Effect.ACTING,
        help_text="What you know that it does. What is sent to it leaves the organisation, "
        "even if the tool only reads.",
    )
    version = models.PositiveIntegerField(default=1, editable=False)
    changed_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="Its server changed it after it was enabled.",
    )
    seen = models.TextField(
        blank=True,
        default="",
        editable=False,
        help_text="What its server said when it was last enabled.",
    )
    gone_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        verbose_name = "MCP tool"
        ordering = ["server", "name"]
        constraints = [
            models.UniqueConstraint(fields=["server", "name"], name="mcp_tool_once"),
            models.CheckConstraint(
                condition=models.Q(enabled=False) | models.Q(unusable=""),
                name="mcp_tool_usable",
            ),
        ]

    def __str__(self) -> str:
        return tool_id(self.server.slug, self.name)

    @property
    def organisation_id(self) -> uuid.UUID:
        return self.server.organisation_id

    @property
    def said(self) -> str:
        """All that its server says about it, as lines to read and to compare."""
        parts = {"Title": self.title, "Description": self.description}
        lines = [f"{name}: {text or '(none)'}" for name, text in parts.items()]
        for name, value in (("Arguments", self.input_schema), ("Hints", self.hints)):
            lines.append(f"{name}: {json.dumps(value, indent=2, ensure_ascii=False)}")
        return "\n".join(lines)

    def clean(self) -> None:
        if self.enabled and (self.unusable or self.gone_at):
            raise ValidationError({"enabled": self.unusable or "Its server no longer has it."})


class McpCall(models.Model):
    """One call of a tool under its idempotency key, committed before it is sent, because servers
    keep no such keys."""

    class State(models.TextChoices):
        SENT = "sent", "Sent: the server may have done it"
        REFUSED = "refused", "The server or its tool said no"
        CALLED_OFF = "called_off", "Called off: nothing is sent under this key any more"

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="mcp_calls")
    key = models.CharField(max_length=200)
    tool = models.ForeignKey(McpTool, on_delete=models.CASCADE, null=True, related_name="calls")
    asked = models.JSONField(
        default=dict, help_text="With what the tool is asked that shows what became of it."
    )
    wanted = models.CharField(
        max_length=64, blank=True, help_text="A digest of what is to be seen then."
    )
    before = models.JSONField(
        null=True, help_text="What was seen before, by id. Empty: it cannot be read back."
    )
    state = models.CharField(max_length=16, choices=State, default=State.SENT)
    begun_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "key"], name="mcp_call_once")]

    def __str__(self) -> str:
        return f"{self.tool} {self.key}"
