"""Admin of turns, which only shows (one that is not over can be stopped)."""

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce, Left
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from agents.activity import page
from agents.activity.offers import BUTTONS
from agents.admin.subjects import OUTCOME, SUBJECT_CHARS, find_title, link_item, shorten
from agents.models import Message, Turn
from agents.office import dashboard, turn_page
from agents.turns import turns
from audit.ledger.people_admin import PeopleAdmin
from integrations.llm import metering
from integrations.llm.completions import dollars
from integrations.web.admin_lists import NewestFirst
from integrations.web.admin_pages import LINK, ReadOnlyAdmin, RowPage, once_a_row, operator

COLOURS = {"Queued": "info", "Running": "info", "Finished": "success", "Failed": "danger"}


@admin.register(Turn)
class TurnAdmin(PeopleAdmin, RowPage, NewestFirst, ReadOnlyAdmin):  # ids are in order of time
    empty = (
        "A turn is the work on one request or one mail. Ask something in the chat console to "
        "see the first."
    )
    list_display = (
        "created_at",
        "subject",
        "kind",
        "external_user_id",
        "state_label",
        "ending",
        "error_code",
        "tokens",
        "finished_at",
    )
    people = {"principal": "Asked through", "stop_asked_by": "Stop asked by"}
    list_filter = ("state", "ending", "kind", "organisation")
    search_fields = ("id", "conversation", "delivery")
    search_help_text = "The whole id of the turn, its conversation or its delivery"
    fields = (
        "activity",
        "created_at",
        "organisation",
        "external_user_id",
        "kind",
        "conversation",
        "item",
        "delivery",
        "principal",
        "state_label",
        "ending",
        "error_code",
        "attempts",
        "tokens",
        "cost",
        "took",
        "stop_asked_by",
        "finished_at",
    )
    change_form_outer_after_template = "agents/turn.html"
    buttons = {"stop": ("agents.change_turn",)}
    row_related = ("organisation", "conversation", "delivery")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Turn]:
        rows: QuerySet[Turn] = super().get_queryset(request)
        said = Message.objects.filter(turn=OuterRef("pk"), role=Message.Role.USER)
        beginning = said.values(beginning=Left("content", SUBJECT_CHARS + 1))[:1]
        return rows.annotate(about=Coalesce(Subquery(beginning), find_title("item_source_id")))

    @display(description="Subject")  # type: ignore[untyped-decorator]
    def subject(self, turn: Turn) -> str:
        return shorten(turn.about)  # type: ignore[attr-defined]

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.dashboard)
        return [path("dashboard/", view, name="agents_dashboard"), *super().get_urls()]

    def dashboard(self, request: HttpRequest) -> HttpResponse:
        return dashboard.page(request, self.admin_site.each_context(request))

    def stop(self, request: HttpRequest, key: UUID) -> HttpResponse:
        """There is a button only while the turn is not over."""
        if turns.stop_turn(key, by=operator(request), now=timezone.now()):
            messages.success(request, "It ends as soon as no action is under way.")
        else:
            messages.warning(request, "It had ended already.")
        return redirect("admin:agents_turn_change", key)

    @display(description="Activity")  # type: ignore[untyped-decorator]
    def activity(self, turn: Turn) -> SafeString | str:
        if turn.delivery_id is None and turn.kind not in (Turn.Kind.CHAT, Turn.Kind.REMINDER):
            return "-"
        return format_html(LINK, page.link(turn.organisation, turn.id), OUTCOME)

    @display(description="Item")  # type: ignore[untyped-decorator]
    @once_a_row
    def item(self, turn: Turn) -> SafeString | str:
        return link_item(turn.account_id, turn.item_source_id)

    @display(description="Cost")  # type: ignore[untyped-decorator]
    @once_a_row
    def cost(self, turn: Turn) -> SafeString:
        """With every model it asked, its specialists', reviews and searches included."""
        calls = f"{reverse('admin:integrations_modelcall_changelist')}?q={turn.id}"
        return format_html(LINK, calls, dollars(metering.used_by_run(turn.id).cost))

    @display(description="Took")  # type: ignore[untyped-decorator]
    def took(self, turn: Turn) -> str:
        if turn.finished_at is None:
            return "not over yet"
        return f"{(turn.finished_at - turn.created_at).total_seconds():,.1f} s"

    @display(description="State", label=COLOURS)  # type: ignore[untyped-decorator]
    def state_label(self, turn: Turn) -> str:
        return turn.get_state_display()

    @display(description="Tokens (in + out)")  # type: ignore[untyped-decorator]
    def tokens(self, turn: Turn) -> str:
        return f"{turn.prompt_tokens} + {turn.completion_tokens}"

    def row_context(self, request: HttpRequest, row: Turn) -> dict[str, Any]:
        context = turn_page.context(row)
        context["may_take_up"] = request.user.has_perms(BUTTONS)
        if row.state in (Turn.State.QUEUED, Turn.State.RUNNING) and self.may_press(request, "stop"):
            context["stop"] = reverse("admin:agents_turn_stop", args=[row.id])
        return context
