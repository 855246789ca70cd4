"""One root over all ledgers: each leads to it alone, and its bundle carries the way."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from django.db import connections

from audit.models import Anchor, AppendOnly
from audit.seals import anchors, merkle, progress
from tests.audit import sealed, stamped
from tests.audit.entries import append_action
from tests.tsa import Authority, running_authority

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Authority]:
    with running_authority(tmp_path_factory.mktemp("anchors") / "tsa") as running:
        yield running


def test_every_ledger_leads_to_the_root_from_its_newest_checkpoint() -> None:
    tenants = [uuid4() for _ in range(3)]
    for tenant_id in tenants:
        append_action(tenant_id=tenant_id)
        sealed.seal(tenant_id)
    made = stamped.anchor()
    append_action(tenant_id=tenants[0])
    sealed.seal(tenants[0])
    assert anchors.find_newest() == made
    for tenant_id in tenants:
        found = anchors.find_stamped(made, tenant_id)
        assert found is not None
        assert found.checkpoint.size == 2
        assert merkle.is_included(
            leaf=anchors.hash_note(found.checkpoint.note),
            index=found.place,
            size=found.size,
            proof=found.proof,
            root=bytes(made.root),
        )
    assert anchors.find_stamped(made, uuid4()) is None


def test_a_ledger_that_began_later_is_not_under_an_earlier_root() -> None:
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id)
    sealed.seal(tenant_id)
    made, later = stamped.anchor(), uuid4()
    append_action(tenant_id=later)
    sealed.seal(later)
    assert anchors.find_stamped(made, later) is None
    assert anchors.find_stamped(made, tenant_id) is not None


def test_a_bundle_takes_what_is_stamped_and_within_it(authority: Authority) -> None:
    tenant_id, sizes = uuid4(), []
    for is_stamped in (True, False, True, True):
        append_action(tenant_id=tenant_id)
        sealed.seal(tenant_id)
        made = stamped.anchor()
        if is_stamped:
            stamped.time_stamp(made, authority)
            newest = progress.find_newest_checkpoint(tenant_id)
            assert newest
            sizes.append(newest.size)
    stamped.time_stamp(stamped.anchor(), authority)  # a quiet hour: nothing new is proven by it
    assert sizes == [2, 6, 8]

    def within(above: int, upto: int) -> list[int]:
        found = anchors.list_stamped(tenant_id, above=above, upto=upto)
        return [one.checkpoint.size for one in found]

    assert within(0, 8) == [2, 6, 8]
    assert within(0, 7) == [2, 6]
    assert within(2, 8) == [6, 8]
    assert within(8, 8) == []
    assert list(anchors.list_stamped(uuid4(), above=0, upto=9)) == []


def test_of_many_some_are_taken_and_the_last_one_always(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(anchors, "CHOSEN", 2)
    tenant_id = uuid4()
    for _ in range(5):
        append_action(tenant_id=tenant_id)
        sealed.seal(tenant_id)
        stamped.time_stamp(stamped.anchor(), authority)
    found = [one.checkpoint.size for one in anchors.list_stamped(tenant_id, above=0, upto=10)]
    assert found == [4, 10]


@pytest.mark.parametrize("table", ["audit_anchor", "audit_anchor_token"])
@pytest.mark.parametrize("change", ["UPDATE {} SET id = DEFAULT", "DELETE FROM {}", "TRUNCATE {}"])
def test_anchors_are_never_changed(authority: Authority, table: str, change: str) -> None:
    tenant_id = uuid4()
    append_action(tenant_id=tenant_id)
    sealed.seal(tenant_id)
    stamped.time_stamp(stamped.anchor(), authority)
    with (
        pytest.raises(Exception, match=r"The ledger only inserts|cannot truncate a table"),
        connections["ledger"].cursor() as cursor,
    ):
        cursor.execute(change.format(table))
    with pytest.raises(AppendOnly):
        Anchor.objects.create()
