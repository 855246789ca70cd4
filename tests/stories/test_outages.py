"""What Remit asks goes away for hours and comes back: nothing is lost, nothing is done twice."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection, connections
from django.utils import timezone
from psycopg import sql

from agents import tasks
from agents.inbound import inbound, items, reactions
from agents.models import Turn
from agents.office.dead_letters import queue_again
from benchmarks.outage import pass_time
from integrations.child import Child
from integrations.exceptions import SignInNeeded
from integrations.llm import llm
from integrations.models import Delivery, Outage
from knowledge.ingest import reading
from tests import database
from tests.model_server import Failure, Garbage, Hang, Reply
from tests.office import Office
from tests.stories.steps import scripted

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
READER = "You are Remit's mail reader."
INGEST = "You summarise an item and list its entities."
SUMMARY: Reply = {"summary": "A mail.", "entities": []}
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def one_at_a_time(settings: Any) -> None:
    settings.DELIVERY_THREADS, settings.DATA_SERVICE_ATTEMPTS = 1, 1


def later(by: timedelta) -> None:
    """Let this time pass, and the sweep run."""
    pass_time(by)
    tasks.sweep()


def until_tried_again(office: Office) -> timedelta:
    """Let time pass until the next try; how much."""
    outage = Outage.objects.get()
    pause = max(outage.due_at - timezone.now(), timedelta())
    later(pause + timedelta(seconds=1))
    office.drain()
    return pause


def arrive(office: Office, count: int) -> list[str]:
    ids = [str(office.deliver("fyi")["id"]) for _ in range(count)]
    assert Delivery.objects.count() == count
    return ids


def handled() -> list[str]:
    """Mails whose turn is over, in that order."""
    done = Turn.objects.filter(state="finished").order_by("finished_at")
    return list(done.values_list("item_source_id", flat=True))


def states() -> dict[str, int]:
    found = Delivery.objects.filter(kind="created").values_list("state", flat=True)
    return {state: list(found).count(state) for state in found}


@contextmanager
def refusing(office: Office, settings: Any) -> Iterator[None]:
    """The data service's port is closed."""
    before, settings.DATA_SERVICES = settings.DATA_SERVICES, {"default": "http://127.0.0.1:9/v1"}
    try:
        yield
    finally:
        settings.DATA_SERVICES = before


@contextmanager
def failing(office: Office, settings: Any) -> Iterator[None]:
    """The data service answers 500."""
    office.control("PUT", "/faults", json={"error_rate": 1})
    try:
        yield
    finally:
        office.control("PUT", "/faults", json={})


@pytest.mark.parametrize(("away", "mails"), [(refusing, 4), (failing, 20)])
def test_mail_waits_for_a_data_service_behind_one_probe_and_goes_on_by_itself_in_order(
    office: Office, settings: Any, away: Any, mails: int
) -> None:
    ids, waited = arrive(office, mails), timedelta()
    tries: list[int] = []
    with away(office, settings):
        office.drain()
        while len(tries) < 7:
            before = sum(Delivery.objects.values_list("attempts", flat=True))
            pause = until_tried_again(office)
            waited += pause
            tries.append(sum(Delivery.objects.values_list("attempts", flat=True)) - before)
        later(DAY - waited - timedelta(hours=1))
        office.drain()
        assert states() == {"queued": mails}
        assert handled() == []
    assert max(tries) <= 2  # every fifth time another mail is tried too
    until_tried_again(office)
    later(timedelta(minutes=1))
    office.drain()

    assert handled() == ids
    assert states() == {"processed": mails}
    assert Turn.objects.count() == mails
    assert len({call["path"] for call in office.calls()}) == len(office.calls()) == mails
    assert not Outage.objects.exists()


@pytest.mark.parametrize("reply", [Failure(500), Failure(401), Garbage()])
def test_mail_waits_for_a_model_that_fails_or_talks_nonsense(office: Office, reply: Reply) -> None:
    ids = arrive(office, 3)
    with scripted({INGEST: lambda _: reply}) as model:
        office.drain()
        for _ in range(6):
            until_tried_again(office)
        asked = len(model.chats())
    assert asked <= 12
    assert states() == {"queued": 3}
    llm.forget_clients()
    until_tried_again(office)
    later(timedelta(minutes=1))
    office.drain()

    assert handled() == ids
    assert states() == {"processed": 3}
    assert Turn.objects.count() == 3


def test_a_model_that_fails_in_the_middle_of_a_turn_is_waited_for_and_nothing_is_done_twice(
    office: Office,
) -> None:
    ids = arrive(office, 2)
    with scripted({INGEST: lambda _: SUMMARY, READER: lambda _: Garbage()}):
        office.drain()
        for _ in range(6):
            until_tried_again(office)
    llm.forget_clients()
    assert (handled(), states()) == ([], {"queued": 2})
    until_tried_again(office)
    later(timedelta(minutes=1))
    office.drain()

    assert handled() == ids
    assert len(office.calls()) == 2


def test_a_mail_whose_model_hangs_waits_instead_of_being_taken_for_done(
    office: Office, settings: Any
) -> None:
    settings.TURN_MAX_SECONDS = 1.0
    ids = arrive(office, 1)
    with scripted({INGEST: lambda _: SUMMARY, READER: lambda _: Hang()}):
        office.drain()
        delivery = Delivery.objects.get()
        assert (delivery.state, delivery.reason) == ("queued", "out_of_time")
        assert Turn.objects.get().state == "queued"
    settings.TURN_MAX_SECONDS = 60.0
    llm.forget_clients()
    until_tried_again(office)

    assert handled() == ids


@pytest.mark.parametrize("comes_back", [True, False])
def test_a_database_that_goes_away_loses_no_mail_and_asks_for_no_hand(
    office: Office, comes_back: bool
) -> None:
    ids, sessions = arrive(office, 3), list[int]()

    def answer(_: Any) -> Reply:
        if sessions:
            end_session(sessions.pop(), let_new_ones=comes_back)
        return SUMMARY

    with scripted({INGEST: answer, READER: lambda _: "Nothing to do."}):
        with database.unpooled():
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                sessions.append(cursor.fetchone()[0])
            with nullcontext() if comes_back else pytest.raises(OperationalError):
                reactions.react(Delivery.objects.earliest("received_at").id)
        end_session(0, let_new_ones=True)
        assert states() == ({"queued": 3} if comes_back else {"running": 1, "queued": 2})
        later(timedelta(minutes=2))
        office.drain()

    assert sorted(handled()) == sorted(ids)
    assert states() == {"processed": 3}


def end_session(pid: int, *, let_new_ones: bool) -> None:
    """As a database does that stops, and maybe is started at once."""
    name = sql.Identifier(connections["default"].settings_dict["NAME"])
    allow = sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}")
    with psycopg.connect(**database.parameters("postgres")) as session:
        session.execute(allow.format(name, sql.Literal(let_new_ones)))
        session.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s", [pid]
        )


def test_one_mail_that_never_succeeds_holds_up_no_other_and_is_dead_in_the_end(
    office: Office,
) -> None:
    ids = arrive(office, 4)
    poison = ids[0]
    bodies = dict(Delivery.objects.values_list("source_id", "body"))
    bodies[poison]["data"]["subject"] = "Poison"
    Delivery.objects.filter(source_id=poison).update(body=bodies[poison])

    def answer(body: dict[str, Any]) -> Reply:
        return Garbage() if "Poison" in str(body["messages"]) else SUMMARY

    with scripted({INGEST: answer, READER: lambda _: "Nothing to do."}):
        office.drain()
        while Outage.objects.exists():
            until_tried_again(office)
        later(timedelta(minutes=1))
        office.drain()
        assert sorted(handled()) == sorted(ids[1:])
        assert states() == {"queued": 1, "processed": 3}
        late = arrive_one(office)
        later(timedelta(minutes=10))
        office.drain()
        assert not Outage.objects.exists()
        assert late in handled()
        later(DAY)
        office.drain()

    dead = Delivery.objects.get(state="dead")
    assert (dead.source_id, dead.reason) == (poison, "unusable_answer")
    assert queue_again([dead.id]) == 1
    office.drain()
    assert states() == {"processed": 5}


def arrive_one(office: Office) -> str:
    mail = str(office.deliver("question")["id"])
    office.drain()
    return mail


def test_what_waited_for_a_day_is_dead_with_its_turn_and_what_came_later_waits_on(
    office: Office,
) -> None:
    arrive(office, 3)
    with scripted({INGEST: lambda _: SUMMARY, READER: lambda _: Failure(503)}):
        office.drain()
        later(DAY)
        office.drain()
        office.deliver("fyi")
        later(timedelta(minutes=6))
        office.drain()

    assert states() == {"dead": 3, "queued": 1}
    assert set(Delivery.objects.filter(state="dead").values_list("reason", flat=True)) == {
        "status_503"
    }
    turns = Turn.objects.order_by("created_at").values_list("state", "error_code")
    assert list(turns) == [("failed", "status_503"), ("queued", "")]


def test_what_waits_for_its_user_to_sign_in_waits_as_long_as_that_takes(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrive(office, 2)

    def signed_out(*given: object, **more: object) -> None:
        raise SignInNeeded("its user has to sign in again")

    with monkeypatch.context() as away:
        away.setattr(inbound, "build_context", signed_out)
        for _ in range(3):
            office.drain()
            later(DAY)
    assert states() == {"queued": 2}
    assert Outage.objects.get().code == SignInNeeded.code

    with scripted({INGEST: lambda _: SUMMARY, READER: lambda _: "Nothing to do."}):
        office.drain()
        later(timedelta(minutes=6))
        office.drain()
    assert states() == {"processed": 2}


def test_a_delivery_that_kills_its_worker_again_and_again_is_set_aside(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrive(office, 1)

    def die(*_: Any) -> None:
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(items, "work", die)
        for _ in range(reactions.MAX_STALLS):
            with pytest.raises(SystemExit):
                reactions.react(Delivery.objects.get().id)
            Delivery.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    reactions.react(Delivery.objects.get().id)

    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.reason) == ("dead", "too_many_attempts")


def test_the_lease_of_a_mail_is_renewed_while_it_is_read_in(office: Office, settings: Any) -> None:
    settings.TURN_LEASE_SECONDS = 0.6
    arrive(office, 1)
    taken: list[bool] = []

    def answer(_: Any) -> Reply:
        first = Delivery.objects.get().lease_expires_at
        while Delivery.objects.get().lease_expires_at == first:
            """Another beat is to come."""
        taken.append(reactions.react(Delivery.objects.get().id))
        connection.close()
        return SUMMARY

    with scripted({INGEST: answer, READER: lambda _: "Nothing to do."}):
        assert reactions.react(Delivery.objects.get().id)

    assert taken == [False]
    assert Delivery.objects.get().attempts == 1


def test_a_mail_that_is_never_read_is_set_aside_at_once_and_takes_no_second_worker(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = Child("tests.stubborn_child", seconds=1)
    monkeypatch.setattr(reading, "CHILD", child)
    hanging, other = arrive(office, 2)
    delivery = Delivery.objects.get(source_id=hanging)
    delivery.body["data"]["subject"] = "Hang"
    delivery.save()
    with scripted({INGEST: lambda _: SUMMARY, READER: lambda _: "Nothing to do."}):
        office.drain()
        later(timedelta(hours=1))
        office.drain()
    child.close()

    delivery.refresh_from_db()
    assert (delivery.state, delivery.reason, delivery.attempts) == ("dead", "too_slow", 1)
    assert handled() == [other]
    assert not Outage.objects.exists()
