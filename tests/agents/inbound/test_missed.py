"""Mail whose webhook was lost is taken up when a sync has read it in, and by no way twice."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from agents import tasks
from agents.inbound import intake, missed
from agents.models import Turn
from integrations.accounts import arrivals
from integrations.contracts import AccountRef
from integrations.contracts.events import ItemEvent
from integrations.models import Account, Delivery
from knowledge.models import Item, SyncRun, SyncSource
from knowledge.tasks import start_sync
from tests.guardrails.office import mail_to
from tests.knowledge.office import account as new_account
from tests.office import Office

LATER = timedelta(minutes=5)


def keep(account: AccountRef, *, age: timedelta = timedelta(hours=1), **fields: Any) -> Item:
    """What a sync read in just now, of an account that was connected ten days ago."""
    now = timezone.now()
    run = SyncRun.objects.create(
        organisation_id=account.organisation_id, external_user_id=account.external_user_id
    )
    SyncSource.objects.create(
        run=run,
        account_id=account.id,
        state="done",
        since=now - timedelta(days=40),
        created_at=now - timedelta(days=10),
        finished_at=now - timedelta(days=10),
    )
    values = {
        "content_type": "email",
        "occurred_at": now - age,
        "ingested_at": now,
        "metadata": {"labels": ["INBOX"]},
    }
    values |= {"source": account.source, "source_id": "m1"}
    return Item.objects.create(account_id=account.id, **(values | fields))


def found() -> bool:
    return bool(missed.find(now=timezone.now() + LATER))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fields", "is_missed"),
    [
        ({}, True),
        ({"metadata": {"labels": ["SENT"]}}, False),  # nothing came
        ({"age": timedelta(days=4)}, False),  # nobody waits for an answer any more
        ({"age": -timedelta(days=1)}, False),  # it says that it is of tomorrow
        ({"deleted_at": "2026-03-02T12:00:00Z"}, False),
    ],
)
def test_what_lies_in_the_inbox_and_is_new_was_missed(
    fields: dict[str, Any], is_missed: bool
) -> None:
    keep(new_account(), **fields)
    assert found() is is_missed


@pytest.mark.django_db
def test_an_old_document_that_is_changed_is_no_new_one() -> None:
    drive = new_account(source="gdrive")
    created = timezone.now() - timedelta(days=5)
    document = keep(drive, content_type="document", metadata={"created_at": created.isoformat()})
    assert not found()
    document.metadata = {"created_at": timezone.now().isoformat()}
    document.save()
    assert found()


@pytest.mark.django_db
@pytest.mark.parametrize("how", ["delivery", "turn", "paused"])
def test_what_was_looked_at_or_is_to_be_left_alone_was_not_missed(how: str) -> None:
    account = new_account()
    keep(account)
    assert found()
    whose = {"organisation_id": account.organisation_id, "account_id": account.id}

    if how == "delivery":  # one that was left alone, say
        Delivery.objects.create(
            **whose, webhook_id="w", kind="created", source="gmail", source_id="m1", body={}
        )
    elif how == "turn":  # of a run over past mail
        Turn.objects.create(
            **whose, external_user_id="maya", item_source_id="m1", kind=Turn.Kind.INBOUND
        )
    else:
        Account.objects.filter(id=account.id).update(paused=True)
    assert not found()


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


@pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
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
    intake.accept_delivery("default", "late", event)  # the webhook, after all
    arrivals.store(account, "created", event, enqueue=lambda _: None)  # a look
    sync(office)
    assert tasks.queue_missed(now=now + LATER) == 0
    office.drain()

    assert Turn.objects.get() == turn
    others = Delivery.objects.exclude(pk=turn.delivery.pk).filter(kind="created")
    assert [(one.state, one.reason) for one in others] == [("skipped", "duplicate_item")] * 2
