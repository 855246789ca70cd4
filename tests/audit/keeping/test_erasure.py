"""What a row is about can be erased, the row and every proof stay."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import ProgrammingError, connections, transaction

from audit.bundle.extent import NothingSealed
from audit.contracts import Filters
from audit.keeping import erasure
from audit.keeping.erasure import Scope
from audit.ledger import events, ids, ledger, selectors
from audit.models import ActionArtifact, ExecutedAgentAction, LedgerPayload
from audit.verification.rows import Verification
from tests.audit import sealed
from tests.audit.bundle import files as bundles
from tests.audit.entries import append_action, entry
from tests.commands import run_command

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
WHY: dict[str, Any] = {"reason": "asked for by the person", "actor_id": "command:olga"}


def contents(tenant_id: UUID) -> int:
    """Payloads and artifacts that are there, those of redactions left out."""
    payloads = LedgerPayload.objects.filter(tenant_id=tenant_id).exclude(row__phase="redaction")
    return payloads.count() + ActionArtifact.objects.filter(tenant_id=tenant_id).count()


def findings(tenant_id: UUID) -> list[str]:
    return list(map(str, Verification(tenant_id=tenant_id)))


SCOPES: dict[str, Callable[[UUID, UUID], Scope]] = {
    "action": lambda tenant, action: Scope(tenant_id=tenant, action_id=action),
    "user": lambda tenant, action: Scope(tenant_id=tenant, on_behalf_of="maya"),
}


@pytest.mark.parametrize("scope", SCOPES)
def test_contents_of_the_scope_are_gone_and_only_these(scope: str, tenant_id: UUID) -> None:
    mayas = append_action(tenant_id=tenant_id, on_behalf_of="maya", payload={"text": "secret"})
    omars = append_action(tenant_id=tenant_id, on_behalf_of="omar")
    elsewhere = append_action(tenant_id=uuid4(), on_behalf_of="maya")
    before = [selectors.recorded(action) for action in (omars, elsewhere)]
    envelopes = list(ExecutedAgentAction.objects.filter(action_id=mayas).order_by("id").values())

    action_id, erased = erasure.erase(SCOPES[scope](tenant_id, mayas), **WHY)

    assert erased == 2
    assert all((row.payload, row.artifacts) == ({}, ()) for row in selectors.recorded(mayas))
    assert not ActionArtifact.objects.filter(action_id=mayas).exists()
    assert [selectors.recorded(action) for action in (omars, elsewhere)] == before
    after = list(ExecutedAgentAction.objects.filter(action_id=mayas).order_by("id").values())
    assert after == envelopes
    (said,) = selectors.recorded(action_id)
    assert (said.phase, said.action_type, said.actor_id) == (
        "redaction",
        "ledger.redaction",
        "command:olga",
    )
    assert said.payload == {
        "rows": [row.id for row in selectors.recorded(mayas)],
        "reason": "asked for by the person",
    }
    assert findings(tenant_id) == []


def test_a_whole_organisation_is_erased_in_batches_and_a_second_time_changes_nothing(
    tenant_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasure, "BATCH", 3)
    monkeypatch.setattr(erasure, "SAID_EVERY", 6)
    for _ in range(4):
        append_action(tenant_id=tenant_id)
    told: list[str] = []
    action_id, erased = erasure.erase(Scope(tenant_id=tenant_id), say=told.append, **WHY)
    assert told == ["6 rows' contents erased so far"]
    assert (erased, contents(tenant_id)) == (8, 0)
    assert [len(row.payload["rows"]) for row in selectors.recorded(action_id)] == [3, 3, 2]
    assert erasure.erase(Scope(tenant_id=tenant_id), **WHY)[1] == 0
    assert len(selectors.recorded(action_id)) == 3
    assert findings(tenant_id) == []


def test_no_more_is_erased_than_was_asked_for_and_calling_again_goes_on(
    tenant_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasure, "BATCH", 2)
    for _ in range(4):
        append_action(tenant_id=tenant_id)
    whole = Scope(tenant_id=tenant_id)
    assert [erasure.erase(whole, at_most=3, **WHY)[1] for _ in range(3)] == [4, 4, 0]
    assert contents(tenant_id) == 0


def test_what_is_appended_to_an_early_action_meanwhile_is_erased_too(
    tenant_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasure, "BATCH", 2)
    early = append_action(tenant_id=tenant_id, status="pending")
    for _ in range(3):
        append_action(tenant_id=tenant_id)
    late: list[Any] = [entry(tenant_id=tenant_id, action_id=early, phase="outcome", status="noop")]
    real = erasure.redact

    def redact(ids: list[int], **said: Any) -> None:
        real(ids, **said)
        if late:  # behind the first batch, of which its action was
            ledger.append(late.pop())

    monkeypatch.setattr(erasure, "redact", redact)
    assert erasure.erase(Scope(tenant_id=tenant_id), **WHY)[1] == 8
    assert contents(tenant_id) == 0
    assert findings(tenant_id) == []


def test_an_erasure_stands_in_the_list_and_hides_no_state(tenant_id: UUID) -> None:
    action_id = append_action(tenant_id=tenant_id)
    redaction, _ = erasure.erase(Scope(tenant_id=tenant_id), **WHY)
    page = selectors.actions(filters=Filters(tenant_id=tenant_id))
    assert [(row.action_id, row.status) for row in page.rows] == [
        (redaction, "recorded"),
        (action_id, "succeeded"),
    ]


def test_bundles_from_before_and_after_are_sound(
    tenant_id: UUID, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    append_action(tenant_id=tenant_id, payload={"text": "secret of maya"})
    kept = append_action(tenant_id=tenant_id)
    sealed.seal(tenant_id)
    before = bundles.make(tenant_id)
    kept_note = bundles.unpack(before)["checkpoint.note"].decode()
    scope = Scope(
        tenant_id=tenant_id,
        action_id=ExecutedAgentAction.objects.filter(tenant_id=tenant_id)
        .exclude(action_id=kept)
        .earliest("id")
        .action_id,
    )
    erasure.erase(scope, **WHY)
    with pytest.raises(NothingSealed):
        bundles.make(tenant_id)
    sealed.seal(tenant_id)
    after = bundles.make(tenant_id)

    assert bundles.check(tmp_path, before, sealed.key(tenant_id)) == 0
    assert bundles.check(tmp_path, after, sealed.key(tenant_id), kept_note) == 0
    assert b"secret of maya" in bundles.unpack(before)["payloads.jsonl"]
    assert b"secret of maya" not in bundles.unpack(after)["payloads.jsonl"]
    capsys.readouterr()


def test_a_bundle_of_an_earlier_period_takes_a_later_redaction_along(
    tenant_id: UUID, tmp_path: Path
) -> None:
    append_action(tenant_id=tenant_id)
    sealed.seal(tenant_id)
    until = ExecutedAgentAction.objects.filter(tenant_id=tenant_id).latest("id").recorded_at
    for _ in range(3):
        append_action(tenant_id=tenant_id, on_behalf_of="omar")
        sealed.seal(tenant_id)
    erasure.erase(Scope(tenant_id=tenant_id, on_behalf_of="omar"), **WHY)
    sealed.seal(tenant_id)
    assert bundles.check(tmp_path, bundles.make(tenant_id, until=until), sealed.key(tenant_id)) == 0


def test_a_bundle_that_hides_more_than_was_erased_is_found(
    tenant_id: UUID, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    erased = append_action(tenant_id=tenant_id)
    append_action(tenant_id=tenant_id)
    erasure.erase(Scope(tenant_id=tenant_id, action_id=erased), **WHY)
    sealed.seal(tenant_id)
    files = bundles.unpack(bundles.make(tenant_id))
    payloads = bundles.lines(files, "payloads")
    bundles.put(files, "payloads", payloads[1:])
    bundles.put(files, "artifacts", [])
    bundles.mend(files)
    assert bundles.check(tmp_path, bundles.pack(files), sealed.key(tenant_id)) == 1
    assert "Its payload is missing and no redaction says why" in capsys.readouterr().out


def test_a_bundle_whose_redaction_names_other_rows_is_found(
    tenant_id: UUID, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    append_action(tenant_id=tenant_id)
    erasure.erase(Scope(tenant_id=tenant_id), **WHY)
    sealed.seal(tenant_id)
    files = bundles.unpack(bundles.make(tenant_id))
    (payload,) = bundles.lines(files, "payloads")
    body = payload["body"]
    body["payload"]["rows"].append(1)
    bundles.put(files, "payloads", [payload | {"body": body}])
    bundles.mend(files)
    assert bundles.check(tmp_path, bundles.pack(files), sealed.key(tenant_id)) == 1
    assert "Its payload is not the one that was sealed" in capsys.readouterr().out


def redact_and_delete_more(table: str, tenant_id: UUID, rows: list[int]) -> None:
    erasure.redact(rows, tenant_id=tenant_id, action_id=ids.uuid7(), **WHY)
    with connections["ledger"].cursor() as cursor:
        cursor.execute(f"DELETE FROM {table} WHERE tenant_id = %s", [tenant_id])


@pytest.mark.parametrize("table", ["audit_payload", "audit_artifact"])
def test_nothing_is_deleted_without_the_row_that_says_so(table: str, tenant_id: UUID) -> None:
    """Not even by the owner of the tables, and not next to a redaction of other rows."""
    append_action(tenant_id=tenant_id)
    other = append_action(tenant_id=tenant_id)
    before = contents(tenant_id)
    with (
        pytest.raises(ProgrammingError, match="The ledger only inserts"),
        transaction.atomic(using="ledger"),
    ):
        redact_and_delete_more(table, tenant_id, [row.id for row in selectors.recorded(other)])
    assert contents(tenant_id) == before


def test_rows_of_another_organisation_are_not_erased_by_naming_them(tenant_id: UUID) -> None:
    other = uuid4()
    rows = [row.id for row in selectors.recorded(append_action(tenant_id=other))]
    with pytest.raises(Exception, match="Of 2 rows, 0 have a payload"):
        erasure.redact(rows, tenant_id=tenant_id, action_id=ids.uuid7(), **WHY)
    assert contents(other) == 3
    assert not ExecutedAgentAction.objects.filter(tenant_id=tenant_id).exists()


def test_the_record_of_an_erasure_cannot_be_erased(tenant_id: UUID) -> None:
    append_action(tenant_id=tenant_id)
    action_id, _ = erasure.erase(Scope(tenant_id=tenant_id), **WHY)
    (row,) = selectors.recorded(action_id)
    with pytest.raises(ProgrammingError, match="The ledger only inserts"):
        erasure.redact([row.id], tenant_id=tenant_id, action_id=ids.uuid7(), **WHY)
    assert selectors.recorded(action_id) == (row,)


@pytest.mark.parametrize("held", ["", "maya"])
def test_a_legal_hold_keeps_contents_until_it_is_released(held: str, tenant_id: UUID) -> None:
    append_action(tenant_id=tenant_id, on_behalf_of="maya")
    append_action(tenant_id=tenant_id, on_behalf_of="omar")
    legal_hold_id = erasure.set_legal_hold(tenant_id=tenant_id, on_behalf_of=held, **WHY)
    assert [found.action_id for found in erasure.list_legal_holds(tenant_id)] == [legal_hold_id]
    for scope in (Scope(tenant_id=tenant_id, on_behalf_of="maya"), Scope(tenant_id=tenant_id)):
        with pytest.raises(erasure.Held, match="A legal hold keeps row"):
            erasure.erase(scope, **WHY)
    assert contents(tenant_id) == 7  # and the legal hold's own
    if held:
        assert erasure.erase(Scope(tenant_id=tenant_id, on_behalf_of="omar"), **WHY)[1] == 2

    assert not erasure.release_legal_hold(legal_hold_id, tenant_id=uuid4(), **WHY)
    assert erasure.release_legal_hold(legal_hold_id, tenant_id=tenant_id, **WHY)
    assert not erasure.release_legal_hold(legal_hold_id, tenant_id=tenant_id, **WHY)
    assert erasure.erase(Scope(tenant_id=tenant_id), **WHY)[1] == (2 if held else 4)
    assert [row.payload for row in selectors.recorded(legal_hold_id)] == [
        {"reason": WHY["reason"]}
    ] * 2
    assert findings(tenant_id) == []


def run(name: str, tenant_id: UUID, *options: str) -> str:
    return run_command(name, f"--tenant={tenant_id}", *options)


def test_the_command_counts_first_and_erases_when_told(tenant_id: UUID) -> None:
    append_action(tenant_id=tenant_id, on_behalf_of="maya")
    options = ("--user=maya", "--reason=request 7")
    assert run("redact_ledger", tenant_id, *options).startswith("2 rows have contents to erase.")
    assert contents(tenant_id) == 3
    assert "The contents of 2 rows are erased" in run(
        "redact_ledger", tenant_id, *options, "--apply"
    )
    assert contents(tenant_id) == 0


def test_the_command_says_first_that_holds_keep_rows(tenant_id: UUID) -> None:
    append_action(tenant_id=tenant_id, on_behalf_of="maya")
    erasure.set_legal_hold(tenant_id=tenant_id, on_behalf_of="maya", **WHY)
    command = ("redact_ledger", f"--tenant={tenant_id}", "--user=maya", "--reason=x")
    said = run_command(*command)
    assert "Legal holds in force: 1. What they keep is not erased." in said
    with pytest.raises(CommandError, match="A legal hold keeps row"):
        call_command(*command, "--apply")


def test_the_command_says_that_its_role_may_not_erase(
    tenant_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    append_action(tenant_id=tenant_id)
    raising = "DO $$ BEGIN RAISE insufficient_privilege USING MESSAGE = 'permission denied'; END $$"
    monkeypatch.setattr(erasure, "REDACT", f"{raising} -- %s %s %s")
    monkeypatch.setattr(erasure, "build_redaction", lambda *_, **__: None)
    command = ("redact_ledger", f"--tenant={tenant_id}", "--everything", "--reason=x")
    with pytest.raises(CommandError, match="database role may not do that"):
        call_command(*command, "--apply")
    assert contents(tenant_id) == 3


def test_the_commands_set_list_obey_and_release_legal_holds(tenant_id: UUID) -> None:
    append_action(tenant_id=tenant_id, on_behalf_of="maya")
    with pytest.raises(CommandError, match="Say why"):
        run("hold_ledger", tenant_id, "--set")
    answer = run("hold_ledger", tenant_id, "--set", "--user=maya", "--reason=case 3")
    legal_hold_id = answer.split()[3]
    assert run("hold_ledger", tenant_id, "--list").startswith(
        f"{legal_hold_id} keeps the contents of user maya since "
    )
    with pytest.raises(CommandError, match=r"A legal hold keeps row .* hold_ledger --list"):
        run("redact_ledger", tenant_id, "--everything", "--reason=end", "--apply")
    assert contents(tenant_id) == 4
    assert "is released" in run(
        "hold_ledger", tenant_id, f"--release={legal_hold_id}", "--reason=over"
    )
    assert run("hold_ledger", tenant_id, "--list") == ""
    with pytest.raises(CommandError, match="no such legal hold in force"):
        run("hold_ledger", tenant_id, f"--release={legal_hold_id}", "--reason=over")


def test_a_legal_hold_that_is_set_while_contents_are_erased_comes_afterwards(
    tenant_id: UUID,
) -> None:
    """The erasure has looked for legal holds already, and is not committed yet."""
    append_action(tenant_id=tenant_id)
    rows = list(erasure.select_rows(Scope(tenant_id=tenant_id)).values_list("id", flat=True))

    def set_legal_hold() -> None:
        erasure.set_legal_hold(tenant_id=tenant_id, on_behalf_of="", **WHY)
        connections.close_all()

    holder = threading.Thread(target=set_legal_hold)
    with erasure.unless_held() as cursor:
        said = erasure.build_redaction(rows, tenant_id=tenant_id, action_id=ids.uuid7(), **WHY)
        cursor.execute(erasure.REDACT, said)
        holder.start()
        sealed.until(lambda: sealed.waits_for_legal_holds(tenant_id))
    holder.join()
    redaction = ExecutedAgentAction.objects.get(tenant_id=tenant_id, phase="redaction")
    (held,) = erasure.list_legal_holds(tenant_id)
    assert redaction.id < held.id


def test_an_erasure_waits_for_a_legal_hold_that_is_being_set_and_is_refused(
    tenant_id: UUID,
) -> None:
    append_action(tenant_id=tenant_id)
    refused: list[str] = []

    def erase() -> None:
        try:
            erasure.erase(Scope(tenant_id=tenant_id), **WHY)
        except erasure.Held as error:
            refused.append(str(error))
        finally:
            connections.close_all()

    eraser = threading.Thread(target=erase)
    with erasure.no_erasure_meanwhile(tenant_id):
        eraser.start()
        sealed.until(lambda: sealed.waits_for_legal_holds(tenant_id))
        events.record(
            erasure.LEGAL_HOLD, tenant_id=tenant_id, status="pending", payload={"reason": "case 3"}
        )
    eraser.join()
    assert len(refused) == 1
    assert contents(tenant_id) == 4
