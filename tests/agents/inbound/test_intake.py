"""What tells of the assistant's own actions is stored and needs no work."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction

from agents.inbound import claims
from agents.inbound.intake import accept_delivery, let_go
from agents.models import Turn
from integrations.contracts import AccountRef
from integrations.contracts.events import ItemEvent
from integrations.models import Delivery
from knowledge.models import Item
from tests.knowledge.office import NOW, account
from tests.office import until

pytestmark = pytest.mark.django_db
PROCESSED = claims.Finished(Delivery.State.PROCESSED, "")


@pytest.fixture
def owner() -> AccountRef:
    return account()


def take_in(owner: AccountRef, *, kind: str = "updated", version: Any = 3) -> Delivery:
    event = ItemEvent.model_validate(
        {
            "kind": kind,
            "user_id": owner.external_user_id,
            "source": owner.source,
            "source_id": "m1",
            "data": {"id": "m1", "version": version},
            "timestamp": NOW,
        }
    )
    id, new = accept_delivery(owner.organisation_slug, f"w-{uuid4()}", event)
    assert new
    return Delivery.objects.get(id=id)


def store(owner: AccountRef, *, own_since: int | None, version: int) -> None:
    Item.objects.create(
        account_id=owner.id,
        source=owner.source,
        source_id="m1",
        content_type="email",
        occurred_at=NOW,
        ingested_at=NOW,
        source_version=version,
        own_since=own_since,
    )


def begin_turn(owner: AccountRef) -> Turn:
    return Turn.objects.create(
        organisation_id=owner.organisation_id,
        external_user_id=owner.external_user_id,
        account_id=owner.id,
        item_source_id="m1",
        kind=Turn.Kind.INBOUND,
        state=Turn.State.RUNNING,
        principal="webhook",
    )


def how(delivery: Delivery) -> tuple[str, str, bool]:
    """State, reason, and whether it has ended."""
    delivery.refresh_from_db()
    return delivery.state, delivery.reason, delivery.finished_at is not None


@pytest.mark.parametrize("version", [2, 3])
def test_word_of_an_own_action_that_is_stored_is_skipped_in_one_statement(
    owner: AccountRef, version: int
) -> None:
    store(owner, own_since=2, version=3)

    delivery = take_in(owner, version=version)

    assert how(delivery) == ("skipped", "own_action", True)


@pytest.mark.parametrize(
    ("own_since", "kind", "version"),
    [
        (None, "updated", 3),  # somebody else made it
        (2, "updated", 1),
        (2, "updated", 4),
        (2, "created", 3),
        (2, "updated", None),
        (2, "updated", "3"),
        (2, "updated", 10**30),
    ],
)
def test_what_may_be_anybodys_is_queued(
    owner: AccountRef, own_since: int | None, kind: str, version: Any
) -> None:
    store(owner, own_since=own_since, version=3)

    delivery = take_in(owner, kind=kind, version=version)

    assert how(delivery) == ("queued", "", False)
    assert list(Delivery.objects.waiting()) == [delivery]


def test_what_comes_while_the_mails_turn_is_at_work_waits_for_its_end(owner: AccountRef) -> None:
    begin_turn(owner)
    early = [take_in(owner, version=number) for number in (2, 3, 4)]
    odd = [take_in(owner, version=version) for version in ("3", None, [3], 10**30)]
    assert {how(one) for one in (*early, *odd)} == {("queued", "turn_at_work", False)}
    assert not Delivery.objects.waiting().exists()
    store(owner, own_since=2, version=3)

    let_go(owner.id, "m1")

    assert [how(one) for one in early] == [
        ("skipped", "own_action", True),
        ("skipped", "own_action", True),
        ("queued", "", False),
    ]
    assert {how(one) for one in odd} == {("queued", "", False)}


@pytest.mark.django_db(transaction=True)
def test_what_comes_while_the_end_of_a_turn_is_being_committed_waits_for_nothing(
    owner: AccountRef,
) -> None:
    turn = begin_turn(owner)

    def take_in_beside() -> Delivery:
        try:
            return take_in(owner)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Turn.objects.filter(id=turn.id).update(state=Turn.State.FINISHED)
            let_go(owner.id, "m1")
            coming = pool.submit(take_in_beside)
            until(lambda: coming.done() or count_waiting() == 1)
        delivery = coming.result()

    assert how(delivery) == ("queued", "", False)


def count_waiting() -> int:
    """How many statements wait for a lock of this transaction."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE NOT granted"
            " AND pg_backend_pid() = ANY (pg_blocking_pids(pid))"
        )
        [count] = cursor.fetchone()
    return int(count)


def test_a_delivery_that_ends_lets_go_what_waits_for_its_mail_once_no_turn_is_at_work(
    owner: AccountRef,
) -> None:
    other = take_in(owner)
    turn = begin_turn(owner)
    waits = take_in(owner, version=2)
    store(owner, own_since=2, version=3)
    [claimed] = claims.claim_queued(8, large=True)

    claims.finish(claimed, PROCESSED)
    assert how(other) == ("processed", "", True)
    assert how(waits) == ("queued", "turn_at_work", False)

    last = take_in(owner, kind="created")
    [claimed] = claims.claim_queued(8, large=True)
    Turn.objects.filter(id=turn.id).update(state=Turn.State.FINISHED)
    claims.finish(replace(claimed, attempts=9), PROCESSED)  # lost its lease
    assert (how(last)[0], how(waits)[0]) == ("running", "queued")

    claims.finish(claimed, PROCESSED)
    assert (how(last)[0], how(waits)) == ("processed", ("skipped", "own_action", True))


def test_of_another_mail_or_account_nothing_is_let_go(owner: AccountRef) -> None:
    begin_turn(owner)
    delivery = take_in(owner)

    let_go(owner.id, "m2")
    let_go(account().id, "m1")

    assert how(delivery) == ("queued", "turn_at_work", False)


def test_intake_is_one_statement(owner: AccountRef, django_assert_num_queries: Any) -> None:
    event = ItemEvent(
        kind="deleted",
        user_id=owner.external_user_id,
        source=owner.source,
        source_id="m1",
        data=None,
        timestamp=NOW,
    )
    with django_assert_num_queries(1):
        id, _ = accept_delivery(owner.organisation_slug, "w1", event)

    assert isinstance(id, UUID)
    assert accept_delivery(owner.organisation_slug, "w1", event) == (id, False)
