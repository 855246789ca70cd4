"""Where the link of a message leads: to the card, for who may see it. It decides nothing."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.http import require_safe

from agents.office import console_access
from guardrails.approve import card_links
from guardrails.models import Approval
from integrations.web import staff

SEES = "guardrails.view_approval"
UNKNOWN = "This link is none of Remit's, or what it leads to is not yours to decide."
CHANGED = gettext_noop(
    "This request has changed since the message was sent. What you see is what it is now."
)
ENDED = gettext_noop(
    "This request waits no longer: somebody has decided about it, or it has expired."
)


@require_safe
def view(request: HttpRequest, approval_id: UUID) -> HttpResponse:
    """Raises Http404, the same for what is forged, unknown and another's."""
    digest, signature = (request.GET.get(name, "") for name in ("digest", "signature"))
    first = _met(request.user).filter(id=approval_id).first()
    if first is None or not card_links.is_ours(approval_id, digest=digest, signature=signature):
        raise Http404(UNKNOWN)
    row = card_links.newest(first)
    with _speaking(request, row):
        if row.digest != digest:
            messages.warning(request, gettext(CHANGED))
        elif row.state != Approval.State.PENDING or (row.expires_at and row.expires_at <= now()):
            messages.info(request, gettext(ENDED))
    return redirect(_page(request.user, row))


def _speaking(request: HttpRequest, row: Approval) -> AbstractContextManager[object]:
    """In the language of the page that it leads to."""
    if request.user.has_perm(SEES):
        return nullcontext()
    user_id = str(staff.own_user_id(request.user, row.organisation_id))
    return console_access.speaking_to(request, row.organisation, user_id, zone="")


def _met(user: Any) -> "QuerySet[Approval]":
    """Those of their organisations: all for who sees approvals, else what they are asked about."""
    rows = staff.bind(Approval.objects.all(), user, "organisation")
    if user.has_perm(SEES):
        return rows
    own = Approval.objects.none()
    for organisation_id in staff.organisation_ids(user) if console_access.may_use(user) else ():
        user_id = staff.own_user_id(user, organisation_id)
        mine = Approval.objects.for_user(user_id) if user_id else Approval.objects.none()
        own |= mine.filter(organisation_id=organisation_id)
    return own


def _page(user: Any, row: Approval) -> str:
    if user.has_perm(SEES):
        return reverse("admin:guardrails_approval_change", args=[row.pk])
    organisation = row.organisation
    query = {
        "organisation": organisation.slug,
        "user": staff.own_user_id(user, organisation.id),
        "card": row.pk,
    }
    return f"{reverse('console-approvals')}?{urlencode(query)}"
