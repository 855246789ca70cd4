"""Whose browser hears of what: people's own, of what they may decide themselves, and no more."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils import timezone
from pytest_django.fixtures import Settings

from guardrails.approve.news import devices
from guardrails.approve.news.news import announce
from guardrails.models import Approval, ApprovalRecipient
from integrations.models import Membership, Organisation
from tests.guardrails.approvals import ask
from tests.guardrails.approve.news.conftest import Receiver
from tests.guardrails.approve.news.people import person, switch_on
from tests.guardrails.office import Office
from tests.push_world import Browser

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
PLACE = "https://push.example.com/send/abc"


@pytest.fixture
def office(office: Office) -> Office:
    office.permit("archive", "ask")
    return office


def wait(office: Office) -> Approval:
    return ask(office, "archive", {"email_id": office.receive()})


def rows() -> list[tuple[str, str]]:
    found = ApprovalRecipient.objects.order_by("person__username", "organisation__slug")
    return list(found.values_list("person__username", "organisation__slug"))


def test_switching_on_again_changes_nothing_and_off_removes_it(office: Office) -> None:
    ann, browser = person(office, "ann"), Browser(PLACE)
    switch_on(ann, browser, "Europe/Berlin")
    [first] = ApprovalRecipient.objects.all()
    switch_on(ann, browser)
    [row] = ApprovalRecipient.objects.all()

    assert (row.pk, row.time_zone, row.name) == (first.pk, "Europe/Berlin", "ann")
    assert devices.offer(ann)["push_known"] == row.device
    devices.switch_off(ann, device=row.device, by="operator:ann")
    assert rows() == []


def test_a_browser_shows_one_persons_questions(office: Office) -> None:
    browser = Browser(PLACE)
    switch_on(person(office, "ann"), browser)
    switch_on(person(office, "bob"), browser)
    assert rows() == [("bob", office.organisation.slug)]

    devices.switch_off(User.objects.get(username="ann"), by="operator:ann")
    assert rows() == [("bob", office.organisation.slug)]


def test_who_works_for_several_organisations_hears_of_those_where_they_decide(
    office: Office,
) -> None:
    ann = person(office, "ann")
    slugs = [f"o-{uuid4().hex[:8]}" for _ in range(2)]
    theirs, _ = [Organisation.objects.create(slug=slug, name=slug) for slug in slugs]
    Membership.objects.create(user=ann, organisation=theirs)
    switch_on(ann, Browser(PLACE))

    assert {slug for _, slug in rows()} == {office.organisation.slug, slugs[0]}


def test_a_user_hears_of_their_own_questions_alone(office: Office, receiver: Receiver) -> None:
    mine, other = Browser(f"{receiver.url}/mine"), Browser(f"{receiver.url}/other")
    switch_on(person(office, "maya", own=office.user_id), mine)
    switch_on(person(office, "eve", own="somebody-else"), other)
    wait(office)
    handed_on = wait(office)
    Approval.objects.filter(id=handed_on.id).update(delegated_to="operator:olga")
    announce(now=timezone.now())

    [body] = receiver.taken
    assert mine.read(body)["title"] == "Remit asks a person: Archive a mail"


@pytest.mark.parametrize("lost", ["right", "membership", "account"])
def test_who_may_no_longer_decide_hears_nothing(
    office: Office, receiver: Receiver, lost: str
) -> None:
    ann = person(office, "ann")
    switch_on(ann, Browser(receiver.url))
    receiver.status = 503
    wait(office)
    announce(now=timezone.now())
    assert len(receiver.taken) == 1
    if lost == "right":
        ann.user_permissions.clear()
    elif lost == "membership":
        ann.memberships.all().delete()
    else:
        User.objects.filter(pk=ann.pk).update(is_active=False)
    wait(office)
    announce(now=timezone.now() + timedelta(minutes=10))

    assert len(receiver.taken) == 1


def test_who_decides_nothing_is_offered_nothing(office: Office, settings: Settings) -> None:
    clerk, ann = person(office, "clerk", "view_approval"), person(office, "ann")
    assert devices.offer(clerk) == {}
    with pytest.raises(ValidationError, match="Nothing waits for your decision"):
        switch_on(clerk, Browser(PLACE))

    assert devices.offer(ann)["push_key"] == settings.VAPID_PUBLIC_KEY
    settings.VAPID_PUBLIC_KEY = ""
    assert devices.offer(ann) == {}


def test_the_eleventh_browser_of_one_person_is_refused(office: Office) -> None:
    ann = person(office, "ann")
    for number in range(devices.MOST_DEVICES):
        switch_on(ann, Browser(f"{PLACE}{number}"))
    with pytest.raises(ValidationError, match="ten browsers already"):
        switch_on(ann, Browser(PLACE))

    devices.switch_off(ann, by="operator:ann")
    assert rows() == []
