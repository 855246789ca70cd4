"""Notifications of browsers: encrypted for one of them, and no more said than by other channels."""

import json
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django.fixtures import Settings

from audit.models import ExecutedAgentAction
from guardrails.approve import card_links, card_mail, card_text
from guardrails.approve.cards import list_cards
from guardrails.approve.news import devices, recipients
from guardrails.approve.news.news import announce, try_out
from guardrails.models import Approval, ApprovalNotice, ApprovalRecipient
from integrations.contracts.preferences import DAYS
from integrations.models import PersonalSettings, UserPreferences
from integrations.network import outgoing
from tests.guardrails.approvals import ask, confirm
from tests.guardrails.approve.news.conftest import Receiver
from tests.guardrails.approve.news.people import person, switch_on
from tests.guardrails.approve.news.recipients import add
from tests.guardrails.approve.news.test_news import at, heard
from tests.guardrails.office import Office
from tests.push_world import Browser, signed

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture
def browser(receiver: Receiver) -> Browser:
    return Browser(receiver.url)


@pytest.fixture
def approval(office: Office) -> Approval:
    anybody = {"kind": "recipient", "relation": ["typed"], "novel": "ask"}
    office.permit("send_email", "ask", conditions=[anybody])
    sent = {"to": ["ada@client.com"], "subject": "Offer", "body": "Hello " * 200}
    return ask(office, "send_email", sent)


def states() -> list[str]:
    return list(ApprovalNotice.objects.order_by("id").values_list("state", flat=True))


def test_the_browser_alone_reads_what_waits_and_comes_to_its_card(
    office: Office,
    receiver: Receiver,
    browser: Browser,
    approval: Approval,
    settings: Settings,
) -> None:
    switch_on(person(office, "ann"), browser)
    announce(now=timezone.now())
    announce(now=timezone.now())

    [body], [head] = receiver.taken, receiver.heads
    said = browser.read(body)
    [card] = list_cards(organisation_id=office.organisation.id)
    whole = card_mail.inert(card_text.render(card))
    assert said == {
        "title": "Remit asks a person: Send a mail",
        "body": card_mail.cut(whole, most=300),
        "url": card_links.path(card),
        "tag": str(approval.question),
    }
    assert said["body"].startswith("Send to ada@client[.]com")
    assert b"ada" not in body
    assert (head["content-encoding"], head["urgency"]) == ("aes128gcm", "high")
    assert 86_390 <= int(head["ttl"]) <= 86_400
    claims = signed(head["authorization"], public_key=settings.VAPID_PUBLIC_KEY)
    assert f"{claims['aud']}/services/T0/B0/secret" == receiver.url
    assert states() == ["sent"]


def test_it_is_in_the_language_of_the_page_that_had_the_button(
    office: Office, receiver: Receiver, browser: Browser, approval: Approval
) -> None:
    switch_on(person(office, "ann"), browser, language="de")
    try_out(ApprovalRecipient.objects.get().id, now=timezone.now())
    announce(now=timezone.now())

    trial, said = map(browser.read, receiver.taken)
    assert (trial["title"], trial["body"]) == (
        "Hier wird Remit fragen",
        "Das ist ein Versuch. Wenn eine Aktion auf einen Menschen wartet, kommt ihre Karte "
        "hierher.",
    )
    assert said["title"] == "Remit fragt einen Menschen: Eine Mail senden"
    assert said["body"].startswith("An ada@client[.]com senden")
    assert said["body"].endswith("… Der Rest steht auf ihrer Seite.")
    assert len(said["body"]) == 300


@pytest.mark.parametrize("is_own", [False, True])
def test_it_is_in_the_language_that_the_person_chose(
    office: Office, receiver: Receiver, browser: Browser, approval: Approval, is_own: bool
) -> None:
    own = office.user_id if is_own else ""
    ann = person(office, "ann", own=own)
    switch_on(ann, browser, language="de")
    chosen = UserPreferences(organisation=office.organisation, external_user_id=own, language="it")
    (chosen if own else PersonalSettings(user=ann, language="it")).save()
    announce(now=timezone.now())
    # Remit does not speak this one.
    (UserPreferences if own else PersonalSettings).objects.update(language="pt")
    try_out(ApprovalRecipient.objects.get().id, now=timezone.now())

    said, trial = map(browser.read, receiver.taken)
    assert said["title"] == "Remit chiede a una persona: Inviare un messaggio"
    assert trial["title"] == "Hier wird Remit fragen"


def test_a_trial_asks_nothing_and_leads_nowhere(
    office: Office, receiver: Receiver, browser: Browser
) -> None:
    switch_on(person(office, "ann"), browser)
    try_out(ApprovalRecipient.objects.get().id, now=timezone.now())

    said = browser.read(receiver.taken[0])
    assert (said["title"], said["url"]) == ("Remit will ask here", "")


def test_what_expires_is_not_kept_for_longer_by_the_push_service(
    office: Office, receiver: Receiver, browser: Browser, approval: Approval
) -> None:
    ends = timezone.now() + timedelta(minutes=10)
    Approval.objects.update(expires_at=ends)
    switch_on(person(office, "ann"), browser)
    announce(now=timezone.now())

    assert 590 <= int(receiver.heads[0]["ttl"]) <= 600


@pytest.mark.parametrize("status", [404, 410])
def test_a_browser_that_is_gone_is_forgotten_and_the_ledger_says_so(
    office: Office, receiver: Receiver, browser: Browser, approval: Approval, status: int
) -> None:
    switch_on(person(office, "ann"), browser)
    receiver.status = status
    announce(now=timezone.now())
    announce(now=timezone.now())

    assert len(receiver.taken) == 1
    assert not ApprovalRecipient.objects.exists()
    by = ExecutedAgentAction.objects.filter(
        action_type=recipients.CHANGE, tenant_id=office.organisation.id
    )
    assert [*by.order_by("id").values_list("actor_id", flat=True)] == [
        "operator:ann",
        "system:push service",
    ]


def test_one_that_does_not_take_our_signature_is_stopped_and_one_click_mends_it(
    office: Office, receiver: Receiver, browser: Browser, approval: Approval
) -> None:
    ann = person(office, "ann")
    switch_on(ann, browser)
    receiver.status = 403
    announce(now=timezone.now())
    assert ApprovalRecipient.objects.get().stopped_at is not None
    assert devices.offer(ann)["push_known"] == ""

    receiver.status = 201
    switch_on(ann, browser)
    announce(now=timezone.now())
    assert (len(receiver.taken), states()) == (2, ["sent"])


def test_a_browser_that_names_our_own_network_gets_nothing(
    office: Office, receiver: Receiver, approval: Approval, settings: Any
) -> None:
    inner = receiver.url.replace("127.0.0.1", "localhost")
    switch_on(person(office, "ann"), Browser(inner))
    settings.OUTGOING_TO_PRIVATE = False
    ApprovalRecipient.objects.update(stopped_at=None)
    announce(now=timezone.now())

    assert (receiver.taken, states()) == ([], ["failed"])
    with pytest.raises(outgoing.Forbidden):
        outgoing.public_address(inner.replace("http://", "https://"))


def test_quiet_hours_and_turns_hold_for_a_browser_as_for_the_other_channels(
    office: Office, receiver: Receiver, browser: Browser, approval: Approval
) -> None:
    now = timezone.now()
    switch_on(person(office, "ann"), browser)
    quiet = {
        "quiet_from": at(now - timedelta(hours=1)),
        "quiet_until": at(now + timedelta(hours=2)),
    }
    ApprovalRecipient.objects.update(after_minutes=30, **quiet)
    announce(now=now + timedelta(minutes=1))
    assert states() == []
    announce(now=now + timedelta(minutes=31))
    assert (states(), receiver.taken) == (["waiting"], [])
    announce(now=now + timedelta(hours=2, minutes=1))
    assert (states(), len(receiver.taken)) == (["sent"], 1)


def test_what_was_decided_before_is_no_news(
    office: Office, receiver: Receiver, browser: Browser, approval: Approval
) -> None:
    switch_on(person(office, "ann"), browser)
    confirm(approval, external_user_id=office.user_id)
    announce(now=timezone.now())

    assert receiver.taken == []


def test_the_address_of_a_browser_stands_nowhere(
    office: Office, browser: Browser, approval: Approval
) -> None:
    switch_on(person(office, "ann"), browser)

    row = ApprovalRecipient.objects.get()
    assert row.address == "127.0.0.1"
    assert "secret" not in json.dumps(row.__dict__, default=str)
    assert b"secret" not in bytes(row.sealed)


def test_ones_own_quiet_hours_hold_what_one_is_sent_until_they_end_and_then_it_comes_once(
    office: Office, receiver: Receiver, browser: Browser, approval: Approval
) -> None:
    now = timezone.now()
    ann = person(office, "ann")
    switch_on(ann, browser)
    be_quiet(ann, now - timedelta(hours=1), now + timedelta(hours=2))
    announce(now=now + timedelta(seconds=30))
    announce(now=now + timedelta(hours=1, minutes=50))
    assert (receiver.taken, states()) == ([], ["waiting"])

    announce(now=now + timedelta(hours=2, minutes=1))
    announce(now=now + timedelta(hours=2, minutes=2))
    assert (len(receiver.taken), states()) == (1, ["sent"])
    approval.refresh_from_db()
    assert approval.state == "pending"  # they decided nothing


def test_the_wider_of_the_rows_and_of_ones_own_quiet_hours_counts(
    office: Office, receiver: Receiver, browser: Browser, approval: Approval
) -> None:
    now = timezone.now()
    ann = person(office, "ann")
    switch_on(ann, browser)
    be_quiet(ann, now - timedelta(hours=1), now + timedelta(hours=2))
    ApprovalRecipient.objects.update(
        quiet_from=at(now + timedelta(hours=1)), quiet_until=at(now + timedelta(hours=3))
    )
    for minutes in (1, 121, 179):
        announce(now=now + timedelta(minutes=minutes))
    assert receiver.taken == []

    announce(now=now + timedelta(minutes=181))
    assert len(receiver.taken) == 1


def test_what_expires_before_ones_own_quiet_hours_end_comes_at_once(
    office: Office, receiver: Receiver, browser: Browser, approval: Approval
) -> None:
    now = timezone.now()
    ann = person(office, "ann")
    switch_on(ann, browser)
    be_quiet(ann, now - timedelta(hours=1), now + timedelta(hours=2))
    Approval.objects.update(expires_at=now + timedelta(hours=1))
    announce(now=now + timedelta(minutes=1))

    assert (len(receiver.taken), states()) == (1, ["sent"])


def test_what_would_be_too_old_when_they_end_comes_at_once(
    office: Office, receiver: Receiver, browser: Browser, approval: Approval
) -> None:
    now = timezone.now()
    ann = person(office, "ann")
    switch_on(ann, browser)
    be_quiet(ann, now - timedelta(hours=1), now + timedelta(hours=22))
    Approval.objects.update(expires_at=None, created_at=now - timedelta(hours=3))
    announce(now=now + timedelta(minutes=1))

    assert (len(receiver.taken), states()) == (1, ["sent"])


def test_mail_to_ones_own_address_is_held_and_mail_to_one_that_two_share_is_not(
    office: Office, approval: Approval
) -> None:
    now = timezone.now()
    ann, bob = person(office, "ann"), person(office, "bob")
    for user, address in ((ann, "Ann@company.com"), (bob, "desk@company.com")):
        user.email = address
        user.save()
        be_quiet(user, now - timedelta(hours=1), now + timedelta(hours=2))
    cleo = person(office, "cleo")
    cleo.email = "desk@company.com"
    cleo.save()
    for address in ("ann@company.com", "desk@company.com"):
        add(office, address)
    announce(now=now + timedelta(seconds=30))
    assert heard() == ["desk@company.com"]

    announce(now=now + timedelta(hours=2, minutes=1))
    assert heard() == ["desk@company.com", "ann@company.com"]


def test_a_night_is_on_the_clock_of_the_user_that_somebody_is(
    office: Office, receiver: Receiver, browser: Browser, approval: Approval
) -> None:
    now = timezone.now()
    maya = person(office, "maya.lindqvist", own=office.user_id)
    switch_on(maya, browser)
    UserPreferences.objects.create(
        organisation=office.organisation, external_user_id=office.user_id, time_zone="Asia/Tokyo"
    )
    # An hour around now in Tokyo, and nine hours off in UTC.
    here = now.astimezone(ZoneInfo("Asia/Tokyo"))
    be_quiet(maya, here - timedelta(hours=1), here + timedelta(hours=1))
    announce(now=now + timedelta(seconds=30))
    assert receiver.taken == []

    announce(now=now + timedelta(hours=1, minutes=1))
    assert len(receiver.taken) == 1


def be_quiet(user: User, begins: datetime, ends: datetime) -> None:
    PersonalSettings.objects.create(
        user=user, quiet_from=at(begins), quiet_until=at(ends), quiet_days=list(DAYS)
    )
