"""What happened in a mailbox on a real JMAP server, seen once each."""

from datetime import timedelta

import pytest
from django.utils import timezone

from integrations.accounts import arrivals
from integrations.models import Delivery, MailState
from tests.cyrus_world import needs_cyrus
from tests.integrations.providers.jmap.box import Box, mail

pytestmark = [needs_cyrus, pytest.mark.django_db]


def look(box: Box) -> list[tuple[str, str]]:
    """Kinds and subjects of what is new."""
    before = set(Delivery.objects.values_list("pk", flat=True))
    arrivals.look(box.account.id, enqueue=lambda _: None)
    new = Delivery.objects.exclude(pk__in=before).order_by("received_at", "pk")
    return [(one.kind, (one.body.get("data") or {}).get("subject", "")) for one in new]


def test_what_was_there_is_no_news_and_what_comes_is_seen_once(box: Box) -> None:
    box.deliver("Old")
    assert look(box) == []

    box.deliver("New")
    assert look(box) == [("created", "New")]
    assert look(box) == []

    (id,) = (one.id for one in box.page().items if one.subject == "Old")
    box.writer.change_labels(id, add=["Client"], remove=[], key="1")
    assert look(box) == [("updated", "Old")]
    with box.world.client(box.address) as client:
        client.select_folder("INBOX")
        client.delete_messages(client.search())
        client.expunge()
    assert sorted(look(box)) == [("deleted", ""), ("deleted", "")]


def test_drafts_are_no_news_and_what_somebody_takes_out_of_the_junk_is(box: Box) -> None:
    look(box)
    earlier = timezone.now() - timedelta(minutes=1)
    MailState.objects.filter(account_id=box.account.id).update(begun_at=earlier)
    box.writer.create_draft(mail(), key="1")
    box.deliver("Wrongly sorted")
    with box.world.client(box.address) as client:
        client.select_folder("INBOX")
        client.move(client.search(), "Junk")
    assert look(box) == []

    with box.world.client(box.address) as client:
        client.select_folder("Junk")
        client.move(client.search(), "INBOX")
    assert look(box) == [("created", "Wrongly sorted")]


def test_a_state_that_the_server_has_lost_costs_no_mail_and_no_second_turn(box: Box) -> None:
    look(box)
    box.deliver("Seen")
    assert look(box) == [("created", "Seen")]
    box.deliver("Not yet seen")
    MailState.objects.filter(account_id=box.account.id).update(state="lost")

    assert look(box) == [("created", "Not yet seen")]
    assert look(box) == []
