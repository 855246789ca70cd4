"""Mail whose webhook was lost is taken up when a sync has read it in, and by no way twice."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from agents import tasks
from agents.inbound import missed
from agents.models import Turn
from integrations.accounts import arrivals
from integrations.contracts.events import ItemEvent
from integrations.models import Delivery
from knowledge.models import Item
from knowledge.tasks import start_sync
from tests.guardrails.office import mail_to
from tests.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
LATER = timedelta(minutes=5)


def lose(office: Office, subject: str, *, sent: datetime) -> str:
    """A mail that comes in without a word; its id."""
    mail = mail_to("maya@company.com", subject=subject, date=sent.isoformat())
    office.control("POST", "/users/maya/emails", json={"items": [mail], "notify": False})
    return str(mail["id"])


def sync(office: Office) -> None:
    account = office.account("maya", "gmail")
    start_sync(
        organisation_id=account.organisation_id,
        external_user_id="maya",
        sources=["gmail"],
        only_changes=True,
    )
    office.drain()


def test_a_mail_is_handled_once_by_whatever_ways_word_of_it_comes(office: Office) -> None:
    office.sync("gmail", copied=False)
    now = timezone.now()
    assert missed.find(now=now + LATER) == {}  # what was there before is past mail
    lost = lose(office, "Quarterly figures", sent=now)
    old = lose(office, "Found in a drawer", sent=now - timedelta(days=400))
    sync(office)
    assert Item.objects.filter(source_id__in=[lost, old]).count() == 2
    account = office.account("maya", "gmail")

    assert missed.find(now=now) == {}  # its webhook may be on the way
    assert missed.find(now=now + LATER) == {account.id: [lost]}
    assert tasks.queue_missed(now=now + LATER) == 1
    assert tasks.queue_missed(now=now + LATER) == 1  # before the first is worked off
    office.drain()

    turn = Turn.objects.get()
    assert (turn.item_source_id, turn.state) == (lost, "finished")
    assert turn.delivery is not None
    assert turn.delivery.state == "processed"
    event = ItemEvent.model_validate(turn.delivery.body)
    tasks.accept_delivery("default", "late", event)  # the webhook, after all
    arrivals.store(account, "created", event, enqueue=tasks.queue_delivery)  # a look
    sync(office)
    assert tasks.queue_missed(now=now + LATER) == 0
    office.drain()

    assert Turn.objects.get() == turn
    others = Delivery.objects.exclude(pk=turn.delivery.pk).filter(kind="created")
    assert [(one.state, one.reason) for one in others] == [("skipped", "duplicate_item")] * 2
