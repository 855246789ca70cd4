"""What users ask operators to permit: the list, and the page on which one is decided."""

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import Case, When
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from unfold.decorators import display

from audit.ledger.people_admin import PeopleAdmin
from audit.ledger.selectors import recorded
from audit.ledger.timeline import moment
from guardrails.admin.base import WaitingRowAdmin
from guardrails.admin.policies.file_page import RIGHTS
from guardrails.admin.policies.trial import LASTS, OF, chosen, describe
from guardrails.approve import change_requests
from guardrails.approve.change_request_rows import in_a_sentence
from guardrails.approve.requested_change import Proposal, find_ended
from guardrails.facts.text import about_of, heading_of, visible
from guardrails.models import ChangeRequest
from guardrails.policies import beyond, simulation
from guardrails.policies.why import why
from integrations.web.admin_pages import RowPage, operator
from integrations.web.bound_admin import AutocompleteFilter

COLOURS = {"Waiting": "info", "Approved": "success", "Declined": "warning"}
State = ChangeRequest.State


@admin.register(ChangeRequest)
class ChangeRequestAdmin(PeopleAdmin, RowPage, WaitingRowAdmin):
    """What waits comes first, the longest wait on top. Nothing can be edited; people decide."""

    empty = (
        "When an action is refused, the user can ask for it. The request comes here, with "
        "the smallest change of policy that would allow it."
    )

    list_display = (
        "since",
        "headline",
        "about",
        "status",
        "external_user_id",
        "account",
        "times_refused",
        "first_refused",
        "decided_by",
    )
    list_display_links = ("since", "headline")
    people = {"decided_by": "Decided by", "asked_by": "Asked by"}
    list_filter = (
        "state",
        "action_type",
        ("account", AutocompleteFilter),
        "organisation",
    )
    list_filter_submit = True
    list_select_related = ("account",)
    list_before_template = "guardrails/change_requests.html"
    ordering = (
        Case(When(state="open", then=0), default=1).asc(),
        Case(When(state="open", then="created_at")).asc(),
        "-created_at",
    )
    search_fields = ("id", "action_id", "external_user_id", "turn_id")
    waits = State.OPEN
    search_help_text = (
        "A person, words of what waits, or the whole id of a request, action, user or turn"
    )
    fields = ("account", "status", "since", "asked_by", "in_ledger")
    readonly_fields = ("status", "since", "in_ledger")
    change_form_outer_before_template = "guardrails/change_request.html"
    buttons = {
        "approve": ("guardrails.change_changerequest", *RIGHTS),
        "decline": ("guardrails.change_changerequest",),
    }

    @display(description="Asked", ordering="created_at")  # type: ignore[untyped-decorator]
    def since(self, row: ChangeRequest) -> str:
        return moment(row.created_at)

    @display(description="Refused since", ordering="first_refused_at")  # type: ignore[untyped-decorator]
    def first_refused(self, row: ChangeRequest) -> str:
        return moment(row.first_refused_at)

    @display(description="State", label=COLOURS)  # type: ignore[untyped-decorator]
    def status(self, row: ChangeRequest) -> str:
        return row.get_state_display()

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        waiting = self.get_queryset(request).filter(state=State.OPEN).count()
        response: HttpResponse = super().changelist_view(
            request, {**(extra_context or {}), "waiting": waiting}
        )
        return response

    def row_context(self, request: HttpRequest, row: ChangeRequest) -> dict[str, Any]:
        return (
            _page(row)
            | (_proposal(request, row) if row.state == State.OPEN else {})
            | {
                "may_decide": self.may_press(request, "decline"),
                "may_approve": self.may_press(request, "approve"),
            }
        )

    def approve(self, request: HttpRequest, key: UUID) -> HttpResponse:
        """The operator's yes: the policy changes by what they were shown."""
        try:
            done = change_requests.approve(
                key, digest=request.POST.get("digest", ""), by=operator(request)
            )
        except change_requests.Decided as error:
            messages.warning(request, f"Nothing was changed. {error}")
        except change_requests.Changed as error:
            messages.warning(request, f"Nothing was changed. {error} Look at it again.")
        else:
            changed = "1 entry" if len(done) == 1 else f"{len(done)} entries"
            messages.success(request, f"{changed} of the policy changed. The user hears of it.")
        return redirect("admin:guardrails_changerequest_change", key)

    def decline(self, request: HttpRequest, key: UUID) -> HttpResponse:
        """The operator's no, with a sentence for the user."""
        try:
            change_requests.decline(
                key, by=operator(request), answer=request.POST.get("answer", "")
            )
        except ValueError as error:
            messages.error(request, str(error))
        except change_requests.Decided as error:
            messages.warning(request, f"Nothing was changed. {error}")
        else:
            messages.success(request, "Declined. The user reads your sentence.")
        return redirect("admin:guardrails_changerequest_change", key)


def _page(row: ChangeRequest) -> dict[str, Any]:
    """What was refused and to whom; text of models and strangers with hidden characters shown."""
    found = why(recorded(row.action_id))
    return {
        "change_request": row,
        "headline": visible(heading_of(row.description)),
        "about": visible(about_of(row.description)),
        "why": found,
        "values": found.values if found else (),
        "is_open": row.state == State.OPEN,
        "became": "" if row.state == State.OPEN else in_a_sentence(row),
        "first_refused": moment(row.first_refused_at),
        "changed": [visible(one) for one in row.differences],
    }


def _proposal(request: HttpRequest, row: ChangeRequest) -> dict[str, Any]:
    """What would be approved, what else that permits, and what it would have changed."""
    found = change_requests.load_proposal(row)
    if not isinstance(found, Proposal):
        return {"no_change": found.why}
    refused, source = found.grounds.refused, row.account.source
    replay = simulation.replay(
        lambda policy: found.change.policy if policy.account_id == row.account_id else policy,
        organisation_id=row.organisation_id,
        account_id=row.account_id,
        **chosen(request),
    )
    return {
        "values": found.values,
        "differences": found.differences,
        "digest": found.digest,
        "after": found.change.decision,
        "beyond": beyond.describe_beyond(
            refused.policy, found.change, action=refused.action, source=source
        ),
        "unread": [one for one in find_ended(found) if not one.is_read],
        "lasts": LASTS,
        "kinds_of_past": OF,
        "tried": chosen(request),
        "replay": replay,
        "groups": describe(replay)["groups"],
    }
