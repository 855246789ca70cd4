"""Payloads are stored encrypted, open only for their own row, and are gone with their key."""

import json
from io import StringIO
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import connections
from hypothesis import given, strategies as st
from pytest_django.fixtures import Settings

from audit.contracts import Filters
from audit.formats import export
from audit.keeping import erasure
from audit.ledger import ledger, selectors, vault
from audit.ledger.ids import uuid7
from audit.ledger.vault import DataKeys, Place
from audit.models import LedgerPayload
from audit.verification.rows import Verification
from tests.audit import sealed
from tests.audit.bundle import files as bundles
from tests.audit.entries import append_action, entry
from tests.audit.tampering import tampered

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
DESTROY = "UPDATE audit_data_key SET wrapped = NULL WHERE tenant_id = '{}'"
SECRET = {"text": "what Maya wrote"}


@pytest.fixture(autouse=True)
def fresh_keys(monkeypatch: pytest.MonkeyPatch) -> DataKeys:
    keys = DataKeys()
    monkeypatch.setattr(vault, "keys", keys)
    return keys


def place(**changes: object) -> Place:
    values = {
        "tenant_id": UUID(int=1),
        "action_id": UUID(int=2),
        "attempt_no": 1,
        "phase": "attempt",
        "payload_commitment": "c" * 64,
    }
    return Place(**(values | changes))  # type: ignore[arg-type]


def test_nothing_of_a_payload_is_readable_in_the_database(tenant_id: UUID) -> None:
    action_id = append_action(tenant_id=tenant_id, payload=SECRET, resource_id="mail-7")
    stored = list(LedgerPayload.objects.filter(tenant_id=tenant_id))
    assert [(row.salt, row.body) for row in stored] == [(None, None)] * 2
    boxes = b"".join(bytes(row.box) for row in stored)
    assert b"Maya" not in boxes
    assert b"mail-7" not in boxes
    assert [row.payload for row in selectors.recorded(action_id)] == [SECRET] * 2


def test_what_the_database_itself_reads_is_in_the_clear(tenant_id: UUID) -> None:
    append_action(tenant_id=tenant_id)
    erasure.erase(erasure.Scope(tenant_id=tenant_id), reason="request 7", actor_id="olga")
    legal_hold_id = erasure.set_legal_hold(
        tenant_id=tenant_id, on_behalf_of="", reason="case 3", actor_id="olga"
    )
    stored = list(LedgerPayload.objects.filter(tenant_id=tenant_id).order_by("row_id"))
    assert [row.box for row in stored] == [None, None]
    assert [list(json.loads(row.body)["payload"]) for row in stored] == [
        ["reason", "rows"],
        ["reason"],
    ]
    assert [row.payload for row in selectors.recorded(legal_hold_id)] == [{"reason": "case 3"}]


@given(st.binary(min_size=16, max_size=16), st.text())
def test_what_goes_in_comes_out(salt: bytes, text: str) -> None:
    body = text.encode("utf-8", "replace")
    box = vault.encrypt(salt, body, place=place())
    assert vault.decrypt(box, place=place()) == (salt, body.decode())
    assert vault.encrypt(salt, body, place=place()) != box


@pytest.mark.parametrize(
    "changes",
    [
        {"tenant_id": UUID(int=9)},
        {"action_id": UUID(int=9)},
        {"attempt_no": 2},
        {"phase": "outcome"},
        {"payload_commitment": "d" * 64},
    ],
)
def test_a_payload_opens_for_its_own_row_alone(changes: dict[str, object]) -> None:
    box = vault.encrypt(bytes(16), b"{}", place=place())
    other = place(**changes)
    vault.keys.for_writing(other.tenant_id)
    with pytest.raises(vault.Unreadable, match="not the one that was stored"):
        vault.decrypt(box, place=other)


def test_each_organisation_has_a_key_of_its_own_and_keeps_it(tenant_id: UUID) -> None:
    other = uuid4()
    for one in (tenant_id, other, tenant_id):
        DataKeys().for_writing(one)
    assert (
        vault.load_wrapped(tenant_id) == vault.load_wrapped(tenant_id) != vault.load_wrapped(other)
    )


def test_a_key_wrapped_for_another_organisation_does_not_open(tenant_id: UUID) -> None:
    vault.keys.for_writing(tenant_id)
    wrapped = vault.load_wrapped(tenant_id)
    assert wrapped
    with pytest.raises(vault.WrongVaultKey, match="does not open"):
        vault.unwrap(uuid4(), wrapped)


def test_with_another_vault_key_nothing_is_read_and_nothing_is_appended(
    tenant_id: UUID, settings: Settings, fresh_keys: DataKeys
) -> None:
    action_id = append_action(tenant_id=tenant_id)
    settings.LEDGER_VAULT_KEY = "another one"
    fresh_keys.forget(tenant_id)
    with pytest.raises(vault.WrongVaultKey):
        selectors.recorded(action_id)
    with pytest.raises(ledger.LedgerUnavailable, match="LEDGER_VAULT_KEY"):
        append_action(tenant_id=tenant_id)
    settings.LEDGER_VAULT_KEY = ""
    assert len(selectors.recorded(action_id)) == 2


def test_a_process_without_a_key_makes_none(
    tenant_id: UUID, settings: Settings, fresh_keys: DataKeys
) -> None:
    settings.LEDGER_KEY = settings.LEDGER_VAULT_KEY = ""
    with pytest.raises(ledger.LedgerUnavailable, match="neither LEDGER_VAULT_KEY nor LEDGER_KEY"):
        append_action(tenant_id=tenant_id)
    assert vault.load_wrapped(tenant_id) is None


@pytest.mark.parametrize("command", ["export_ledger", "export_bundle"])
def test_with_another_vault_key_nothing_is_exported_and_no_file_is_left(
    tenant_id: UUID, settings: Settings, fresh_keys: DataKeys, tmp_path: Path, command: str
) -> None:
    append_action(tenant_id=tenant_id)
    sealed.seal(tenant_id)
    settings.LEDGER_VAULT_KEY = "another one"
    fresh_keys.forget(tenant_id)
    output = tmp_path / "november"
    with pytest.raises(CommandError, match=r"Set that one, .*\n(Nothing was|No bundle was)"):
        call_command(command, f"--tenant={tenant_id}", f"--output={output}")
    assert list(tmp_path.iterdir()) == []
    settings.LEDGER_VAULT_KEY = ""
    call_command(command, f"--tenant={tenant_id}", f"--output={output}", stdout=StringIO())
    assert output.stat().st_size > 0


def test_a_key_is_forgotten_after_its_time(tenant_id: UUID) -> None:
    now = [0.0]
    keys = DataKeys(seconds=60, clock=lambda: now[0])
    key = keys.for_writing(tenant_id)
    with tampered(DESTROY.format(tenant_id)):
        now[0] = 59
        assert keys.for_reading(tenant_id) is key
        now[0] = 60
        assert keys.for_reading(tenant_id) is None
        with pytest.raises(vault.KeyDestroyed, match="has ended"):
            keys.for_writing(tenant_id)


def test_no_more_keys_are_kept_than_there_is_room_for() -> None:
    keys = DataKeys(size=3)
    for number in range(10):
        keys.for_writing(UUID(int=number, version=4))
        assert len(keys.cached) <= 3


def test_a_worker_that_still_has_a_destroyed_key_appends_nothing(tenant_id: UUID) -> None:
    ledger.append(entry(tenant_id=tenant_id))
    late = entry(tenant_id=tenant_id)
    values = ledger.parameters(late)
    with tampered(DESTROY.format(tenant_id)), connections["ledger"].cursor() as cursor:
        cursor.execute(ledger.APPEND, values)
        assert cursor.fetchone() is None
        assert selectors.recorded(late.action_id) == ()


def test_contents_are_gone_with_the_key_and_verification_asks_why(
    tenant_id: UUID, fresh_keys: DataKeys
) -> None:
    action_id = append_action(tenant_id=tenant_id, payload=SECRET)
    with tampered(DESTROY.format(tenant_id)):
        fresh_keys.forget(tenant_id)
        assert [(row.payload, row.artifacts) for row in selectors.recorded(action_id)] == [
            ({}, ()),
            ({}, ()),
        ]
        found = [finding.sentence for finding in Verification(tenant_id=tenant_id)]
    sentence = "Its payload cannot be read: the data key is gone and no recorded end says why."
    assert found == [sentence] * 2
    fresh_keys.forget(tenant_id)
    assert list(Verification(tenant_id=tenant_id)) == []


def test_a_swapped_payload_is_never_read_as_the_rows_own(tenant_id: UUID) -> None:
    first = ledger.append(entry(tenant_id=tenant_id, payload=SECRET))
    wanted = entry(tenant_id=tenant_id)
    second = ledger.append(wanted)
    swap = (
        "UPDATE audit_payload p SET box = q.box FROM audit_payload q "
        "WHERE p.row_id = %s AND q.row_id = %s"
    )
    with tampered(swap, second, first), pytest.raises(vault.Unreadable):
        selectors.recorded(wanted.action_id)


def test_exports_and_bundles_hold_salt_and_body_as_before(tenant_id: UUID, tmp_path: Path) -> None:
    append_action(tenant_id=tenant_id, payload=SECRET)
    sealed.seal(tenant_id)
    data = bundles.make(tenant_id)
    assert bundles.check(tmp_path, data, sealed.key(tenant_id)) == 0
    (first, _) = bundles.lines(bundles.unpack(data), "payloads")
    assert first["body"]["payload"] == SECRET
    made = export.Export(
        filters=Filters(tenant_id=tenant_id), format="jsonl", actor_type="admin", actor_id=""
    )
    exported = json.loads(b"".join(made).splitlines()[0])
    assert (exported["salt"], exported["payload"]) == (first["salt"], SECRET)


def test_payloads_from_before_stay_readable(
    tenant_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(vault, "is_plain", lambda **_: True)
        before = append_action(tenant_id=tenant_id, payload=SECRET)
    after = append_action(tenant_id=tenant_id, payload=SECRET)
    for action_id in (before, after):
        assert [row.payload for row in selectors.recorded(action_id)] == [SECRET] * 2
    stored = LedgerPayload.objects.filter(tenant_id=tenant_id).order_by("row_id")
    assert [row.box is None for row in stored] == [True, True, False, False]
    assert list(Verification(tenant_id=tenant_id)) == []


def test_a_payload_has_one_form(tenant_id: UUID) -> None:
    with connections["ledger"].cursor() as cursor, pytest.raises(Exception, match="one_form"):
        cursor.execute(
            "INSERT INTO audit_payload (row_id, action_id, tenant_id, salt, body, box) "
            "VALUES (0, %s, %s, '', '', '')",
            [uuid7(), tenant_id],
        )
