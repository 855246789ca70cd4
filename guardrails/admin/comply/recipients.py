"""Who receives the ledger's checkpoints: added here, confirmed here, never edited."""

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from unfold.decorators import display

from audit.ledger.timeline import moment
from guardrails.comply import recipients, tasks
from guardrails.facts.text import visible
from guardrails.models import CheckpointRecipient
from integrations.web.admin_pages import RowPage, operator

COLOURS = {"Receives": "success", "Waits for its code": "info", "Not reached": "danger"}
NO_BUTTONS: dict[str, Any] = {
    "show_save": False,
    "show_save_and_continue": False,
    "show_save_and_add_another": False,
}


@admin.register(CheckpointRecipient)
class RecipientAdmin(RowPage):
    empty = (
        "A recipient gets each checkpoint of the ledger, so that a change of the past is "
        "noticed by others too."
    )
    list_display = ("shown_address", "kind", "organisation", "status", "last_delivery")
    list_filter = ("organisation", "kind")
    list_select_related = ("organisation",)
    list_per_page = 50
    fields = ("organisation", "kind", "address")
    change_form_outer_before_template = "guardrails/recipient.html"
    buttons = {"confirm": ("guardrails.change_checkpointrecipient",)}

    @display(description="Address", ordering="address")  # type: ignore[untyped-decorator]
    def shown_address(self, row: CheckpointRecipient) -> str:
        return visible(row.address, limit=32)

    @display(description="State", label=COLOURS)  # type: ignore[untyped-decorator]
    def status(self, row: CheckpointRecipient) -> str:
        if row.failures:
            return "Not reached"
        return "Receives" if row.confirmed_at else "Waits for its code"

    @display(description="Last checkpoint")  # type: ignore[untyped-decorator]
    def last_delivery(self, row: CheckpointRecipient) -> str:
        return moment(row.delivered_at) if row.delivered_at else "none yet"

    def get_readonly_fields(
        self, request: HttpRequest, obj: CheckpointRecipient | None = None
    ) -> tuple[str, ...]:
        return self.fields if obj else ()  # another address is confirmed anew

    def save_model(
        self,
        request: HttpRequest,
        obj: CheckpointRecipient,
        form: Any,
        change: bool,
    ) -> None:
        if change:
            return
        recipients.add(obj, by=operator(request))
        tasks.queue_code(obj.id)
        messages.info(request, "A code is on its way there. Type it in below when it arrives.")

    def response_add(
        self, request: HttpRequest, obj: CheckpointRecipient, post_url_continue: str | None = None
    ) -> HttpResponse:
        return redirect("admin:guardrails_checkpointrecipient_change", obj.pk)

    def delete_model(self, request: HttpRequest, obj: CheckpointRecipient) -> None:
        recipients.remove(obj, by=operator(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for row in queryset:
            recipients.remove(row, by=operator(request))

    def row_context(self, request: HttpRequest, row: CheckpointRecipient) -> dict[str, Any]:
        return NO_BUTTONS | _page(row) | {"may_confirm": self.may_press(request, "confirm")}

    def confirm(self, request: HttpRequest, key: UUID) -> HttpResponse:
        """Takes the code that arrived, or sends another one."""
        row = CheckpointRecipient.objects.get(id=key)
        if "_again" in request.POST:
            tasks.queue_code(row.id)
            messages.info(request, "Another code is on its way. Earlier codes no longer work.")
        elif recipients.confirm(
            row.id, code=request.POST.get("code", ""), by=operator(request), now=timezone.now()
        ):
            messages.success(request, f"{row.address} receives checkpoints from now on.")
        else:
            messages.error(
                request,
                "That is not the code, or it has expired: a code works for a week and five "
                "tries. Send another one.",
            )
        return redirect("admin:guardrails_checkpointrecipient_change", row.pk)


def _page(row: CheckpointRecipient) -> dict[str, Any]:
    is_webhook = row.kind == CheckpointRecipient.Kind.WEBHOOK
    return {
        "recipient": row,
        "problem": row.error_code,
        "code_sent": moment(row.code_sent_at) if row.code_sent_at else "",
        "delivered": moment(row.delivered_at) if row.delivered_at else "",
        "next": moment(row.next_at) if row.next_at else "",
        "secret": recipients.secret(row) if is_webhook else "",
    }
