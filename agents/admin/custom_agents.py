"""Admin of custom agents, with what their runs took."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from unfold.admin import ModelAdmin
from unfold.decorators import display

from agents import custom_agents
from agents.custom_agent_form import CustomAgentForm
from agents.models import CustomAgent


@admin.register(CustomAgent)
class CustomAgentAdmin(ModelAdmin):  # type: ignore[misc]  # the theme is untyped
    form = CustomAgentForm
    list_display = ("name", "organisation", "enabled", "sees", "runs", "latency", "tokens", "cost")
    list_filter = ("enabled", "organisation")
    list_select_related = ("organisation",)
    list_per_page = 50
    search_fields = ("name", "description")
    readonly_fields = ("runs", "latency", "tokens", "cost")
    fieldsets = (
        (None, {"fields": ("organisation", "name", "description", "capabilities", "enabled")}),
        ("What it is told and given", {"fields": ("prompt", "tools", "sources", "model")}),
        (
            "What its runs took in the last 30 days",
            {"fields": ("runs", "latency", "tokens", "cost")},
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[CustomAgent]:
        return custom_agents.measured(super().get_queryset(request), now=timezone.now())

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
        return "none yet" if total is None else f"{total:.4f} USD"
