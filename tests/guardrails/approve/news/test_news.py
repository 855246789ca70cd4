"""Who hears that an action waits: each recipient once, in their turn, outside of quiet hours."""

from datetime import datetime, time, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core import mail
from django.utils import timezone

from agents import tasks
from guardrails.approve.news import news, recipients
from guardrails.approve.news.news import announce
from guardrails.models import Approval, ApprovalNotice, ApprovalRecipient
from integrations.models import Organisation
from tests.guardrails.approvals import ask, confirm
from tests.guardrails.approve.news.conftest import Receiver
from tests.guardrails.approve.news.recipients import add
from tests.guardrails.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
DESK, CHIEF = "desk@company.com", "chief@company.com"


@pytest.fixture
def office(office: Office) -> Office:
    office.permit("archive", "ask")
    return office


def waiting(office: Office, number: int = 1) -> list[Approval]:
    return [ask(office, "archive", {"email_id": office.receive()}) for _ in range(number)]


def heard() -> list[str]:
    return [one.to[0] for one in mail.outbox]


def states() -> list[str]:
    rows = ApprovalNotice.objects.order_by("recipient__after_minutes", "id")
    return list(rows.values_list("state", flat=True))


def test_people_hear_once_of_each_question(office: Office) -> None:
    add(office, DESK)
    like, other = waiting(office, 2), waiting(office)[0]
    Approval.objects.filter(id__in=[one.id for one in like]).update(question=like[0].question)
    Approval.objects.filter(id=other.id).update(question=other.id)

    tasks.sweep()
    tasks.sweep()

    assert heard() == [DESK] * 2
    both, single = mail.outbox
    assert all(str(one.id) in both.body for one in like)
    assert str(other.id) in single.body
    assert not Approval.objects.filter(announced_at=None).exists()


def test_nobody_hears_of_another_organisation_or_account(office: Office) -> None:
    other = Organisation.objects.create(slug=f"o-{uuid4().hex[:8]}", name="Other")
    add(office, DESK, organisation=other)
    add(office, CHIEF, account=office.mailbox)
    waiting(office)

    announce(now=timezone.now())

    assert heard() == [CHIEF]


def test_what_was_decided_or_waits_for_long_is_no_news(office: Office) -> None:
    add(office, DESK)
    [row] = waiting(office)
    announce(now=timezone.now() + news.ANNOUNCED_FOR + timedelta(minutes=1))
    confirm(row, external_user_id=office.user_id)
    announce(now=timezone.now())

    assert mail.outbox == []


def test_who_comes_next_hears_of_what_nobody_decided_and_nobody_does_afterwards(
    office: Office,
) -> None:
    add(office, DESK)
    add(office, CHIEF, after_minutes=30)
    [decided] = waiting(office)
    announce(now=timezone.now())
    confirm(decided, external_user_id=office.user_id)
    announce(now=timezone.now() + timedelta(minutes=31))
    assert heard() == [DESK]

    waiting(office)
    announce(now=timezone.now())
    announce(now=timezone.now() + timedelta(minutes=31))
    announce(now=timezone.now() + timedelta(minutes=32))
    assert heard() == [DESK, DESK, CHIEF]


def test_quiet_hours_hold_a_message_unless_it_would_expire_meanwhile(
    office: Office, settings: Any
) -> None:
    now = timezone.now()
    begins, ends = now - timedelta(hours=1), now + timedelta(hours=2)
    add(office, DESK, quiet_from=at(begins), quiet_until=at(ends))
    [held] = waiting(office)
    announce(now=now + timedelta(seconds=30))
    assert (heard(), states()) == ([], ["waiting"])
    announce(now=ends + timedelta(minutes=1))
    assert (heard(), states()) == ([DESK], ["sent"])

    settings.APPROVAL_HOURS = 1
    confirm(held, external_user_id=office.user_id)
    waiting(office)
    announce(now=now + timedelta(minutes=1))
    assert heard() == [DESK, DESK]


def at(moment: datetime) -> time:
    return moment.time().replace(second=0, microsecond=0)


def test_one_that_was_decided_in_the_quiet_hours_is_not_sent_after_them(office: Office) -> None:
    now = timezone.now()
    ends = now + timedelta(hours=2)
    add(office, DESK, quiet_from=at(now - timedelta(hours=1)), quiet_until=at(ends))
    [row] = waiting(office)
    announce(now=now + timedelta(seconds=30))
    confirm(row, external_user_id=office.user_id)
    announce(now=ends + timedelta(minutes=1))

    assert (heard(), states()) == ([], ["called_off"])


def test_a_process_that_died_leaves_it_uncertain_and_it_is_not_sent_again(
    office: Office, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(office, receiver.url, "slack")
    waiting(office)
    real = news.CHANNELS[ApprovalRecipient.Kind.SLACK]

    def die(*given: Any) -> None:
        real(*given)
        raise KeyboardInterrupt

    monkeypatch.setitem(news.CHANNELS, ApprovalRecipient.Kind.SLACK, die)
    with pytest.raises(KeyboardInterrupt):
        announce(now=timezone.now())
    monkeypatch.undo()
    announce(now=timezone.now())
    assert states() == ["sending"]
    announce(now=timezone.now() + news.LEASE + timedelta(seconds=1))

    assert (len(receiver.taken), states()) == (1, ["uncertain"])


def test_one_that_asks_to_wait_is_tried_again_then(office: Office, receiver: Receiver) -> None:
    row = add(office, receiver.url, "slack")
    waiting(office)
    receiver.status, receiver.headers = 429, {"Retry-After": "600"}
    now = timezone.now()
    announce(now=now)
    row.refresh_from_db()
    assert (states(), row.problem) == (
        ["waiting"],
        "The other side asked Remit to wait. It is tried again.",
    )
    receiver.status = 200
    announce(now=now + timedelta(seconds=599))
    assert len(receiver.taken) == 1
    announce(now=now + timedelta(seconds=601))
    row.refresh_from_db()
    assert (len(receiver.taken), states(), row.problem) == (2, ["sent"], "")


@pytest.mark.parametrize("status", [404, 410, 403])
def test_an_address_that_is_gone_is_said_and_gets_no_more(
    office: Office, receiver: Receiver, status: int
) -> None:
    row = add(office, receiver.url, "teams")
    waiting(office)
    receiver.status = status
    announce(now=timezone.now())
    waiting(office)
    announce(now=timezone.now())

    row.refresh_from_db()
    assert (len(receiver.taken), states()) == (1, ["failed"])
    assert row.stopped_at is not None
    assert row.problem.startswith("The address takes no messages any more")

    receiver.status = 200
    recipients.save(row, address=receiver.url, by="operator:olga")
    announce(now=timezone.now())
    assert (len(receiver.taken), states()) == (2, ["failed", "sent"])


def test_a_redirect_is_not_followed_and_no_answer_is_uncertain(
    office: Office, receiver: Receiver
) -> None:
    add(office, receiver.url, "slack")
    waiting(office)
    receiver.status, receiver.headers = 302, {"Location": receiver.url}
    announce(now=timezone.now())
    assert (len(receiver.taken), states()) == (1, ["failed"])

    receiver.hangs_up = True
    waiting(office)
    announce(now=timezone.now())
    announce(now=timezone.now() + timedelta(hours=1))
    assert (len(receiver.taken), states()) == (2, ["failed", "uncertain"])


def test_an_address_inside_our_network_gets_nothing(
    office: Office, receiver: Receiver, settings: Any
) -> None:
    row = add(office, receiver.url.replace("127.0.0.1", "localhost"), "slack")
    waiting(office)
    settings.OUTGOING_TO_PRIVATE = False
    announce(now=timezone.now())

    row.refresh_from_db()
    assert (receiver.taken, states()) == ([], ["failed"])
    assert row.problem == "The address leads to where nothing is sent: it is not public."
