"""Admin of data services: which of them answers, and which gets no requests for now."""

from django.contrib import admin
from django.utils import timezone
from unfold.decorators import display

from integrations.models import Upstream
from integrations.web.admin_pages import ReadOnlyAdmin

COLOURS = {
    "answers": "success",
    "asked Remit to wait": "warning",
    "not answering": "warning",
    "circuit open": "danger",
}


@admin.register(Upstream)
class UpstreamAdmin(ReadOnlyAdmin):
    empty = (
        "Each data service that was asked comes here: how it answers, and whether Remit "
        "waits for it."
    )
    organisation_path = None
    list_display = ("name", "state_label", "failures", "until", "last_error", "last_error_at")
    search_fields = ("name",)
    search_help_text = "The organisation's slug"
    fields = list_display

    @display(description="State", label=COLOURS)  # type: ignore[untyped-decorator]
    def state_label(self, upstream: Upstream) -> str:
        if upstream.opened_until:
            return "circuit open"
        if upstream.blocked_until and upstream.blocked_until > timezone.now():
            return "asked Remit to wait"
        return "not answering" if upstream.failures else "answers"

    @display(description="Nothing is sent until")  # type: ignore[untyped-decorator]
    def until(self, upstream: Upstream) -> object:
        times = [time for time in (upstream.opened_until, upstream.blocked_until) if time]
        return max((time for time in times if time > timezone.now()), default="")
