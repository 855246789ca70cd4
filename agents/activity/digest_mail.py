"""The mail about a user's day: who wants one, once a day on their own clock, and what it says.

It goes the way of the approvals' mail (`EMAIL_URL`), to the user's own mailbox. Nothing in it acts:
its links lead to pages behind the log-in, and what strangers wrote is no link.
"""

import logging
from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from urllib.parse import urlencode
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import models
from django.db.models import OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import dateformat
from django.utils.translation import gettext

from agents.activity import digests
from agents.activity.digests import Day, Part
from agents.activity.rows import Row
from agents.answer.records import MORE
from agents.models import DailyDigest
from guardrails.approve.card_mail import inert, way
from integrations.contracts.quiet_hours import quiet_until
from integrations.exceptions import ProviderError
from integrations.models import Account, Membership, UserPreferences
from integrations.models.personal import find_quiet_hours
from integrations.models.preferences import find_zones, load_preferences
from integrations.network import outgoing
from integrations.web.languages import speaking

log = logging.getLogger(__name__)
HOUR = 7  # of the user's morning, from which on the day before is reported
EXAMPLES = 5  # of each outcome
REMEMBERED = timedelta(days=35)
State = DailyDigest.State


def claim_due(*, now: datetime) -> list[int]:
    """The digests that are to be sent now, each user's once a day. Where no mail can be sent there
    are none. A user's own quiet hours hold theirs for as long as it is that day. Four queries, and
    two for each organisation, four where its users have such hours."""
    if not settings.EMAIL_URL:
        return []
    DailyDigest.objects.filter(day__lt=(now - REMEMBERED).date()).delete()
    found: list[int] = []
    wishes: dict[UUID, set[str]] = {}
    for organisation_id, user in _who_wants():
        wishes.setdefault(organisation_id, set()).add(user)
    for organisation_id, users in wishes.items():
        days = {
            user: day
            for user, zone in find_zones(organisation_id, users).items()
            if (day := day_to_tell(now, zone))
        }
        for user in _quiet_now(organisation_id, days, now):
            del days[user]
        DailyDigest.objects.bulk_create(
            (
                DailyDigest(organisation_id=organisation_id, external_user_id=user, day=day)
                for user, day in days.items()
            ),
            ignore_conflicts=True,
        )
        rows = DailyDigest.objects.filter(
            organisation_id=organisation_id, state=State.QUEUED, day__in=set(days.values())
        )
        found += [row.pk for row in rows if days.get(row.external_user_id) == row.day]
    return found


def _quiet_now(organisation_id: UUID, users: Iterable[str], now: datetime) -> set[str]:
    """Those for whom it is quiet, by the hours of those who log in as them."""
    people: dict[str, list[int]] = {}
    rows = Membership.objects.filter(
        organisation_id=organisation_id, external_user_id__in=list(users)
    )
    for user, person in rows.values_list("external_user_id", "user_id"):
        people.setdefault(user, []).append(person)
    everybody = [person for some in people.values() for person in some]
    hours = find_quiet_hours(organisation_id, everybody)
    return {
        user
        for user, some in people.items()
        if quiet_until(now, *(hours[person] for person in some if person in hours))
    }


def day_to_tell(now: datetime, zone: str) -> date | None:
    """The day before, from the morning on; None earlier. Pure."""
    local = now.astimezone(ZoneInfo(zone))
    return local.date() - timedelta(days=1) if local.hour >= HOUR else None


def _who_wants() -> "models.QuerySet[Account, tuple[UUID, str]]":
    own = UserPreferences.objects.filter(
        organisation=OuterRef("organisation"), external_user_id=OuterRef("external_user_id")
    )
    rows = Account.objects.filter(kind="mail").exclude(address="")
    wanted = Coalesce(Subquery(own.values("daily_digest")[:1]), "organisation__daily_digest")
    return (
        rows.annotate(wanted=wanted)
        .filter(wanted=True)
        .order_by("organisation_id", "external_user_id")
        .values_list("organisation_id", "external_user_id")
        .distinct()
    )


def send(digest_id: int) -> None:
    """Send one that is due; a second call sends nothing. What the mail server does not take now is
    tried again in the hours of the same day."""
    if not DailyDigest.objects.filter(pk=digest_id, state=State.QUEUED).update(state=State.SENDING):
        return
    row = DailyDigest.objects.get(pk=digest_id)
    address, zone = _to_whom(row)
    with speaking(load_preferences(row.organisation_id, row.external_user_id).language):
        found = digests.load_day(
            row.organisation_id, row.external_user_id, row.day, zone=zone, examples=EXAMPLES
        )
        about, words = subject(found), text(found, _page(row))
    state = State.QUIET
    if address and not found.is_quiet:
        try:
            outgoing.send_mail(address, subject=about, text=words)
            state = State.SENT
        except ProviderError as error:
            log.warning("digest.not_sent", extra={"digest": str(row.pk), "code": error.code})
            state = State.QUEUED if error.retryable else State.FAILED
    DailyDigest.objects.filter(pk=digest_id, state=State.SENDING).update(state=state)


def _to_whom(row: DailyDigest) -> tuple[str, ZoneInfo]:
    """The address of the mailbox that the user connected first, and their zone."""
    accounts = Account.objects.filter(
        Q(kind="mail") & ~Q(address=""),
        organisation_id=row.organisation_id,
        external_user_id=row.external_user_id,
    )
    address = accounts.order_by("created_at", "id").values_list("address", flat=True).first()
    zones = find_zones(row.organisation_id, [row.external_user_id])
    return address or "", ZoneInfo(zones.get(row.external_user_id, "UTC"))


def _page(row: DailyDigest) -> str:
    """Of the whole day, for who logs in."""
    if not settings.PUBLIC_URL:
        return ""
    query = {
        "organisation": row.organisation.slug,
        "person": row.external_user_id,
        "day": row.day.isoformat(),
    }
    return f"{settings.PUBLIC_URL.rstrip('/')}{reverse('day')}?{urlencode(query)}"


def subject(found: Day) -> str:
    """Remit's own words alone."""
    about = gettext("What Remit did on %(day)s") % {"day": _day(found, gettext("l j F"))}
    waits = gettext("%(number)d to decide") % {"number": found.waits}
    return f"{about}: {waits}" if found.waits else about


def text(found: Day, page: str) -> str:
    return "\n\n".join(_parts(found, page))


def _day(found: Day, form: str) -> str:
    return dateformat.format(found.day, form)


def _parts(found: Day, page: str) -> Iterator[str]:
    day = _day(found, gettext("l j F Y"))
    if found.number == 1:
        yield gettext("On %(day)s the assistant looked at 1 thing for you.") % {"day": day}
    else:
        said = gettext("On %(day)s the assistant looked at %(number)d things for you.")
        yield said % {"day": day, "number": found.number}
    if found.waits:
        waits = gettext("Waiting for you: %(number)d.") % {"number": found.waits}
        first = gettext("The first %(number)d:") % {"number": len(found.waiting)}
        yield f"{waits} {first}" if found.waits > len(found.waiting) else waits
    for card in found.waiting:
        yield "\n".join([*map(_indented, filter(None, (card.heading, card.about))), way(card)])
    for part in found.parts:
        yield "\n".join(_part(part))
    if page:
        yield f"{gettext('The whole day, after you log in:')}\n{page}"


def _part(part: Part) -> Iterator[str]:
    yield f"{part.title}: {part.number}"
    for row in part.rows:
        yield from map(_indented, _row(row))
    if part.more:
        yield f"  {_more(part.more)}"


def _row(row: Row) -> Iterator[str]:
    who = f"{row.who}: " if row.who and row.who != row.person else ""
    yield f"{row.time} {who}{row.title}"
    for one in row.done:
        yield f"  {one.what}: {one.status}." + (f" {one.why}" if one.why else "")
    if row.more:
        yield f"  {_more(row.more)}"
    for said in filter(None, (*row.suggested, row.why)):
        yield f"  {said}"


def _more(number: int) -> str:
    return gettext(MORE) % {"number": number}


def _indented(words: str) -> str:
    """Somebody's words on lines of their own, further in than Remit's."""
    return "\n".join(f"  {line}" for line in inert(words).splitlines())
