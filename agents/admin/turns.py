"""Admin of deliveries, conversations and turns, which only show (a delivery that was given up or
left alone can be queued again)."""

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
from django.utils.text import Truncator
from unfold.decorators import action, display

from agents.activity import page
from agents.activity.offers import BUTTONS
from agents.models import Conversation, Message, Turn
from agents.office import dashboard, turn_page
from agents.office.dead_letters import queue_again
from agents.turns import turns
from audit.ledger import timeline
from integrations.llm import metering
from integrations.llm.completions import dollars
from integrations.models import Delivery
from integrations.ports.registry import BY_SOURCE
from integrations.web.admin_lists import NewestFirst
from integrations.web.admin_pages import LINK, ReadOnlyAdmin, RowPage, once_a_row, operator
from integrations.web.bound_admin import AutocompleteFilter
from knowledge.ingest.reading import SENTENCES
from knowledge.models import Item
from knowledge.sync import accounting

NEWEST = 200
DELIVERY_COLOURS = {
    "Queued": "info",
    "Running": "info",
    "Processed": "success",
    "Skipped": "warning",
    "Dead letter": "danger",
}
SUBJECT_CHARS = 80
OUTCOME = "What came of it"  # as the page of an item says it
TURN_COLOURS = {"Queued": "info", "Running": "info", "Finished": "success", "Failed": "danger"}


@admin.register(Delivery)
class DeliveryAdmin(RowPage, NewestFirst, ReadOnlyAdmin):
    empty = (
        "Each mail, document, event or issue that a provider reports comes here. Connect an "
        "account to get the first."
    )
    newest_by = "received_at"
    list_display = (
        "received_at",
        "subject",
        "kind",
        "from_where",
        "account",
        "state_label",
        "why",
        "attempts",
        "finished_at",
    )
    list_filter = ("state", "source", "kind", ("account", AutocompleteFilter), "organisation")
    list_select_related = ("account",)
    search_fields = ("webhook_id", "source_id", "id")
    search_help_text = "The whole id of the webhook, the item or the delivery"
    actions = ("queue_again",)
    change_form_outer_after_template = "agents/delivery.html"
    buttons = {"again": ("integrations.change_delivery",)}
    fields = (
        "activity",
        "received_at",
        "organisation",
        "account",
        "kind",
        "from_where",
        "item",
        "source_id",
        "webhook_id",
        "state_label",
        "why",
        "attempts",
        "lease_expires_at",
        "finished_at",
        "worked_through_by",
        "event",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Delivery]:
        rows: QuerySet[Delivery] = super().get_queryset(request)
        return rows.annotate(about=find_title("source_id"))

    @display(description="Subject")  # type: ignore[untyped-decorator]
    def subject(self, delivery: Delivery) -> str:
        return shorten(delivery.about)  # type: ignore[attr-defined]

    @display(description="State", label=DELIVERY_COLOURS)  # type: ignore[untyped-decorator]
    def state_label(self, delivery: Delivery) -> str:
        return delivery.get_state_display()

    @display(description="Reason", ordering="reason")  # type: ignore[untyped-decorator]
    def why(self, delivery: Delivery) -> str:
        return accounting.name_reason(delivery.reason) or "-"

    @display(description="Source", ordering="source")  # type: ignore[untyped-decorator]
    def from_where(self, delivery: Delivery) -> str:
        return BY_SOURCE[delivery.source].label if delivery.source in BY_SOURCE else delivery.source

    @display(description="Turn")  # type: ignore[untyped-decorator]
    @once_a_row
    def worked_through_by(self, delivery: Delivery) -> SafeString | str:
        turn = Turn.objects.filter(delivery=delivery).first()
        return format_html(LINK, turn_page.turn_link(turn.id), turn) if turn else "none"

    @display(description="Activity")  # type: ignore[untyped-decorator]
    def activity(self, delivery: Delivery) -> SafeString:
        return format_html(LINK, page.link(delivery.organisation, delivery.id), OUTCOME)

    @display(description="Item")  # type: ignore[untyped-decorator]
    @once_a_row
    def item(self, delivery: Delivery) -> SafeString | str:
        return link_item(delivery.account_id, delivery.source_id)

    @display(description="Event as it was sent")  # type: ignore[untyped-decorator]
    def event(self, delivery: Delivery) -> SafeString:
        return preformatted(timeline.pretty(delivery.body))

    def row_context(self, request: HttpRequest, row: Delivery) -> dict[str, Any]:
        again = row.state == Delivery.State.DEAD or row.reason == Delivery.STOPPED
        if not again or not self.may_press(request, "again"):
            return {}
        return {
            "again": reverse("admin:integrations_delivery_again", args=[row.id]),
            "is_dead": row.state == Delivery.State.DEAD,
            "sentence": SENTENCES.get(row.reason, ""),
        }

    def again(self, request: HttpRequest, key: UUID) -> HttpResponse:
        """There is a button only on the page of what was given up or left alone."""
        if queue_again([key]):
            messages.success(request, "It waits in the queue again.")
        else:
            messages.warning(request, "It is in the queue, or was worked through already.")
        return redirect("admin:integrations_delivery_change", key)

    @action(  # type: ignore[untyped-decorator]
        description="Queue again (given up, or left alone)", permissions=["operate"]
    )
    def queue_again(self, request: HttpRequest, queryset: QuerySet[Delivery]) -> None:
        chosen = list(queryset.values_list("id", flat=True))
        count = queue_again(chosen)
        if count:
            messages.success(request, f"{count} deliveries wait in the queue again.")
        if count < len(chosen):
            messages.warning(
                request,
                f"{len(chosen) - count} of the chosen deliveries were worked through already.",
            )


@admin.register(Conversation)
class ConversationAdmin(RowPage, NewestFirst, ReadOnlyAdmin):
    empty = "Conversations of users with the agent come here. Begin one in the chat console."
    newest_by = "updated_at"
    list_display = ("title", "external_user_id", "organisation", "created_at", "updated_at")
    list_filter = ("organisation",)
    list_select_related = ("organisation",)
    search_fields = ("external_user_id", "id")
    search_help_text = "The whole id of the user or the conversation"
    fields = ("organisation", "external_user_id", "title", "created_at", "updated_at")
    change_form_outer_after_template = "agents/conversation.html"

    def row_context(self, request: HttpRequest, row: Conversation) -> dict[str, Any]:
        return {"said": turn_page.said(row, newest=NEWEST)}


@admin.register(Message)
class MessageAdmin(NewestFirst, ReadOnlyAdmin):
    empty = "Messages of conversations come here."
    organisation_path = "conversation__organisation"
    newest_by = "created_at"
    list_display = ("created_at", "role", "beginning", "conversation")
    list_filter = ("role",)
    list_select_related = ("conversation",)
    search_fields = ("id", "conversation", "turn")
    search_help_text = "The whole id of the message, its conversation or its turn"
    fields = ("created_at", "role", "conversation", "turn", "text")

    @display(description="Text")  # type: ignore[untyped-decorator]
    def beginning(self, message: Message) -> str:
        return timeline.reveal(message.content[:80])

    @display(description="Text")  # type: ignore[untyped-decorator]
    def text(self, message: Message) -> SafeString:
        return preformatted(timeline.reveal(message.content))


@admin.register(Turn)
class TurnAdmin(RowPage, NewestFirst, ReadOnlyAdmin):  # ids are in order of time
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

    @display(description="State", label=TURN_COLOURS)  # type: ignore[untyped-decorator]
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


def find_title(source_id: str) -> Subquery:
    """The title of the item that a row is about."""
    items = Item.objects.filter(account=OuterRef("account"), source_id=OuterRef(source_id))
    return Subquery(items.values("title")[:1])


def shorten(text: str | None) -> str:
    return timeline.reveal(Truncator(" ".join((text or "").split())).chars(SUBJECT_CHARS)) or "-"


def link_item(account_id: UUID | None, source_id: str) -> SafeString | str:
    """The page of what was read in, if it was."""
    if not (account_id and source_id):
        return "-"
    found = Item.objects.filter(account_id=account_id, source_id=source_id).only("title").first()
    if not found:
        return "-"
    title = timeline.reveal(found.title) or "Untitled"
    return format_html(LINK, reverse("admin:knowledge_item_change", args=[found.id]), title)


def preformatted(text: str) -> SafeString:
    return format_html('<pre class="whitespace-pre-wrap break-all">{}</pre>', text)
