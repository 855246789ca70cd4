"""A new vault key: data keys are wrapped anew, contents stay, and each change is recorded."""

from collections.abc import Iterator
from unittest import mock
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connections
from pytest_django.fixtures import Settings

from audit.keeping import rewrapping
from audit.ledger import ledger, selectors, vault
from audit.ledger.vault import DataKeys
from audit.verification.rows import Verification
from tests.audit.entries import append_action, entry

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
SECRET = {"text": "what Maya wrote"}


@pytest.fixture(autouse=True)
def fresh_keys() -> Iterator[DataKeys]:
    with mock.patch.object(vault, "keys", DataKeys()) as keys:
        yield keys
        # What the test changed is as it was; no process starts while the newest key won't open.
        append_action(tenant_id=uuid4())


def new_key(settings: Settings, keys: DataKeys, tenant_id: UUID) -> None:
    settings.LEDGER_VAULT_KEY, settings.LEDGER_VAULT_KEY_BEFORE = "new", settings.LEDGER_KEY
    keys.forget(tenant_id)


def wrapped(tenant_id: UUID) -> bytes:
    return vault.load_wrapped(tenant_id) or b""


def test_while_both_keys_are_set_everything_is_read_and_appended(
    tenant_id: UUID, settings: Settings, fresh_keys: DataKeys
) -> None:
    action_id, other = append_action(tenant_id=tenant_id, payload=SECRET), uuid4()
    new_key(settings, fresh_keys, tenant_id)
    append_action(tenant_id=tenant_id)
    append_action(tenant_id=other)
    assert [row.payload for row in selectors.recorded(action_id)] == [SECRET] * 2
    waiting = [one for one, _ in rewrapping.waiting()]
    assert tenant_id in waiting
    assert other not in waiting


def test_a_key_that_was_wrapped_anew_needs_the_new_vault_key_alone(
    tenant_id: UUID, settings: Settings, fresh_keys: DataKeys
) -> None:
    action_id = append_action(tenant_id=tenant_id, payload=SECRET)
    before = wrapped(tenant_id)
    new_key(settings, fresh_keys, tenant_id)
    rewrapping.rewrap(tenant_id, before, actor_id="command:olga")
    assert tenant_id not in [one for one, _ in rewrapping.waiting()]

    settings.LEDGER_VAULT_KEY_BEFORE = ""
    fresh_keys.forget(tenant_id)
    assert wrapped(tenant_id) != before
    assert [row.payload for row in selectors.recorded(action_id)] == [SECRET] * 2
    (said,) = selectors.about_ledger(tenant_id, rewrapping.ACTION_TYPE)
    assert (said.status, said.actor_id, said.payload) == ("succeeded", "command:olga", {})
    assert list(Verification(tenant_id=tenant_id)) == []

    settings.LEDGER_VAULT_KEY = ""
    fresh_keys.forget(tenant_id)
    with pytest.raises(vault.WrongVaultKey, match="LEDGER_VAULT_KEY_BEFORE"):
        selectors.recorded(action_id)


def test_a_key_that_was_changed_meanwhile_stays_and_nothing_is_recorded(
    tenant_id: UUID, settings: Settings, fresh_keys: DataKeys
) -> None:
    append_action(tenant_id=tenant_id)
    first = wrapped(tenant_id)
    new_key(settings, fresh_keys, tenant_id)
    rewrapping.rewrap(tenant_id, first, actor_id="command:olga")
    second = wrapped(tenant_id)
    with pytest.raises(DatabaseError, match="changed or destroyed meanwhile"):
        rewrapping.rewrap(tenant_id, first, actor_id="command:olga")
    assert wrapped(tenant_id) == second
    assert len(selectors.about_ledger(tenant_id, rewrapping.ACTION_TYPE)) == 1


def test_a_key_that_would_not_open_again_is_not_stored(
    tenant_id: UUID, settings: Settings, fresh_keys: DataKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    append_action(tenant_id=tenant_id)
    before = wrapped(tenant_id)
    new_key(settings, fresh_keys, tenant_id)
    with monkeypatch.context() as patched:
        patched.setattr(vault, "wrap", lambda *_: bytes(40))
        with pytest.raises(vault.WrongVaultKey):
            rewrapping.rewrap(tenant_id, before, actor_id="command:olga")
    assert wrapped(tenant_id) == before
    assert selectors.about_ledger(tenant_id, rewrapping.ACTION_TYPE) == ()


@pytest.mark.parametrize("action_type", ["ledger.end", "ledger.hold", "archive"])
def test_no_other_row_wraps_a_key_anew(tenant_id: UUID, action_type: str) -> None:
    append_action(tenant_id=tenant_id)
    before = wrapped(tenant_id)
    said = entry(
        tenant_id=tenant_id, phase="control", status="succeeded", action_type="ledger.rewrap"
    )
    row, salt, body = ledger.in_the_clear(said)
    row = row.replace("ledger.rewrap", action_type)
    refused = pytest.raises(DatabaseError, match="Only a row that says so wraps")
    with refused, connections["ledger"].cursor() as cursor:
        cursor.execute(rewrapping.REWRAP, [row, salt, body, before, bytes(40)])
    assert wrapped(tenant_id) == before
    assert selectors.recorded(said.action_id) == ()


def test_a_key_is_not_changed_without_a_row(tenant_id: UUID) -> None:
    append_action(tenant_id=tenant_id)
    before = wrapped(tenant_id)
    with (
        pytest.raises(DatabaseError, match="The ledger only inserts"),
        connections["ledger"].cursor() as cursor,
    ):
        cursor.execute(
            "UPDATE audit_data_key SET wrapped = %s WHERE tenant_id = %s", [bytes(40), tenant_id]
        )
    assert wrapped(tenant_id) == before


def test_the_command_says_what_it_would_do_and_then_does_it(
    tenant_id: UUID,
    settings: Settings,
    fresh_keys: DataKeys,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    append_action(tenant_id=tenant_id)
    before, waiting = wrapped(tenant_id), rewrapping.waiting
    monkeypatch.setattr(
        rewrapping, "waiting", lambda: [one for one in waiting() if one[0] == tenant_id]
    )
    new_key(settings, fresh_keys, tenant_id)
    call_command("rewrap_data_keys")
    assert capsys.readouterr().out == (
        "1 data keys are wrapped under the old key.\nNothing was changed: add --apply.\n"
    )
    assert wrapped(tenant_id) == before
    call_command("rewrap_data_keys", "--apply")
    assert "Wrapped anew: 1." in capsys.readouterr().out
    assert vault.unwrap_raw(tenant_id, wrapped(tenant_id))[1]
    call_command("rewrap_data_keys", "--apply")
    assert "Wrapped anew: 0." in capsys.readouterr().out


def test_the_command_stops_at_a_key_that_neither_opens(tenant_id: UUID, settings: Settings) -> None:
    append_action(tenant_id=tenant_id)
    settings.LEDGER_VAULT_KEY, settings.LEDGER_VAULT_KEY_BEFORE = "new", "not the one before"
    with pytest.raises(CommandError, match="does not open"):
        call_command("rewrap_data_keys", "--apply")
    assert selectors.about_ledger(tenant_id, rewrapping.ACTION_TYPE) == ()
