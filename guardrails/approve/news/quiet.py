"""What the person whom alone a recipient reaches says of messages. It is quiet while the
recipient's hours or theirs say so; the language is theirs, where they chose one."""

from datetime import datetime

from django.contrib.auth.models import User

from guardrails.models import ApprovalRecipient
from integrations.contracts.quiet_hours import QuietHours, quiet_until
from integrations.models.personal import find_language, find_quiet_hours
from integrations.web import staff
from integrations.web.languages import spoken


def held_until(recipient: ApprovalRecipient, now: datetime) -> datetime | None:
    """When messages to them go on; None where they go now."""
    own = QuietHours.read(recipient.quiet_from, recipient.quiet_until, zone=recipient.time_zone)
    person = person_of(recipient)
    theirs = find_quiet_hours(recipient.organisation_id, [person]) if person else {}
    return quiet_until(now, *own, *theirs.values())


def language_of(recipient: ApprovalRecipient) -> str:
    person = person_of(recipient)
    chosen = find_language(recipient.organisation_id, person) if person else ""
    return spoken(chosen) or recipient.language


def person_of(recipient: ApprovalRecipient) -> int | None:
    """Whom alone a recipient reaches: whose browser it is, or who of the organisation's staff has
    this mail address, where that is one and no more. A channel is nobody's."""
    if recipient.person_id:
        return recipient.person_id
    if recipient.kind != ApprovalRecipient.Kind.MAIL:
        return None
    rows = User.objects.filter(email__iexact=recipient.address, is_active=True, is_staff=True)
    met = [user.pk for user in rows if staff.may_meet(user, recipient.organisation_id)]
    return met[0] if len(met) == 1 else None
