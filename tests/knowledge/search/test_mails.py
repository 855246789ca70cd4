"""Which stored mails are those that others sent."""

import pytest

from knowledge.models import Item
from knowledge.search import mails
from tests.knowledge.office import NOW, account

pytestmark = pytest.mark.django_db


def test_what_the_user_wrote_also_to_themself_and_what_was_thrown_away_is_not_received() -> None:
    mailbox = account()
    for name, sender, label in (
        ("theirs", "john@company.com", "INBOX"),
        ("note", mailbox.address, "INBOX"),
        ("sent", "another@company.com", "SENT"),
        ("draft", "another@company.com", "DRAFT"),
        ("trash", "john@company.com", "TRASH"),
        ("spam", "john@company.com", "SPAM"),
    ):
        Item.objects.create(
            account_id=mailbox.id,
            source="gmail",
            source_id=name,
            content_type="email",
            sender_address=sender,
            metadata={"labels": [label]},
            occurred_at=NOW,
            ingested_at=NOW,
        )

    found = mails.list_received(mailbox.id, own_address=mailbox.address.title(), limit=9)

    assert [one.source_id for one in found] == ["theirs"]
