"""Admin of deliveries, which only shows (what was given up or left alone can be queued again)."""

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import action, display

from agents.activity import page
from agents.admin.subjects import OUTCOME, find_title, link_item, preformatted, shorten
from agents.models import Turn
from agents.office import turn_page
from agents.office.dead_letters import queue_again
from audit.ledger import timeline
from integrations.models import Delivery
from integrations.ports.registry import BY_SOURCE
from integrations.web.admin_lists import NewestFirst
from integrations.web.admin_pages import LINK, ReadOnlyAdmin, RowPage, once_a_row
from integrations.web.bound_admin import AutocompleteFilter
from knowledge.ingest.reading import SENTENCES
from knowledge.sync import accounting

COLOURS = {
    "Queued": "info",
    "Running": "info",
    "Processed": "success",
    "Skipped": "warning",
    "Dead letter": "danger",
}


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

    @display(description="State", label=COLOURS)  # type: ignore[untyped-decorator]
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
