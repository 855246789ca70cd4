import threading
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, connections, transaction

from audit.contracts import Artifact
from audit.ledger import chain, ledger, prepared, selectors
from audit.ledger.ids import uuid7
from audit.models import SUPPLIED, ActionArtifact, ExecutedAgentAction
from tests.audit.entries import DRAFT, entry
from tests.database import unpooled

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def test_an_appended_entry_is_read_back_whole() -> None:
    wanted = entry(
        phase="outcome",
        status="succeeded",
        account_id=uuid4(),
        actor_id="maya",
        run_id="turn-1",
        resource_id="mail-1",
        target_id="label-1",
        decision_reason="allowed",
        latency_ms=12,
        artifacts=(DRAFT, replace(DRAFT, external_id="draft-2", url="")),
    )
    row_id = ledger.append(wanted)
    (got,) = selectors.recorded(wanted.action_id)
    assert got.id == row_id
    assert got.recorded_at.tzinfo is not None
    for name in vars(got).keys() & vars(wanted).keys():
        assert getattr(got, name) == getattr(wanted, name), name


def test_provider_ids_are_plain_in_the_payload_only() -> None:
    wanted = entry(resource_id="mail-1", target_id="label-1", artifacts=(DRAFT,))
    ledger.append(wanted)
    row = ExecutedAgentAction.objects.get(action_id=wanted.action_id)
    columns = " ".join(str(getattr(row, field.attname)) for field in row._meta.concrete_fields)
    assert "mail-1" not in columns
    assert "label-1" not in columns
    key = chain.tenant_key(settings.LEDGER_KEY, wanted.tenant_id)
    assert row.resource_key == chain.keyed(key, "mail-1")
    artifact = ActionArtifact.objects.get(row_id=row.id)
    assert artifact.external_id == chain.keyed(key, "draft-1")
    assert DRAFT.url not in artifact.url_key


def test_a_row_stays_when_the_transaction_around_it_rolls_back() -> None:
    wanted = entry()
    with transaction.atomic():
        User.objects.create(username="gone")
        ledger.append(wanted)
        transaction.set_rollback(True)
    assert not User.objects.filter(username="gone").exists()
    assert len(selectors.recorded(wanted.action_id)) == 1


def test_append_inside_a_transaction_of_the_ledger_is_refused() -> None:
    wanted = entry()
    with transaction.atomic(using="ledger"), pytest.raises(ledger.InsideTransaction):
        ledger.append(wanted)
    assert selectors.recorded(wanted.action_id) == ()


def test_the_second_record_of_a_phase_is_refused_and_the_first_one_counts() -> None:
    first = entry(phase="outcome", status="succeeded")
    ledger.append(first)
    with pytest.raises(ledger.AlreadyRecorded):
        ledger.append(replace(first, status="failed"))
    assert [row.status for row in selectors.recorded(first.action_id)] == ["succeeded"]


def test_several_control_rows_of_one_action_are_kept() -> None:
    remark = entry(phase="control", status="waiting")
    ledger.append(remark)
    ledger.append(replace(remark, status="denied"))
    assert [row.status for row in selectors.recorded(remark.action_id)] == ["waiting", "denied"]


def test_of_eight_racing_outcomes_exactly_one_is_recorded() -> None:
    outcome = entry(phase="outcome", status="succeeded")
    start = threading.Barrier(8)
    results: list[str] = []

    def race(number: int) -> None:
        start.wait()
        try:
            ledger.append(replace(outcome, actor_id=f"worker-{number}"))
            results.append("recorded")
        except ledger.AlreadyRecorded:
            results.append("refused")
        finally:
            connections.close_all()

    threads = [threading.Thread(target=race, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == ["recorded"] + ["refused"] * 7
    assert len(selectors.recorded(outcome.action_id)) == 1


def test_text_that_the_database_cannot_hold_does_not_lose_the_row() -> None:
    hostile = "a\x00b\ud800"
    wanted = entry(
        actor_id=hostile,
        resource_id=hostile,
        payload={hostile: [hostile, float("nan"), 2**80]},
        artifacts=(Artifact(kind="draft", provider="gmail", external_id=hostile, url=hostile),),
    )
    ledger.append(wanted)
    (row,) = selectors.recorded(wanted.action_id)
    shown = "a⟨U+0000⟩b⟨U+D800⟩"
    assert row.actor_id == row.resource_id == row.artifacts[0].external_id == shown
    assert row.payload == {shown: [shown, "nan", str(2**80)]}


def test_an_id_that_is_not_version_7_is_refused() -> None:
    with pytest.raises(ValueError, match="version 7"):
        ledger.append(entry(action_id=uuid4()))


def test_a_time_without_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="zone"):
        ledger.append(entry(occurred_at=datetime(2026, 1, 1)))  # noqa: DTZ001


@pytest.mark.parametrize(
    "wrong",
    [
        {"phase": "attempt", "status": "succeeded"},
        {"phase": "outcome", "status": "pending"},
        {"phase": "outcome", "status": "blocked"},
        {"phase": "afterthought", "status": "recorded"},
        {"phase": "control", "status": "done"},
        {"attempt_no": 0},
        {"actor_type": "stranger"},
        {"decision": "perhaps"},
        {"action_type": ""},
    ],
)
def test_the_database_refuses_what_is_no_entry(wrong: dict[str, Any]) -> None:
    wanted = entry(**wrong)
    with pytest.raises(IntegrityError, match='check constraint "audit_action_is_entry"'):
        ledger.append(wanted)
    assert selectors.recorded(wanted.action_id) == ()


def test_the_database_refuses_an_id_that_is_not_version_7() -> None:
    wanted = entry()
    ledger.append(wanted)
    another = str(wanted.action_id)[:14] + "8" + str(wanted.action_id)[15:]
    names = ", ".join(f'"{name}"' for name in SUPPLIED)
    other = names.replace('"action_id"', "%s::uuid", 1)
    with (
        pytest.raises(IntegrityError, match='check constraint "audit_action_is_entry"'),
        connections["ledger"].cursor() as cursor,
    ):
        cursor.execute(
            f"INSERT INTO audit_action ({names}) SELECT {other} FROM audit_action "
            "WHERE action_id = %s",
            [another, wanted.action_id],
        )


@pytest.mark.parametrize(
    ("phase", "status"),
    [
        ("attempt", "pending"),
        *(("outcome", one) for one in ("succeeded", "noop", "failed", "unknown")),
        ("blocked", "blocked"),
        *(("control", one) for one in ("waiting", "denied", "recorded")),
    ],
)
def test_the_database_takes_every_kind_of_entry(phase: str, status: str) -> None:
    wanted = entry(phase=phase, status=status)
    ledger.append(wanted)
    assert [row.status for row in selectors.recorded(wanted.action_id)] == [status]


def test_a_broken_connection_is_said_and_the_next_append_works() -> None:
    wanted = entry()
    ledger.append(entry())
    with connections["ledger"].cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (backend,) = cursor.fetchone()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [backend])
    with pytest.raises(ledger.LedgerUnavailable):
        ledger.append(wanted)
    ledger.append(wanted)
    assert len(selectors.recorded(wanted.action_id)) == 1


def test_an_append_is_one_transaction_and_nothing_beside_it() -> None:
    wanted = entry(artifacts=(DRAFT,))
    ledger.append(entry(tenant_id=wanted.tenant_id))  # the organisation's first makes its key
    statements: list[str] = []

    def note(execute, sql, params, many, context):  # type: ignore[no-untyped-def]
        statements.append(sql)
        return execute(sql, params, many, context)

    with connections["ledger"].execute_wrapper(note):
        ledger.append(wanted)
    assert statements == []
    with connections["ledger"].cursor() as cursor:
        cursor.execute(
            "SELECT count(*), count(DISTINCT xmin::text) FROM ("
            "SELECT xmin FROM audit_action WHERE action_id = %(id)s UNION ALL "
            "SELECT xmin FROM audit_payload WHERE action_id = %(id)s UNION ALL "
            "SELECT xmin FROM audit_artifact WHERE action_id = %(id)s) AS parts",
            {"id": wanted.action_id},
        )
        assert cursor.fetchone() == (3, 1)


def test_a_statement_that_the_server_forgot_is_prepared_again() -> None:
    with unpooled():  # the next test must not get a session that forgot
        ledger.append(entry())
        with connections["ledger"].cursor() as cursor:
            cursor.execute("DEALLOCATE ALL")
        wanted = entry()
        ledger.append(wanted)
        assert len(selectors.recorded(wanted.action_id)) == 1


def test_after_an_interrupt_the_next_append_has_a_connection_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(pgconn: object) -> None:
        raise KeyboardInterrupt

    ledger.append(entry())
    with monkeypatch.context() as patched:
        patched.setattr(prepared, "answer", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ledger.append(entry())
    wanted = entry()
    ledger.append(wanted)
    assert len(selectors.recorded(wanted.action_id)) == 1


def test_a_payload_larger_than_a_socket_takes_at_once_arrives_whole() -> None:
    wanted = entry(payload={"text": "x" * 8_000_000})
    ledger.append(wanted)
    (row,) = selectors.recorded(wanted.action_id)
    assert row.payload == wanted.payload


def test_an_unknown_action_has_no_rows() -> None:
    assert selectors.recorded(uuid7()) == ()
