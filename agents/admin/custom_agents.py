"""Admin of custom agents, with what their runs took."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from unfold.decorators import display
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminTextareaWidget,
)

from agents.context import custom_agents
from agents.models import CustomAgent
from agents.turns import roster
from guardrails.policies.recorded_admin import RecordedAdmin
from integrations.llm.completions import dollars
from integrations.ports.registry import BY_SOURCE

CAPABILITY_CHARS = 80


class CustomAgentForm(forms.ModelForm):  # type: ignore[type-arg]
    tools = forms.MultipleChoiceField(
        choices=[(tool.name, tool.name.replace("_", " ")) for tool in roster.CUSTOM_TOOLS],
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="What it may use. Actions stay inside the limits of the user it works for.",
    )
    sources = forms.MultipleChoiceField(
        choices=[(source, connector.label) for source, connector in BY_SOURCE.items()],
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="What it may see and act on, of the user it works for.",
    )
    capabilities = forms.CharField(
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}),
        help_text="Short names of what it can do, one per line.",
    )

    class Meta:
        model = CustomAgent
        fields = (
            "organisation",
            "name",
            "description",
            "capabilities",
            "prompt",
            "tools",
            "sources",
            "model",
            "enabled",
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk and isinstance(self.instance.capabilities, list):
            self.initial["capabilities"] = "\n".join(map(str, self.instance.capabilities))

    def clean_capabilities(self) -> list[str]:
        lines = [" ".join(line.split()) for line in self.cleaned_data["capabilities"].splitlines()]
        found = list(dict.fromkeys(line for line in lines if line))
        if any(len(line) > CAPABILITY_CHARS for line in found):
            raise forms.ValidationError(f"At most {CAPABILITY_CHARS} characters per line.")
        return found


@admin.register(CustomAgent)
class CustomAgentAdmin(RecordedAdmin):
    empty = (
        "A custom agent has a prompt, tools and sources of its own. The same limits hold for it."
    )
    form = CustomAgentForm
    list_display = ("name", "organisation", "enabled", "sees", "runs", "latency", "tokens", "cost")
    list_filter = ("enabled", "organisation")
    list_select_related = ("organisation",)
    list_per_page = 50
    search_fields = ("name", "description")
    readonly_fields = ("runs", "latency", "tokens", "cost")
    fieldsets = (
        (None, {"fields": ("organisation", "name", "description", "capabilities", "enabled")}),
        ("Instructions and tools", {"fields": ("prompt", "tools", "sources", "model")}),
        (
            "What its runs took in the last 30 days",
            {"fields": ("runs", "latency", "tokens", "cost")},
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[CustomAgent]:
        return custom_agents.measure_runs(super().get_queryset(request), now=timezone.now())

    @display(description="Sees")  # type: ignore[untyped-decorator]
    def sees(self, agent: CustomAgent) -> str:
        return ", ".join(agent.sources)

    @display(description="Runs")  # type: ignore[untyped-decorator]
    def runs(self, agent: CustomAgent) -> str:
        count = getattr(agent, "run_count", 0)
        failed = count - getattr(agent, "good_count", 0)
        return f"{count}, {failed} of them failed" if failed else str(count)

    @display(description="Average time")  # type: ignore[untyped-decorator]
    def latency(self, agent: CustomAgent) -> str:
        average = getattr(agent, "average_latency", None)
        return "none yet" if average is None else f"{average / 1000:.1f} s"

    @display(description="Average tokens")  # type: ignore[untyped-decorator]
    def tokens(self, agent: CustomAgent) -> str:
        average = getattr(agent, "average_tokens", None)
        return "none yet" if average is None else f"{average:,.0f}"

    @display(description="Cost in all")  # type: ignore[untyped-decorator]
    def cost(self, agent: CustomAgent) -> str:
        total = getattr(agent, "total_cost", None)
        return "none yet" if total is None else dollars(total)
