"""Who may write a turn: one process at a time, for as long as it lives."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connections, transaction
from django.utils import timezone

from agents.journal import journal, leases
from agents.models import Message, Step, ToolCall, Turn
from agents.turns import turns
from integrations.database import clock
from integrations.models import Organisation
from tests.agents.waiting import ORCHESTRATOR, turn_of
from tests.clocks import HOUR, clock_off
from tests.knowledge.office import account
from tests.model_server import scripted_model
from tests.office import until

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
PAST = timezone.now() - timedelta(hours=1)


def lease_of(turn_id: UUID) -> leases.Lease:
    lease = leases.claim(turn_id)
    assert lease is not None
    return lease


def expiry(turn_id: UUID) -> datetime:
    found = Turn.objects.values_list("lease_expires_at", flat=True).get(id=turn_id)
    assert found is not None
    return found


def closing(work: Any) -> Any:
    def inner(*arguments: Any) -> Any:
        try:
            return work(*arguments)
        finally:
            connections.close_all()

    return inner


def test_a_queued_turn_waits_at_once_and_one_of_a_request_once_its_process_died(
    organisation: Organisation,
) -> None:
    queued, own = turn_of(organisation), turn_of(organisation, queued=False)

    assert [lease.turn_id for lease in leases.claim_waiting(9)] == [queued]

    Turn.objects.filter(id=own).update(lease_expires_at=PAST)
    assert [lease.turn_id for lease in leases.claim_waiting(9)] == [own]
    assert leases.claim_waiting(9) == []


def test_a_queued_turn_waits_at_once_also_where_its_process_is_ahead(
    organisation: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = clock.now
    with monkeypatch.context() as ahead:
        ahead.setattr(clock, "now", lambda: now() + timedelta(seconds=5))
        queued = turn_of(organisation)
        [lease] = leases.claim_waiting(9)
        assert lease.turn_id == queued
        assert leases.hand_back([lease]) == 1

    assert [lease.turn_id for lease in leases.claim_waiting(9)] == [queued]


def test_an_item_has_one_turn_which_another_delivery_of_it_does_not_disturb() -> None:
    owner = account()
    fields = {
        "organisation_id": owner.organisation_id,
        "external_user_id": "maya",
        "account_id": owner.id,
        "item_source_id": "m1",
        "kind": Turn.Kind.INBOUND,
        "principal": 'a "webhook"',
    }

    with transaction.atomic():
        lease = leases.open_claimed(**fields)
        assert leases.open_claimed(**fields) is None

    turn = Turn.objects.get()
    assert lease == leases.Lease(turn_id=turn.id, owner=turn.lease_owner or uuid4(), is_new=True)
    assert (turn.state, turn.attempts, turn.principal) == ("running", 1, 'a "webhook"')
    assert (turn.actions, turn.conversation, turn.language) == ([], None, "en")
    assert turn.created_at < expiry(turn.id)


def test_in_a_rush_those_that_wait_longest_and_the_newest_are_taken(
    organisation: Organisation,
) -> None:
    ids = [turn_of(organisation) for _ in range(5)]

    taken = leases.claim_waiting(3)
    assert {lease.turn_id for lease in taken} == {ids[0], ids[1], ids[4]}
    assert set(Turn.objects.values_list("state", "attempts")) == {("running", 1), ("queued", 0)}
    assert {lease.turn_id for lease in leases.claim_waiting(3)} == {ids[2], ids[3]}


def test_the_turn_of_a_mail_is_taken_by_its_delivery_alone(organisation: Organisation) -> None:
    Turn.objects.create(
        organisation=organisation, external_user_id="maya", kind="inbound", lease_expires_at=PAST
    )
    assert leases.claim_waiting(9) == []


def test_processes_side_by_side_never_take_the_same_turn(organisation: Organisation) -> None:
    expected = {turn_of(organisation) for _ in range(40)}

    @closing
    def take(_: int) -> list[UUID]:
        taken: list[UUID] = []
        while some := leases.claim_waiting(3):
            taken += [lease.turn_id for lease in some]
        return taken

    with ThreadPoolExecutor(4) as pool:
        taken = [id for some in pool.map(take, range(4)) for id in some]

    assert len(taken) == 40
    assert set(taken) == expected


def test_a_lease_outlives_a_slow_model(organisation: Organisation, settings: Any) -> None:
    settings.TURN_LEASE_SECONDS = 0.6
    turn_id, go_on = turn_of(organisation), threading.Event()

    def slow(_: dict[str, Any]) -> str:
        go_on.wait()
        return "At last."

    with scripted_model(settings, {ORCHESTRATOR: slow}) as model, ThreadPoolExecutor(1) as pool:
        try:
            done: Future[bool] = pool.submit(closing(turns.run_turn), turn_id)
            until(model.chats)
            first = expiry(turn_id)
            until(lambda: expiry(turn_id) > first + timedelta(seconds=0.6))
        finally:
            go_on.set()
        assert done.result()

    assert Turn.objects.values_list("state", "attempts").get(id=turn_id) == ("finished", 1)


def test_a_turn_that_was_taken_over_is_neither_renewed_nor_written(
    organisation: Organisation, settings: Any
) -> None:
    settings.TURN_LEASE_SECONDS = 0.3
    turn_id, other, go_on = turn_of(organisation), turn_of(organisation), threading.Event()
    thief, until_when = uuid4(), timezone.now() + timedelta(hours=1)

    def slow(_: dict[str, Any]) -> str:
        Turn.objects.filter(id=turn_id).update(lease_owner=thief, lease_expires_at=until_when)
        connections.close_all()
        go_on.wait()
        return "Too late."

    with scripted_model(settings, {ORCHESTRATOR: slow}) as model, ThreadPoolExecutor(1) as pool:
        try:
            done: Future[bool] = pool.submit(closing(turns.run_turn), turn_id)
            until(model.chats)
            with leases.HEARTBEAT.keep(lease_of(other)):
                first = expiry(other)
                until(lambda: expiry(other) > first)  # a beat has passed
                first = expiry(other)
                until(lambda: expiry(other) > first)
        finally:
            go_on.set()
        assert done.result() is False

    turn = Turn.objects.get(id=turn_id)
    assert (turn.state, turn.lease_owner, turn.lease_expires_at) == ("running", thief, until_when)
    assert not Step.objects.exists()
    assert not Message.objects.filter(role="assistant").exists()


@pytest.mark.parametrize(("left", "is_renewed"), [(41, False), (39, True), (-1, True)])
def test_what_is_written_renews_a_lease_of_which_less_than_two_thirds_are_left(
    organisation: Organisation, settings: Any, left: int, is_renewed: bool
) -> None:
    settings.TURN_LEASE_SECONDS = 60
    lease = lease_of(turn_of(organisation))
    until_when = timezone.now() + timedelta(seconds=left)
    Turn.objects.filter(id=lease.turn_id).update(lease_expires_at=until_when)
    with lease.held():
        pass
    assert (expiry(lease.turn_id) > until_when) is is_renewed

    Turn.objects.filter(id=lease.turn_id).update(lease_expires_at=until_when)
    journal.emit(lease, "text", {})
    assert (expiry(lease.turn_id) > until_when) is is_renewed


def test_what_hangs_gets_no_heartbeat_for_ever(
    organisation: Organisation, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.TURN_LEASE_SECONDS = 0.3
    hanging, other = lease_of(turn_of(organisation)), lease_of(turn_of(organisation))
    Turn.objects.filter(id=hanging.turn_id).update(lease_expires_at=PAST)
    monkeypatch.setattr(leases, "LONGEST_SECONDS", 0.0)
    with leases.HEARTBEAT.keep(hanging):
        monkeypatch.setattr(leases, "LONGEST_SECONDS", 900.0)
        with leases.HEARTBEAT.keep(other):
            first = expiry(other.turn_id)
            until(lambda: expiry(other.turn_id) > first)

    assert expiry(hanging.turn_id) == PAST


def test_a_turn_that_is_handed_back_is_free_at_once_and_lost_to_who_had_it(
    organisation: Organisation,
) -> None:
    lease = lease_of(turn_of(organisation))

    assert leases.hand_back([lease]) == 1

    assert [taken.turn_id for taken in leases.claim_waiting(9)] == [lease.turn_id]
    with pytest.raises(leases.LeaseLost):
        journal.emit(lease, "text.delta", {"text": "late"})


def test_a_turn_with_an_open_call_is_not_handed_back(organisation: Organisation) -> None:
    lease = lease_of(turn_of(organisation))
    step = Step.objects.create(turn_id=lease.turn_id, agent="a", number=1)
    call = ToolCall.objects.create(turn_id=lease.turn_id, step=step, position=0, name="act")

    assert leases.hand_back([lease]) == 0
    ToolCall.objects.filter(id=call.id).update(result={"success": True})
    assert leases.hand_back([lease]) == 1


def test_a_turn_whose_decisions_are_being_carried_out_is_not_handed_back(
    organisation: Organisation,
) -> None:
    lease = lease_of(turn_of(organisation))
    decision = {"id": str(uuid4()), "decision": "confirmed"}
    Turn.objects.update(decisions=[decision])

    assert leases.hand_back([lease]) == 0
    Turn.objects.update(decisions=[decision | {"status": "succeeded"}])
    assert leases.hand_back([lease]) == 1


def test_nobody_hands_back_what_another_has_taken(organisation: Organisation) -> None:
    lease = lease_of(turn_of(organisation))
    Turn.objects.update(lease_expires_at=PAST)
    [second] = leases.claim_waiting(9)

    assert leases.hand_back([lease]) == 0
    journal.emit(second, "text.delta", {"text": "on time"})


def test_a_clock_that_is_ahead_takes_no_turn_from_who_works_on_it(
    organisation: Organisation,
) -> None:
    id = turn_of(organisation)
    lease_of(id)

    with clock_off(HOUR):
        assert leases.claim(id) is None
        assert leases.claim_waiting(9) == []


@pytest.mark.parametrize("by", [HOUR, -HOUR])
def test_what_a_process_with_a_wrong_clock_takes_it_holds_no_longer_and_no_shorter(
    organisation: Organisation, settings: Any, by: timedelta
) -> None:
    id = turn_of(organisation)
    longest = timedelta(seconds=settings.TURN_LEASE_SECONDS)
    before = timezone.now()

    with clock_off(by):
        lease_of(id)

    assert before + longest <= expiry(id) <= timezone.now() + longest + timedelta(seconds=5)


def test_a_clock_that_went_back_takes_no_turn_from_who_works_on_it(
    organisation: Organisation,
) -> None:
    id = turn_of(organisation)
    lease_of(id)

    with clock_off(-HOUR):
        assert leases.claim(id) is None
        assert leases.claim_waiting(9) == []
