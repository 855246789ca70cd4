"""What is known of people by address books on real servers."""

import pytest

from integrations.accounts import arrivals, connecting
from integrations.models import Account, AddressBook, ContactCard, Delivery
from knowledge.models import SyncSource
from knowledge.tasks import start_first_sync
from tests.integrations.providers.carddav.box import Box, card

pytestmark = pytest.mark.django_db


def test_what_somebody_does_in_another_program_is_known_once_it_is_looked_at(box: Box) -> None:
    box.put("tom", card("Tom", "EMAIL;TYPE=INTERNET:tom@elsewhere.test"))
    assert box.look() == 1
    assert box.known() == {"tom@elsewhere.test"}
    assert box.look() == 0

    box.put("tom", card("Tom", "EMAIL:ann@elsewhere.test"))
    box.put("priya", card("Priya", "item1.EMAIL:priya@Elsewhere.TEST", version="4.0"))
    assert box.look() == 2
    assert box.known() == {"ann@elsewhere.test", "priya@elsewhere.test"}

    box.delete(f"{box.book}tom.vcf")
    assert box.look() == 0
    assert box.known() == {"priya@elsewhere.test"}


@pytest.mark.parametrize("token", ["", "http://radicale.org/ns/sync/lost", "lost"])
def test_a_token_that_is_lost_loses_no_change(box: Box, token: str) -> None:
    for name in ("tom", "ann"):
        box.put(name, card(name, f"EMAIL:{name}@elsewhere.test"))
    box.look()
    AddressBook.objects.update(token=token)
    box.delete(f"{box.book}ann.vcf")
    box.put("priya", card("Priya", "EMAIL:priya@elsewhere.test"))

    assert box.look() == 1
    assert box.known() == {"tom@elsewhere.test", "priya@elsewhere.test"}


def test_a_book_that_is_gone_takes_its_people_along(box: Box) -> None:
    work = box.make_book("colleagues")
    box.put("tom", card("Tom", "EMAIL:tom@elsewhere.test"), book=work)
    box.put("ann", card("Ann", "EMAIL:ann@elsewhere.test"))
    box.look()
    assert box.known() == {"ann@elsewhere.test", "tom@elsewhere.test"}

    box.delete(work)
    box.look()
    assert box.known() == {"ann@elsewhere.test"}


def test_more_cards_than_are_read_at_once_are_all_known(box: Box) -> None:
    names = [f"p{number}" for number in range(60)]
    for name in names:
        box.put(name, card(name, f"EMAIL:{name}@elsewhere.test"))

    assert box.look() == 60
    assert len(box.known(*(f"{name}@elsewhere.test" for name in names))) == 60


def test_nothing_there_sets_anything_off_and_nothing_is_read_in(box: Box) -> None:
    box.put("tom", card("Tom", "EMAIL:tom@elsewhere.test"))

    assert arrivals.look(box.account.id, enqueue=lambda id: pytest.fail(str(id))) == 0
    start_first_sync(box.account.id)

    assert box.known() == {"tom@elsewhere.test"}
    assert not Delivery.objects.exists()
    assert not SyncSource.objects.exists()


def test_a_book_that_is_paused_or_disconnected_says_nothing(box: Box) -> None:
    box.put("tom", card("Tom", "EMAIL:tom@elsewhere.test"))
    box.look()
    rows = Account.objects.filter(id=box.account.id)
    rows.update(paused=True)
    assert box.known() == set()
    rows.update(paused=False)
    assert box.known() == {"tom@elsewhere.test"}

    connecting.disconnect(box.account)
    assert box.known() == set()
    assert ContactCard.objects.exists()
