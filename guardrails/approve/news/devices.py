"""Browsers in which people hear of what waits for them: switched on and off by themselves."""

from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils.translation import gettext, gettext_noop

from guardrails.approve import delegation
from guardrails.approve.news import recipients
from guardrails.models import Approval, ApprovalRecipient
from integrations.network import outgoing, web_push
from integrations.web import staff
from integrations.web.authentication import OWN_CONSOLE

MOST_DEVICES = 10  # of one person
MOST_ORGANISATIONS = 20  # of which one person hears
TOO_MANY = gettext_noop("You hear in ten browsers already. Switch it off in one of them first.")


def decides_for(user: Any, organisation_id: Any) -> str | None:
    """About whose actions somebody may decide there. Empty: about all; None: about nobody's."""
    if not (user.is_active and user.is_staff and staff.may_meet(user, organisation_id)):
        return None
    if user.has_perm(delegation.CODENAME):
        return ""
    own = staff.own_user_id(user, organisation_id)
    return own if own and user.has_perm(OWN_CONSOLE) else None


def heard_by(recipient: ApprovalRecipient) -> "QuerySet[Approval]":
    """What a recipient may hear of now: all of the organisation's, but in somebody's own browser
    what they may decide themself."""
    rows = Approval.objects.filter(organisation_id=recipient.organisation_id)
    if recipient.person is None:
        return rows
    own = decides_for(recipient.person, recipient.organisation_id)
    if own is None:
        return rows.none()
    return rows.for_user(own).filter(delegated_to__in=("", f"user:{own}")) if own else rows


def offer(user: Any) -> dict[str, Any]:
    """What a page needs that offers to switch it on; nothing where it cannot be."""
    if not (settings.VAPID_PUBLIC_KEY and settings.CREDENTIALS_PUBLIC_KEY) or not _hears_of(user):
        return {}
    rows = ApprovalRecipient.objects.filter(person_id=user.pk, stopped_at=None)
    known = " ".join(sorted({*rows.values_list("device", flat=True)}))
    return {"push_key": settings.VAPID_PUBLIC_KEY, "push_known": known}


def switch_on(
    user: Any, *, subscription: str, time_zone: str, language: str = "en", by: str
) -> None:
    """Have this browser show what waits for this person, and for nobody else. Doing it again
    changes nothing. Raises ValidationError with a sentence, audit.contracts.LedgerError."""
    try:
        device = web_push.read(subscription).fingerprint
    except outgoing.Forbidden as error:
        raise ValidationError(str(error)) from error
    wanted = set(_hears_of(user))
    if not wanted:
        raise ValidationError(gettext("Nothing waits for your decision anywhere."))
    mine = ApprovalRecipient.objects.filter(person=user)
    if mine.exclude(device=device).values("device").distinct().count() >= MOST_DEVICES:
        raise ValidationError(gettext(TOO_MANY))
    for row in ApprovalRecipient.objects.filter(device=device):
        if row.person_id == user.pk and row.stopped_at is None:
            wanted.discard(row.organisation_id)
        else:
            recipients.remove(row, by=by)
    for organisation_id in sorted(wanted):
        row = ApprovalRecipient(
            organisation_id=organisation_id,
            name=user.get_username()[:100],
            kind=ApprovalRecipient.Kind.PUSH,
            person=user,
            device=device,
            time_zone=time_zone,
            language=language,
        )
        recipients.save(row, address=subscription, by=by)


def switch_off(user: Any, *, device: str = "", by: str) -> None:
    """In one browser, or in all of theirs. Raises audit.contracts.LedgerError."""
    rows = ApprovalRecipient.objects.filter(person=user)
    for row in rows.filter(device=device) if device else rows:
        recipients.remove(row, by=by)


def _hears_of(user: Any) -> tuple[Any, ...]:
    """The organisations in which somebody decides anything."""
    met = staff.list_organisations(user, MOST_ORGANISATIONS)
    return tuple(one.id for one in met if decides_for(user, one.id) is not None)
