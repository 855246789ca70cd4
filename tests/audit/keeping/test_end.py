"""An organisation's end: a bundle of everything, then its key is destroyed and nothing runs."""

import threading
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import ProgrammingError, connections, transaction
from django.utils import timezone

from audit.bundle.contents import Bundle
from audit.contracts import LEDGER_TENANT, Entry, Filters
from audit.keeping import end, erasure
from audit.ledger import ids, ledger, queries, selectors, vault
from audit.models import ActionArtifact, ExecutedAgentAction, LedgerPayload
from audit.verification import verify
from audit.verification.rows import Verification
from tests.audit import sealed
from tests.audit.bundle import files as bundles
from tests.audit.entries import append_action, entry
from tests.commands import run_command

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
WHY: dict[str, Any] = {"reason": "contract 7 ended", "actor_id": "command:olga"}


@pytest.fixture
def tenant_id() -> UUID:
    """An organisation with an action of two rows, decided by a policy, and 1 row open."""
    tenant_id = uuid4()
    digest = bundles.keep_policy(tenant_id, 1)
    append_action(tenant_id=tenant_id, payload={"text": "secret"}, policy_digest=digest)
    append_action(tenant_id=tenant_id, status="pending")
    sealed.seal(tenant_id)
    return tenant_id


def destroyed(tenant_id: UUID) -> bool:
    return vault.load_wrapped(tenant_id) is None


def contents(tenant_id: UUID) -> list[str]:
    kept = LedgerPayload.objects.filter(tenant_id=tenant_id).select_related("row")
    return [payload.row.action_type for payload in kept.order_by("row_id")]


def test_the_end_destroys_the_key_and_erases_every_row(tenant_id: UUID, tmp_path: Path) -> None:
    final = bundles.make(tenant_id)
    before = end.load_state(tenant_id)
    assert (before.rows, before.contents, before.open_attempts) == (5, 5, 1)
    assert before.refusals == []

    assert end.end(tenant_id, **WHY) == 5

    assert destroyed(tenant_id)
    assert contents(tenant_id) == ["ledger.end", "ledger.redaction"]
    assert not ActionArtifact.objects.filter(tenant_id=tenant_id).exists()
    said = ExecutedAgentAction.objects.get(tenant_id=tenant_id, action_type="ledger.end")
    (row,) = selectors.recorded(said.action_id)
    assert (row.actor_id, row.status) == ("command:olga", "succeeded")
    assert row.payload["reason"] == "contract 7 ended"
    assert row.payload["bundle"] == str(before.bundle)
    assert list(Verification(tenant_id=tenant_id)) == []
    assert bundles.check(tmp_path, final, sealed.key(tenant_id)) == 0


def about(tenant_id: UUID) -> list[tuple[str, str]]:
    """What the ledger's own organisation says was done with this one's ledger."""
    rows = ExecutedAgentAction.objects.filter(tenant_id=LEDGER_TENANT).order_by("id")
    said = [(row, selectors.body(row)) for row in queries.join_payload(rows)]
    name = str(tenant_id)
    return [
        (row.action_type, row.status)
        for row, content in said
        if content and content["payload"].get("organisation") == name
    ]


def test_its_last_rows_are_sealed_verified_and_delivered_like_the_others(
    tenant_id: UUID, tmp_path: Path
) -> None:
    bundles.make(tenant_id)
    end.end(tenant_id, **WHY)
    sealed.seal(tenant_id)
    assert [one.is_recorded for one in verify.verify([tenant_id])] == [True]
    assert about(tenant_id) == [("ledger.verification", "recorded")]
    shown = verify.find_last(tenant_id, now=timezone.now())
    assert shown.is_sound
    assert shown.sentence.endswith("ago: 7 records, as they were appended.")
    assert verify.find_last(uuid4(), now=timezone.now()).sentence == "It was never verified."

    whole = bundles.make(tenant_id)
    assert bundles.check(tmp_path, whole, sealed.key(tenant_id)) == 0
    assert about(tenant_id)[1:] == [("ledger.export", "pending"), ("ledger.export", "succeeded")]
    rows = ExecutedAgentAction.objects.filter(tenant_id=tenant_id).count()
    assert len(bundles.unpack(whole)["ledger.jsonl"].splitlines()) == rows
    assert bundles.unpack(whole)["policies.jsonl"] == b""


@pytest.mark.parametrize("until_end", [True, False])
def test_a_bundle_of_rows_before_the_end_brings_the_end_along(
    tenant_id: UUID, tmp_path: Path, capsys: pytest.CaptureFixture[str], until_end: bool
) -> None:
    before = ids.moment(ids.uuid7())
    append_action(tenant_id=tenant_id)
    sealed.seal(tenant_id)
    bundles.make(tenant_id)
    end.end(tenant_id, **WHY)
    sealed.seal(tenant_id)
    chosen: dict[str, Any] = {"until": before} if until_end else {"action_type": "archive"}
    data = bundles.make(tenant_id, **chosen)
    key = sealed.key(tenant_id)

    assert bundles.check(tmp_path, data, key) == 0
    assert "note    This ledger has ended: the policies that decided went with its key." in (
        capsys.readouterr().out
    )

    files = bundles.unpack(data)
    behind = bundles.lines(files, "redactions")
    kept = [one for one in behind if '"ledger.end"' not in one["line"]]
    assert len(kept) == len(behind) - 1
    bundles.put(files, "redactions", kept)
    bundles.mend(files)
    assert bundles.check(tmp_path, bundles.pack(files), key) == 1
    assert "The policy that decided it is missing or altered." in capsys.readouterr().out


def test_nothing_is_appended_afterwards(tenant_id: UUID) -> None:
    bundles.make(tenant_id)
    end.end(tenant_id, **WHY)
    statuses = {"attempt": "pending", "control": "waiting", "blocked": "blocked"}
    for phase, status in statuses.items():
        late = entry(tenant_id=tenant_id, phase=phase, status=status)
        for _ in range(2):
            with pytest.raises(ledger.Ended, match="has ended: its data key was destroyed"):
                ledger.append(late)
        assert selectors.recorded(late.action_id) == ()
    with pytest.raises(ledger.Ended):
        erasure.set_legal_hold(tenant_id=tenant_id, on_behalf_of="", **WHY)


def test_another_worker_that_has_the_key_appends_nothing_either(
    tenant_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundles.make(tenant_id)
    worker = vault.DataKeys()
    worker.for_writing(tenant_id)
    end.end(tenant_id, **WHY)
    monkeypatch.setattr(vault, "keys", worker)
    late = entry(tenant_id=tenant_id)
    with pytest.raises(ledger.Ended):
        ledger.append(late)
    assert selectors.recorded(late.action_id) == ()
    assert worker.for_reading(tenant_id) is None


def test_without_a_bundle_of_every_row_it_is_refused(tenant_id: UUID) -> None:
    with pytest.raises(end.CannotEnd, match="No bundle holds all of its rows"):
        end.end(tenant_id, **WHY)
    bundles.make(tenant_id)
    append_action(tenant_id=tenant_id)
    with pytest.raises(end.CannotEnd, match="No bundle holds all of its rows"):
        end.end(tenant_id, **WHY)
    sealed.seal(tenant_id)
    just_now = ids.moment(ids.uuid7()) + timedelta(milliseconds=1)  # after the seal, not in it
    bundles.make(tenant_id, since=just_now)
    assert end.load_state(tenant_id).bundle is None
    assert not destroyed(tenant_id)
    assert len(contents(tenant_id)) == 9


def test_a_bundle_that_was_not_read_to_its_end_does_not_count(tenant_id: UUID) -> None:
    chunks = iter(
        Bundle(filters=Filters(tenant_id=tenant_id), actor_type="admin", actor_id="operator:olga")
    )
    next(chunks)
    chunks.close()
    assert end.load_state(tenant_id).bundle is None


def test_a_bundle_of_filters_does_not_count(tenant_id: UUID) -> None:
    bundles.make(tenant_id, action_type="archive")
    assert end.load_state(tenant_id).bundle is None


def test_a_legal_hold_that_is_set_while_it_ends_is_refused(tenant_id: UUID) -> None:
    """The end has looked for legal holds already, and is not committed yet."""
    bundles.make(tenant_id)
    refused: list[type[Exception]] = []

    def set_legal_hold() -> None:
        try:
            erasure.set_legal_hold(tenant_id=tenant_id, on_behalf_of="", **WHY)
        except ledger.Ended as error:
            refused.append(type(error))
        finally:
            connections.close_all()

    holder = threading.Thread(target=set_legal_hold)
    with erasure.unless_held() as cursor:
        cursor.execute(end.END, ledger.in_the_clear(end_row(tenant_id)))
        holder.start()
        sealed.until(lambda: sealed.waits_for_legal_holds(tenant_id))
    holder.join()
    assert refused == [ledger.Ended]
    assert erasure.list_legal_holds(tenant_id) == []


@pytest.mark.parametrize("held", ["", "maya"])
def test_a_legal_hold_keeps_the_key(tenant_id: UUID, held: str) -> None:
    erasure.set_legal_hold(tenant_id=tenant_id, on_behalf_of=held, **WHY)
    sealed.seal(tenant_id)
    bundles.make(tenant_id)
    with pytest.raises(end.CannotEnd, match="Legal holds in force: 1"):
        end.end(tenant_id, **WHY)
    found = end.load_state(tenant_id)
    with pytest.raises(erasure.Held, match="A legal hold keeps the data key"):
        end.destroy_key(found, **WHY)
    assert not destroyed(tenant_id)
    assert not end.has_ended(tenant_id)


def test_after_a_crash_in_between_calling_again_erases_the_rest(
    tenant_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundles.make(tenant_id)
    with monkeypatch.context() as patched:
        patched.setattr(erasure, "erase", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            end.end(tenant_id, **WHY)
    assert destroyed(tenant_id)
    action = ExecutedAgentAction.objects.filter(tenant_id=tenant_id).earliest("id").action_id
    assert [row.payload for row in selectors.recorded(action)] == [{}, {}]
    assert list(Verification(tenant_id=tenant_id)) == []  # the recorded end says why
    assert end.end(tenant_id, **WHY) == 5
    assert contents(tenant_id) == ["ledger.end", "ledger.redaction"]


def end_row(tenant_id: UUID, **changes: object) -> Entry:
    values = {"phase": "control", "status": "succeeded", "action_type": "ledger.end"} | changes
    return entry(tenant_id=tenant_id, **values)


def end_and(statement: str, tenant_id: UUID, *, other: UUID) -> None:
    with transaction.atomic(using="ledger"), connections["ledger"].cursor() as cursor:
        cursor.execute(end.END, ledger.in_the_clear(end_row(other)))
        cursor.execute(statement, [tenant_id])


def test_the_database_destroys_no_key_without_the_row_that_says_so(tenant_id: UUID) -> None:
    other = uuid4()
    ledger.append(entry(tenant_id=other))
    ledger.append(end_row(tenant_id))  # of another transaction
    for statement in (
        "UPDATE audit_data_key SET wrapped = NULL WHERE tenant_id = %s",
        "DELETE FROM audit_data_key WHERE tenant_id = %s",
        "UPDATE audit_data_key SET wrapped = substr(wrapped || wrapped, 2, 40) "
        "WHERE tenant_id = %s",
    ):
        with (
            pytest.raises(ProgrammingError, match="The ledger only inserts"),
            connections["ledger"].cursor() as cursor,
        ):
            cursor.execute(statement, [tenant_id])
        with pytest.raises(ProgrammingError, match="The ledger only inserts"):
            end_and(statement, tenant_id, other=other)
        assert not destroyed(tenant_id)
        assert not destroyed(other)


def test_no_other_row_destroys_a_key(tenant_id: UUID) -> None:
    ledger.append(entry(tenant_id=LEDGER_TENANT))
    for row in (
        end_row(LEDGER_TENANT),
        end_row(tenant_id, action_type="ledger.hold"),
        end_row(tenant_id, status="recorded"),
    ):
        with connections["ledger"].cursor() as cursor, pytest.raises(ProgrammingError):
            cursor.execute(end.END, ledger.in_the_clear(row))
        assert not destroyed(row.tenant_id)
        assert selectors.recorded(row.action_id) == ()


def test_what_records_the_end_cannot_be_erased(tenant_id: UUID) -> None:
    bundles.make(tenant_id)
    end.end(tenant_id, **WHY)
    row = ExecutedAgentAction.objects.get(tenant_id=tenant_id, action_type="ledger.end")
    with pytest.raises(ProgrammingError, match="The ledger only inserts"):
        erasure.redact([row.id], tenant_id=tenant_id, action_id=ids.uuid7(), **WHY)


def test_one_organisations_end_leaves_the_others_alone(tenant_id: UUID) -> None:
    other = uuid4()
    kept = append_action(tenant_id=other, payload={"text": "kept"})
    bundles.make(tenant_id)
    end.end(tenant_id, **WHY)
    assert [row.payload for row in selectors.recorded(kept)] == [{"text": "kept"}] * 2
    append_action(tenant_id=other)


def run(tenant_id: UUID, *options: str) -> str:
    return run_command("end_ledger", f"--tenant={tenant_id}", "--reason=over", *options)


def test_the_command_says_first_and_ends_when_the_id_is_typed(tenant_id: UUID) -> None:
    said = run(tenant_id)
    assert "No bundle holds all of its rows." in said
    assert said.endswith("Nothing was changed: add --confirm with the organisation's id.\n")
    bundles.make(tenant_id)
    assert run(tenant_id).startswith("5 rows, 5 with contents to erase. The bundle ")
    with pytest.raises(CommandError, match="is not the organisation's id"):
        run(tenant_id, f"--confirm={uuid4()}")
    assert not destroyed(tenant_id)
    assert "has ended: 5 rows' contents erased." in run(tenant_id, f"--confirm={tenant_id}")
    assert run(tenant_id).startswith("It has ended already.")


def test_the_command_says_how_far_it_is(tenant_id: UUID, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasure, "BATCH", 1)
    monkeypatch.setattr(erasure, "SAID_EVERY", 2)
    bundles.make(tenant_id)
    told = StringIO()
    call_command(
        *("end_ledger", f"--tenant={tenant_id}", "--reason=over", f"--confirm={tenant_id}"),
        stdout=StringIO(),
        stderr=told,
    )
    assert told.getvalue().splitlines() == [
        "The data key is destroyed: nobody can read the contents any more.",
        "2 rows' contents erased so far",
        "4 rows' contents erased so far",
    ]


def test_the_command_refuses_under_a_legal_hold_and_for_a_stranger(tenant_id: UUID) -> None:
    erasure.set_legal_hold(tenant_id=tenant_id, on_behalf_of="", **WHY)
    with pytest.raises(CommandError, match=r"Legal holds in force: 1\. .* Nothing was changed"):
        run(tenant_id, f"--confirm={tenant_id}")
    other = uuid4()
    with pytest.raises(CommandError, match="knows no such organisation"):
        run(other, f"--confirm={other}")
