"""Who hears that something waits: by which way, when, and what became of the last messages."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextInputWidget

from audit.ledger.timeline import moment
from guardrails.approve.news import recipients, tasks
from guardrails.facts.text import heading_of, visible
from guardrails.models import ApprovalNotice, ApprovalRecipient
from integrations.web.admin_pages import RowPage, operator
from integrations.web.bound_admin import RowForm

Kind = ApprovalRecipient.Kind
COLOURS = {"Hears": "success", "Not reached": "warning", "Stopped": "danger"}
LAST = 20
FIELDS = (
    *("organisation", "account", "name", "kind", "new_address"),
    *("after_minutes", "quiet_from", "quiet_until", "time_zone", "language"),
)


class RecipientForm(RowForm):
    """The address is typed in, and shown to nobody afterwards where it is a webhook's. A browser
    says its own."""

    new_address = forms.CharField(
        label="Address",
        required=False,
        max_length=2_000,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
        help_text="A mail address, or the https:// address of the webhook as Slack or Teams gives "
        "it. A webhook's is a secret: it is not shown again. Empty: it stays as it is.",
    )

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        address = given.get("new_address", "").strip()
        row = self.instance
        other_kind = "kind" in self.changed_data and not row._state.adding
        if not address and (row._state.adding or other_kind):
            self.add_error("new_address", "Type in the address.")
        elif address and "kind" in given:
            row.kind = given["kind"]
            try:
                recipients.set_address(row, address)
            except ValidationError as error:
                self.add_error(None, error)
        return given | {"new_address": address}


@admin.register(ApprovalRecipient)
class ApprovalRecipientAdmin(RowPage):
    empty = (
        "A recipient hears by mail, Slack or Teams that an action waits for a person. Who decides "
        "can also hear in their browser: the inbox has a button for it. Without any, people look "
        "into the inbox."
    )
    form = RecipientForm
    list_display = ("shown_name", "kind", "address", "when", "organisation", "status", "last")
    list_filter = ("organisation", "kind")
    list_select_related = ("organisation", "account")
    list_per_page = 50
    autocomplete_fields = ("account",)
    change_form_outer_before_template = "guardrails/approval_recipient.html"
    buttons = {"trial": ("guardrails.change_approvalrecipient",)}

    @display(description="Who", ordering="name")  # type: ignore[untyped-decorator]
    def shown_name(self, row: ApprovalRecipient) -> str:
        return visible(row.name)

    @display(description="When")  # type: ignore[untyped-decorator]
    def when(self, row: ApprovalRecipient) -> str:
        return in_words(row)

    @display(description="State", label=COLOURS)  # type: ignore[untyped-decorator]
    def status(self, row: ApprovalRecipient) -> str:
        if row.stopped_at:
            return "Stopped"
        return "Not reached" if row.problem else "Hears"

    @display(description="Last message")  # type: ignore[untyped-decorator]
    def last(self, row: ApprovalRecipient) -> str:
        return moment(row.sent_at) if row.sent_at else "none yet"

    def get_readonly_fields(
        self, request: HttpRequest, obj: ApprovalRecipient | None = None
    ) -> tuple[str, ...]:
        return ("organisation", *(("kind",) if _is_browser(obj) else ())) if obj else ()

    def get_fields(
        self, request: HttpRequest, obj: ApprovalRecipient | None = None
    ) -> tuple[str, ...]:
        return tuple(name for name in FIELDS if name != "new_address" or not _is_browser(obj))

    def formfield_for_choice_field(
        self, db_field: Any, request: HttpRequest, **given: Any
    ) -> forms.ChoiceField | None:
        if db_field.name == "kind":
            given["choices"] = [one for one in Kind.choices if one[0] != Kind.PUSH]
        found: forms.ChoiceField | None = super().formfield_for_choice_field(
            db_field, request, **given
        )
        return found

    def save_model(
        self, request: HttpRequest, obj: ApprovalRecipient, form: Any, change: bool
    ) -> None:
        address = form.cleaned_data.get("new_address", "")
        recipients.save(obj, address=address, by=operator(request))
        if address:
            tasks.queue_trial(obj.id)
            messages.info(request, "A trial message is on its way there.")

    def delete_model(self, request: HttpRequest, obj: ApprovalRecipient) -> None:
        recipients.remove(obj, by=operator(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for row in queryset:
            recipients.remove(row, by=operator(request))

    def trial(self, request: HttpRequest, key: UUID) -> HttpResponse:
        tasks.queue_trial(key)
        messages.info(request, "A trial message is on its way there.")
        return redirect("admin:guardrails_approvalrecipient_change", key)

    def row_context(self, request: HttpRequest, row: ApprovalRecipient) -> dict[str, Any]:
        notices = ApprovalNotice.objects.filter(recipient=row).select_related("approval")
        return {
            "recipient": row,
            "when": in_words(row),
            "sent": moment(row.sent_at) if row.sent_at else "",
            "may_try": self.may_press(request, "trial") and row.stopped_at is None,
            "notices": [
                {
                    "at": moment(one.changed_at),
                    "about": visible(heading_of(one.approval.description)),
                    "approval": one.approval_id,
                    "state": one.get_state_display(),
                }
                for one in notices.order_by("-changed_at")[:LAST]
            ],
        }


def _is_browser(row: ApprovalRecipient | None) -> bool:
    return row is not None and row.kind == Kind.PUSH


def in_words(row: ApprovalRecipient) -> str:
    """When this recipient hears of what waits."""
    said = f"after {row.after_minutes} minutes" if row.after_minutes else "at once"
    if row.quiet_from and row.quiet_until:
        said += f", not from {row.quiet_from:%H:%M} to {row.quiet_until:%H:%M} {row.time_zone}"
    return said
