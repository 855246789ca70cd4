"""What agents suggest, with the buttons by which a person takes it up or dismisses it: on its own
page, on Activity and on its turn's page."""

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.html import format_html
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import SafeString
from unfold.decorators import display

from agents.activity.offers import BUTTONS, offer
from agents.inbound import taking_up
from agents.inbound.taking_up import Decider, SuggestionNotFound, SuggestionOver
from agents.journal import suggestions
from agents.models import Suggestion
from agents.office.turn_page import ledger_link, turn_link
from audit.ledger import timeline
from audit.ledger.people_admin import PeopleAdmin
from integrations.web import staff
from integrations.web.admin_lists import NewestFirst
from integrations.web.admin_pages import LINK, ReadOnlyAdmin, RowPage, operator
from integrations.web.bound_admin import AutocompleteFilter

COLOURS = {"Open": "info", "Taken up": "success", "Dismissed": "warning", "Out of date": "warning"}


@admin.register(Suggestion)
class SuggestionAdmin(PeopleAdmin, RowPage, NewestFirst, ReadOnlyAdmin):  # ids are in order of time
    empty = "What an agent suggests about an invitation or a new issue comes here."
    organisation_path = "account__organisation"
    list_display = ("when", "kind", "says", "account", "state_label", "decided_by", "outcome")
    people = {"decided_by": "Decided by"}
    list_filter = ("state", "kind", ("account", AutocompleteFilter))
    list_filter_submit = True
    list_select_related = ("account",)
    search_fields = ("id", "turn", "item_source_id")
    search_help_text = "The whole id of the suggestion, its turn or its item"
    change_form_outer_after_template = "agents/suggestion.html"
    buttons = {"take_up": BUTTONS, "dismiss": BUTTONS}
    fields = (
        "when",
        "account",
        "kind",
        "says",
        "why",
        "state_label",
        "decided_by",
        "decided_at",
        "outcome",
        "its_turn",
        "in_ledger",
    )

    @display(description="Suggested")  # type: ignore[untyped-decorator]
    def when(self, row: Suggestion) -> str:
        return timeline.moment(row.created_at)

    @display(description="What")  # type: ignore[untyped-decorator]
    def says(self, row: Suggestion) -> str:
        return timeline.reveal(suggestions.say(row))

    @display(description="Why")  # type: ignore[untyped-decorator]
    def why(self, row: Suggestion) -> str:
        return timeline.reveal(" ".join(suggestions.explain(row)))

    @display(description="State", label=COLOURS)  # type: ignore[untyped-decorator]
    def state_label(self, row: Suggestion) -> str:
        return row.get_state_display()

    @display(description="Turn")  # type: ignore[untyped-decorator]
    def its_turn(self, row: Suggestion) -> SafeString:
        return format_html(LINK, turn_link(row.turn_id), row.turn_id)

    @display(description="Ledger")  # type: ignore[untyped-decorator]
    def in_ledger(self, row: Suggestion) -> SafeString | str:
        return format_html(LINK, ledger_link(row.action_id), row.action_id) if row.action_id else ""

    def row_context(self, request: HttpRequest, row: Suggestion) -> dict[str, Any]:
        return {"offers": [offer(row)], "may_take_up": self.may_press(request, "take_up")}

    def take_up(self, request: HttpRequest, key: UUID) -> HttpResponse:
        try:
            row, result = taking_up.take_up(key, self._decider(request, key))
        except (SuggestionNotFound, SuggestionOver) as error:
            messages.warning(request, str(error))
        else:
            done = result.status in ("succeeded", "noop")
            tell = messages.success if done else messages.warning
            tell(request, timeline.reveal(f"{suggestions.say(row)}: {result.sentence}"))
        return _back(request, key)

    def dismiss(self, request: HttpRequest, key: UUID) -> HttpResponse:
        try:
            taking_up.dismiss(key, self._decider(request, key))
        except (SuggestionNotFound, SuggestionOver) as error:
            messages.warning(request, str(error))
        return _back(request, key)

    def _decider(self, request: HttpRequest, key: UUID) -> Decider:
        row = Suggestion.objects.select_related("account").get(pk=key)
        organisation_id = row.account.organisation_id
        return Decider(
            organisation_id=organisation_id,
            by=operator(request),
            external_user_id=staff.own_user_id(request.user, organisation_id) or None,
            may_confirm=request.user.has_perm("guardrails.change_approval"),
        )


def _back(request: HttpRequest, key: UUID) -> HttpResponse:
    """To the page with the button; to the suggestion's own where that is not one of ours."""
    page = request.META.get("HTTP_REFERER", "")
    is_ours = url_has_allowed_host_and_scheme(
        page, {request.get_host()}, require_https=request.is_secure()
    )
    return redirect(page) if is_ours else redirect("admin:agents_suggestion_change", key)
