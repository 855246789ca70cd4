"""Admin of MCP servers and of their tools, which are enabled one by one."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from unfold.decorators import display

from audit.ledger.timeline import moment
from guardrails.admin.base import PolicyAdmin
from guardrails.admin.policies.comparison import compared
from guardrails.facts.text import visible
from guardrails.policies import changes
from guardrails.policies.recorded_admin import author
from integrations.exceptions import ProviderError
from integrations.models import McpServer, McpTool
from integrations.ports.tools import ToolMeaning
from integrations.providers.mcp import catalogue, known_tools, session
from integrations.providers.mcp.session import NotInstalled
from integrations.web.admin_pages import RowPage

STATUS_WORDS = {
    "enabled": "success",
    "off": "info",
    "changed, off": "warning",
    "gone": "warning",
    "not usable": "danger",
}
MAX_TOOLS = 500


def status(row: McpTool) -> str:
    if row.unusable:
        return "not usable"
    if row.gone_at:
        return "gone"
    if row.enabled:
        return "enabled"
    return "changed, off" if row.changed_at else "off"


@admin.register(McpServer)
class McpServerAdmin(RowPage, PolicyAdmin):
    empty = (
        "Agents can use tools of an MCP server. Each of its tools is refused until somebody "
        "allows it."
    )
    organisation_path = "organisation"
    autocomplete_fields = ()
    list_display = (
        "name",
        "slug",
        "organisation",
        "enabled",
        "tools",
        "last_read",
        "last_error_text",
    )
    list_filter = ("organisation", "enabled")
    list_select_related = ("organisation",)
    search_fields = ("name", "slug", "url")
    fields = ("organisation", "slug", "name", "url", "token_variable", "enabled")
    change_form_outer_before_template = "guardrails/mcp_server.html"
    buttons = {"read": ("integrations.change_mcpserver",)}

    @display(description="Tools enabled")  # type: ignore[untyped-decorator]
    def tools(self, row: McpServer) -> str:
        states = [tool.enabled for tool in row.tools.all()]
        return f"{sum(states)} of {len(states)}"

    @display(description="Last read")  # type: ignore[untyped-decorator]
    def last_read(self, row: McpServer) -> str:
        return moment(row.looked_at) if row.looked_at else "never"

    @display(description="Problem")  # type: ignore[untyped-decorator]
    def last_error_text(self, row: McpServer) -> str:
        return visible(row.problem)

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).prefetch_related("tools")

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> tuple[str, ...]:
        return ("organisation", "slug") if obj else ()

    def row_context(self, request: HttpRequest, row: McpServer) -> dict[str, Any]:
        return _page(row) | {"may_read": self.may_press(request, "read")}

    def response_add(
        self, request: HttpRequest, obj: McpServer, post_url_continue: str | None = None
    ) -> HttpResponse:
        return redirect("admin:integrations_mcpserver_change", obj.pk)

    def read(self, request: HttpRequest, key: UUID) -> HttpResponse:
        """Asks the server what it offers."""
        row = McpServer.objects.get(pk=key)
        try:
            found = catalogue.offered_by(row, now=timezone.now())
        except ProviderError as error:
            messages.error(request, f"Its tools could not be read: {visible(str(error))[:200]}")
            return redirect("admin:integrations_mcpserver_change", row.pk)
        known = list(row.tools.values_list("pk", flat=True))
        with changes.recording(McpTool, known, author=author(request)):
            looked = catalogue.keep(row, found, now=timezone.now())
            changes.record_made(looked.new, author=author(request))
        messages.success(request, f"{len(found)} tools, {len(looked.new)} of them new and off.")
        for name in looked.changed:
            messages.warning(request, f"{name} was changed by its server, so it is off now.")
        for name in looked.gone:
            messages.warning(request, f"{name} is gone, so it is off now.")
        return redirect("admin:integrations_mcpserver_change", row.pk)


def _page(row: McpServer) -> dict[str, Any]:
    try:
        known = "set" if session.token_of(row.token_variable) else ""
    except ProviderError:
        known = "missing"
    return {
        "server": row,
        "problem": visible(row.problem),
        "missing": "" if session.is_installed() else str(NotInstalled()),
        "token": known,
        "read_at": moment(row.looked_at) if row.looked_at else "",
        "tools": [
            {"row": tool, "title": visible(tool.title, limit=80), "status": status(tool)}
            for tool in row.tools.all()[:MAX_TOOLS]
        ],
    }


class McpToolForm(forms.ModelForm):  # type: ignore[type-arg]
    # What the page showed: another version was changed since, by its server or by somebody.
    shown_version = forms.IntegerField(widget=forms.HiddenInput)

    class Meta:
        model = McpTool
        fields = ("enabled", "effect")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["shown_version"].initial = self.instance.version

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if given.get("shown_version") != self.instance.version:
            raise forms.ValidationError(
                "It has changed since this page was opened. Look at it again."
            )
        if given.get("effect") == McpTool.Effect.KNOWN and not _known(self.instance):
            self.add_error("effect", "Remit knows no tool of this name with these very arguments.")
        return given


@admin.register(McpTool)
class McpToolAdmin(RowPage, PolicyAdmin):
    empty = "The tools of an MCP server come here once it is connected and was read."
    organisation_path = "server__organisation"
    autocomplete_fields = ()
    form = McpToolForm
    list_display = ("__str__", "shown_title", "of", "state", "effect", "changed_at")
    list_filter = ("server", "enabled", "effect")
    list_select_related = ("server__organisation",)
    search_fields = ("name", "title", "description")
    fields = ("enabled", "effect", "shown_version")
    change_form_outer_before_template = "guardrails/mcp_tool.html"

    @display(description="Title")  # type: ignore[untyped-decorator]
    def shown_title(self, row: McpTool) -> str:
        return visible(row.title, limit=60)

    @display(description="Organisation")  # type: ignore[untyped-decorator]
    def of(self, row: McpTool) -> str:
        return str(row.server.organisation)

    @display(description="State", label=STATUS_WORDS)  # type: ignore[untyped-decorator]
    def state(self, row: McpTool) -> str:
        return status(row)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # its server offers it

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        row = McpTool.objects.select_related("server").get(pk=obj.pk)
        if row.version != form.cleaned_data["shown_version"]:
            messages.error(request, "Nothing was saved: its server has just changed it.")
            return
        with self.recording([row.pk], request):
            done = catalogue.decide(row, enabled=obj.enabled, effect=obj.effect)
        if not done:
            messages.error(request, "Nothing was saved: its server has just changed it.")

    def row_context(self, request: HttpRequest, row: McpTool) -> dict[str, Any]:
        before = _lines(row.seen) if row.seen else []
        return {
            "show_save_and_add_another": False,
            "tool": row,
            "status": status(row),
            "known": _known(row),
            "changed": moment(row.changed_at) if row.changed_at else "",
            "gone": moment(row.gone_at) if row.gone_at else "",
            "unusable": visible(row.unusable),
            "lines": list(compared(before or _lines(row.said), _lines(row.said))),
        }


def _known(row: McpTool) -> ToolMeaning | None:
    return known_tools.find(row.name, row.input_schema)


def _lines(text: str) -> list[str]:
    return [visible(line) for line in text.replace("\r\n", "\n").split("\n")]
