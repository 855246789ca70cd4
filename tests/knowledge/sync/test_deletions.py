from typing import Any

import pytest
from django.utils import timezone

from integrations.contracts import Change, Page
from integrations.exceptions import Malformed, Unavailable
from knowledge.models import Item
from tests.knowledge.mailboxes import Mailbox, advance, counts, started
from tests.knowledge.office import account
from tests.model_server import ScriptedModel

pytestmark = pytest.mark.django_db(transaction=True)


def removal(number: int) -> Change:
    """An entry of the history that says that this mail was deleted."""
    return Change(
        id=str(number),
        kind="email",
        change="deleted",
        object_id=f"m{number}",
        by="other",
        key=None,
        at=timezone.now(),
    )


def test_what_was_removed_since_the_last_sync_is_forgotten(
    mailbox: Mailbox, model: ScriptedModel
) -> None:
    owner = account()
    advance(started(owner))
    mailbox.removed = (removal(1), removal(77), removal(3))
    mailbox.mails = [mail for mail in mailbox.mails if mail.id not in ("m1", "m3")]
    again = started(owner)

    advance(again)

    assert again.state == "done"
    assert counts(again) == (5, 2, 3, 0)
    kept = Item.objects.filter(deleted_at=None).order_by("source_id")
    assert list(kept.values_list("source_id", flat=True)) == ["m0", "m2", "m4"]


def test_an_empty_list_or_a_wrong_history_takes_nothing_away(
    mailbox: Mailbox, model: ScriptedModel
) -> None:
    """The history says that all is gone, and the list is empty; but each answers when asked."""
    owner = account()
    advance(started(owner))
    mails, mailbox.removed = mailbox.mails, tuple(removal(number) for number in range(5))
    again = started(owner)
    mailbox.items_in_window = lambda **_: Page(items=(), next_cursor=None)  # type: ignore[method-assign]

    advance(again)

    assert again.state == "done"
    assert counts(again) == (0, 0, 0, 0)
    assert Item.objects.filter(deleted_at=None).count() == len(mails)


@pytest.mark.parametrize(
    ("error", "state"), [(Malformed("odd"), "done"), (Unavailable("away"), "running")]
)
def test_a_history_that_cannot_be_read_loses_nothing(
    mailbox: Mailbox,
    model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    state: str,
) -> None:
    def broken(**_: Any) -> Page[Change]:
        raise error

    owner = account()
    advance(started(owner))
    monkeypatch.setattr(mailbox, "history", broken)
    again = started(owner)

    advance(again)

    assert again.state == state
    assert Item.objects.filter(deleted_at=None).count() == 5


def test_a_first_sync_asks_for_no_history(mailbox: Mailbox, model: ScriptedModel) -> None:
    mailbox.removed = (removal(1),)
    mailbox.mails = mailbox.mails[:1]

    advance(started(account()))

    assert not Item.objects.filter(source_id="m1").exists()
