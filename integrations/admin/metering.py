"""Admin of what models cost: budgets are set here, calls are only shown."""

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from unfold.decorators import display

from integrations.llm.completions import dollars
from integrations.models import Budget, ModelCall
from integrations.web.admin_lists import NewestFirst, RecentValues
from integrations.web.admin_pages import ReadOnlyAdmin
from integrations.web.bound_admin import BoundAdmin

COLOURS = {"answered": "success", "failed": "danger"}


class PurposeFilter(RecentValues):
    """With the words that the list has."""

    def choices(self, changelist: ChangeList) -> Iterator[dict[str, Any]]:  # type: ignore[override]
        for one in super().choices(changelist):
            yield {**one, "display": str(one["display"]).replace("_", " ")}


@admin.register(Budget)
class BudgetAdmin(BoundAdmin):
    empty = "A budget limits what the models of an organisation may use and cost in 24 hours."
    list_display = ("whose", "organisation", "max_tokens", "max_cost")
    list_filter = ("organisation",)
    list_select_related = ("organisation", "account")
    search_fields = ("external_user_id",)
    search_help_text = "A user's id"
    autocomplete_fields = ("account",)
    fields = ("organisation", "external_user_id", "account", "max_tokens", "max_cost")

    @display(description="For", ordering="external_user_id")  # type: ignore[untyped-decorator]
    def whose(self, budget: Budget) -> str:
        return str(budget.account or budget.external_user_id or "every user")


@admin.register(ModelCall)
class ModelCallAdmin(NewestFirst, ReadOnlyAdmin):
    empty = "Each call of a model comes here, with its tokens and its cost."
    newest_by = "at"
    list_display = (
        "at",
        "asked_by",
        "external_user_id",
        "model",
        "tokens",
        "dollars",
        "took",
        "state_label",
    )
    list_filter = ("organisation", "model", ("purpose", PurposeFilter))
    search_fields = ("external_user_id", "run_id")
    search_help_text = "The whole id of the user or the turn"
    fields = (
        "organisation",
        "account",
        "run_id",
        "at",
        "asked_by",
        "external_user_id",
        "model",
        "prompt_tokens",
        "cached_tokens",
        "answer_tokens",
        "dollars",
        "latency_ms",
        "state_label",
        "error_code",
    )

    @display(description="Purpose", ordering="purpose")  # type: ignore[untyped-decorator]
    def asked_by(self, call: ModelCall) -> str:
        return call.purpose.replace("_", " ")

    @display(description="Tokens")  # type: ignore[untyped-decorator]
    def tokens(self, call: ModelCall) -> str:
        return f"{call.prompt_tokens:,} + {call.answer_tokens:,}"

    @display(description="Cost", ordering="cost")  # type: ignore[untyped-decorator]
    def dollars(self, call: ModelCall) -> str:
        return dollars(call.cost)

    @display(description="Took", ordering="latency_ms")  # type: ignore[untyped-decorator]
    def took(self, call: ModelCall) -> str:
        return f"{call.latency_ms:,} ms"

    @display(description="State", label=COLOURS)  # type: ignore[untyped-decorator]
    def state_label(self, call: ModelCall) -> str:
        return "failed" if call.error_code else "answered"
